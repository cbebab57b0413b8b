use std::collections::BTreeMap;
use std::ops::Range;

use super::claimed::reconsider;
use super::document::{Answer, answer};
use super::facts::LogFacts;
use super::locate::{Locator, Scene};
use super::log::Log;
use super::reported::add_reports;
use crate::junit::Report;
use crate::model::Diagnosis;
use crate::policy::{Redactor, sanitize_log};

// Lines around one that are looked at to know what is secret in it: a private key has fewer.
const NEAR: usize = 64;
// A log up to this size is looked at whole.
const SMALL: usize = 1 << 20;
// A secret at least this long is masked wherever it turns up, a shorter one in its own line.
const UNMISTAKABLE: usize = 8;

/// Diagnoses a log as it is with the reports of its tests, and masks in the answer what must not be
/// shown. Inside a repository its files have the last word on what is missing.
#[must_use]
pub fn diagnose_masked(
    log: &Log,
    facts: &LogFacts,
    scene: Scene<'_>,
    reports: &[Report],
    redactor: &Redactor,
) -> Diagnosis {
    let mut found = answer(log.view(), facts, Locator::at(scene));
    add_reports(&mut found, reports, facts, scene);
    let secrets = Secrets::near(&found, log.text(), redactor);
    mask(&mut found, &secrets, redactor);
    // What it adds is of the repository and of no line.
    if let Some(source) = scene.source {
        reconsider(&mut found.diagnosis, source);
    }
    found.diagnosis
}

// What is secret around the lines that an answer was taken from.
#[derive(Default)]
struct Secrets {
    // By the index of the line.
    of_line: BTreeMap<usize, Vec<(String, String)>>,
    // Everywhere.
    long: Vec<(String, String)>,
}

impl Secrets {
    fn near(found: &Answer, text: &str, redactor: &Redactor) -> Self {
        let mut secrets = Self::default();
        let starts: Vec<usize> = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
            .collect();
        let all = [
            &found.evidence,
            &found.files,
            &found.names,
            &found.modules,
            &found.exports,
            &found.tests,
        ];
        for near in neighbourhoods(all.into_iter().flatten().copied(), starts.len(), text) {
            let from = starts.get(near.start).copied().unwrap_or_default();
            let to = starts.get(near.end).copied().unwrap_or(text.len());
            let plain = sanitize_log(text.get(from..to).unwrap_or_default().as_bytes());
            for secret in redactor.redact(&plain).findings {
                let Some(value) = plain.get(secret.start..secret.end) else {
                    continue;
                };
                let row = (
                    value.trim().to_owned(),
                    format!("[REDACTED:{}]", secret.rule),
                );
                if row.0.len() >= UNMISTAKABLE {
                    secrets.long.push(row.clone());
                }
                let line = near.start + secret.line as usize - 1;
                secrets.of_line.entry(line).or_default().push(row);
            }
        }
        secrets
            .long
            .sort_by_key(|row| std::cmp::Reverse(row.0.len()));
        secrets.long.dedup();
        secrets
    }

    fn mask(&self, at: usize, text: &mut String) {
        let own = self.of_line.get(&at).into_iter().flatten();
        for (value, masked) in self.long.iter().chain(own) {
            if !value.is_empty() && text.contains(value.as_str()) {
                *text = text.replace(value.as_str(), masked);
            }
        }
    }
}

// Stretches of lines around the given ones, without overlap; of a small log all of it.
fn neighbourhoods(
    told: impl Iterator<Item = usize>,
    lines: usize,
    text: &str,
) -> Vec<Range<usize>> {
    if text.len() <= SMALL {
        return std::iter::once(0..lines).collect();
    }
    // A test that only a report names is on no line.
    let mut told: Vec<usize> = told.filter(|at| *at < lines).collect();
    told.sort_unstable();
    let mut near: Vec<Range<usize>> = Vec::new();
    for at in told {
        let range = at.saturating_sub(NEAR)..(at + NEAR + 1).min(lines);
        match near.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => near.push(range),
        }
    }
    near
}

fn mask(found: &mut Answer, secrets: &Secrets, redactor: &Redactor) {
    let diagnosis = &mut found.diagnosis;
    let before: Vec<String> = diagnosis.files.iter().map(|it| it.path.clone()).collect();
    let mut texts: Vec<(Option<usize>, &mut String)> = Vec::new();
    let rows = diagnosis.evidence.iter_mut().map(|it| &mut it.text);
    texts.extend(found.evidence.iter().copied().map(Some).zip(rows));
    let rows = diagnosis.files.iter_mut().map(|it| &mut it.path);
    texts.extend(found.files.iter().copied().map(Some).zip(rows));
    for (at, names) in [
        (&found.names, &mut diagnosis.undefined_names),
        (&found.modules, &mut diagnosis.missing_modules),
        (&found.exports, &mut diagnosis.missing_exports),
        (&found.tests, &mut diagnosis.failing_tests),
    ] {
        texts.extend(at.iter().copied().map(Some).zip(names.iter_mut()));
    }
    let paths = diagnosis
        .failures
        .iter_mut()
        .filter_map(|it| it.path.as_mut());
    texts.extend(paths.map(|path| (None, path)));
    for (at, test) in found.tests.iter().zip(&mut diagnosis.tests) {
        texts.push((Some(*at), &mut test.id));
        let more = [&mut test.path, &mut test.crash_path, &mut test.message];
        texts.extend(more.into_iter().flatten().map(|text| (Some(*at), text)));
    }
    for (at, text) in &mut texts {
        if let Some(at) = at {
            secrets.mask(*at, text);
        }
    }
    // Each by itself too: what was put together from a line may read as another secret.
    let apart: Vec<String> = texts
        .iter()
        .map(|(_, text)| text.replace(['\n', '\r'], " "))
        .collect();
    let joined = apart.join("\n\n");
    let masked = redactor.redact(&joined);
    if !masked.findings.is_empty() {
        for ((_, text), masked) in texts.iter_mut().zip(masked.text.split("\n\n")) {
            masked.clone_into(text);
        }
    }
    for (file, before) in diagnosis.files.iter_mut().zip(before) {
        file.in_repository &= file.path == before;
    }
}

#[cfg(test)]
mod tests {
    use super::diagnose_masked;
    use crate::diagnose::{Log, LogFacts, Scene};
    use crate::junit::read_report;
    use crate::model::{Diagnosis, FailureKind};
    use crate::policy::Redactor;

    const TOKEN: &str = concat!("gh", "p_", "0123456789abcdefghijABCDEFGHIJ012345");

    fn of(log: &str) -> Diagnosis {
        let redactor = Redactor::new([("DB_PASSWORD".to_owned(), "correct-horse-7".to_owned())]);
        let log = Log::from(log.to_owned());
        diagnose_masked(&log, &LogFacts::default(), Scene::default(), &[], &redactor)
    }

    #[test]
    fn an_answer_holds_no_secret_wherever_it_took_it_from() {
        for line in [
            format!("ValueError: no such token {TOKEN}"),
            format!("FAILED tests/a.py::test_x[{TOKEN}] - assert 1 == 2"),
            format!("ModuleNotFoundError: No module named '{TOKEN}'"),
            format!("NameError: name '{TOKEN}' is not defined"),
            format!("fatal: unable to access 'https://x:{TOKEN}@git.corp.example/a.py': 403"),
            format!("  File \"/srv/{TOKEN}/a.py\", line 3, in f\nValueError: x"),
            "Error: password: Summer2026! was refused by correct-horse-7".to_owned(),
            format!(
                "\u{1b}[31mValueError: {}\u{1b}[1m{}",
                &TOKEN[..20],
                &TOKEN[20..]
            ),
        ] {
            // A small log is looked at whole, a large one around what is shown.
            for filler in [0, 40_000] {
                let filler = "nothing to see on this line, it only takes up room\n".repeat(filler);
                let shown = format!("{:?}", of(&format!("{filler}{line}\n")));
                for secret in [TOKEN, "Summer2026!", "correct-horse-7"] {
                    assert!(!shown.contains(secret), "{line}: {shown}");
                }
            }
        }
    }

    #[test]
    fn a_test_that_only_a_report_names_is_on_no_line() {
        let report = "<testsuite name=\"a\"><testcase classname=\"a.B\" name=\"test_c\">\
                      <failure message=\"1 != 2\">x</failure></testcase></testsuite>";
        let log = "nothing to see on this line, it only takes up room\n".repeat(40_000);
        let log = Log::from(format!("{log}FAILED a.py::test_d - assert 1 == 2\n"));
        let redactor = Redactor::default();
        let reports = [read_report(report)];
        let facts = LogFacts::default();
        let found = diagnose_masked(&log, &facts, Scene::default(), &reports, &redactor);
        assert!(found.failing_tests.iter().any(|it| it.contains("test_c")));
    }

    #[test]
    fn what_a_terminal_does_to_a_line_hides_no_step() {
        let log = format!(
            "travis_time:start:01\r$ a\nTOKEN={TOKEN}\nError: no\ntravis_time:end:01:start=1\r\
             The command \"a\" exited with 0.\ntravis_time:start:02\r$ b\nTypeError: x is not a function\n\
             travis_time:end:02:start=1\r\nThe command \"b\" exited with 1.\n\nDone. Your build exited with 1.\n"
        );
        let found = of(&log);
        assert_eq!(found.kind, FailureKind::RuntimeError);
        assert_eq!(found.evidence[0].line, 6);
    }
}
