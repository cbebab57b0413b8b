//! Diagnoses a log and masks the answer.

use super::document::build_answer;
use super::locate::{Locator, Scene};
use super::log::{Log, LogFacts};
use super::refute::refute;
use super::reported::add_reports;
use crate::junit::Report;
use crate::model::Diagnosis;
use crate::policy::{Redactor, sanitize_log};

/// Diagnoses a log as it is with the reports of its tests, and masks in the answer what must not be
/// shown. Inside a repository its files have the last word on what is missing.
pub fn diagnose_masked(
    log: &Log,
    facts: &LogFacts,
    scene: Scene<'_>,
    reports: &[Report],
    redactor: &Redactor,
) -> Diagnosis {
    let found = build_answer(log.view(), facts, Locator::at(scene));
    let mut diagnosis = found.diagnosis;
    add_reports(&mut diagnosis, reports, facts, scene);
    mask_diagnosis(&mut diagnosis, &found.evidence, log.text(), redactor);
    // After masking, because what it adds comes from the repository and not from the log.
    if let Some(source) = scene.source {
        refute(&mut diagnosis, source);
    }
    diagnosis
}

// What is secret by what is around it in the log, then what each text says by itself: what was put
// together from a line may read as another secret.
fn mask_diagnosis(diagnosis: &mut Diagnosis, evidence: &[usize], log: &str, redactor: &Redactor) {
    let plain = sanitize_log(log.as_bytes());
    let mut secrets: Vec<(usize, &str, String)> = Vec::new();
    for secret in redactor.redact(&plain).findings {
        let value = plain.get(secret.start..secret.end).unwrap_or_default();
        let masked = format!("[REDACTED:{}]", secret.rule);
        secrets.push((secret.line as usize - 1, value.trim(), masked));
    }
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.1.len()));
    secrets.dedup();
    let mut texts: Vec<(Option<usize>, &mut String)> = Vec::new();
    let rows = diagnosis.evidence.iter_mut().map(|row| &mut row.text);
    texts.extend(evidence.iter().copied().map(Some).zip(rows));
    let paths = diagnosis.files.iter_mut().map(|file| &mut file.path);
    let names = [
        &mut diagnosis.undefined_names, &mut diagnosis.missing_modules,
        &mut diagnosis.missing_exports, &mut diagnosis.failing_tests,
    ];
    let names = names.into_iter().flatten();
    let failures = diagnosis.failures.iter_mut().filter_map(|failure| failure.path.as_mut());
    let tests = diagnosis.tests.iter_mut().flat_map(|test| {
        let more = [&mut test.path, &mut test.crash_path, &mut test.message];
        more.into_iter().flatten().chain([&mut test.id])
    });
    let fix = [&mut diagnosis.suggested_fix];
    let others = paths.chain(names).chain(failures).chain(tests).chain(fix);
    texts.extend(others.map(|text| (None, text)));
    for (line, text) in &mut texts {
        for (at, value, masked) in &secrets {
            // A secret at least this long is masked wherever it turns up, a shorter one in its own line.
            let meant = value.len() >= 8 || *line == Some(*at) && !value.is_empty();
            if meant && text.contains(value) {
                **text = text.replace(value, masked);
            }
        }
    }
    let apart = texts.iter().map(|(_, text)| text.replace(['\n', '\r'], " "));
    let joined = apart.collect::<Vec<String>>().join("\n\n");
    let masked = redactor.redact(&joined);
    if !masked.findings.is_empty() {
        for ((_, text), masked) in texts.iter_mut().zip(masked.text.split("\n\n")) {
            masked.clone_into(text);
        }
    }
    for file in &mut diagnosis.files {
        file.in_repository &= !file.path.contains("[REDACTED:");
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

    fn diagnosis_of(log: &str) -> Diagnosis {
        let redactor = Redactor::new([("DB_PASSWORD".to_owned(), "correct-horse-7".to_owned())]);
        let log = Log::from(log.to_owned());
        diagnose_masked(&log, &LogFacts::default(), Scene::default(), &[], &redactor)
    }

    #[test]
    fn masks_secrets_in_diagnosis() {
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
                let shown = format!("{:?}", diagnosis_of(&format!("{filler}{line}\n")));
                for secret in [TOKEN, "Summer2026!", "correct-horse-7"] {
                    assert!(!shown.contains(secret), "{line}: {shown}");
                }
            }
        }
    }

    #[test]
    fn report_only_test_has_no_line() {
        let report = "<testsuite name=\"a\"><testcase classname=\"a.B\" name=\"test_c\">\
                      <failure message=\"1 != 2\">x</failure></testcase></testsuite>";
        let log = "nothing to see on this line, it only takes up room\n".repeat(40_000);
        let log = Log::from(format!("{log}FAILED a.py::test_d - assert 1 == 2\n"));
        let redactor = Redactor::default();
        let reports = [read_report(report)];
        let facts = LogFacts::default();
        let found = diagnose_masked(&log, &facts, Scene::default(), &reports, &redactor);
        assert!(found.failing_tests.iter().any(|test| test.contains("test_c")));
    }

    #[test]
    fn terminal_sequences_hide_no_step() {
        let log = format!(
            "travis_time:start:01\r$ a\nTOKEN={TOKEN}\nError: no\ntravis_time:end:01:start=1\r\
             The command \"a\" exited with 0.\ntravis_time:start:02\r$ b\nTypeError: x is not a function\n\
             travis_time:end:02:start=1\r\nThe command \"b\" exited with 1.\n\nDone. Your build exited with 1.\n"
        );
        let found = diagnosis_of(&log);
        assert_eq!(found.kind, FailureKind::RuntimeError);
        assert_eq!(found.evidence[0].line, 6);
    }
}
