use std::collections::HashSet;

use super::decide::decide;
use super::directories::directories;
use super::facts::LogFacts;
use super::failures::beside;
use super::line::{Line, Mark};
use super::locate::Locator;
use super::log::{Log, View};
use super::normalise::{self, Lines};
use super::read::findings;
use super::retries::last_tries;
use super::runners::{self, Case};
use super::success::is_success;
use super::verdict::{Finding, Verdict};
use super::{derive, mention, steps};
use crate::model::{Diagnosis, Evidence, FailedTest, FailureKind as Kind, LeftOut};
use crate::policy::is_test;
use crate::source::Listing;

const MOST_EVIDENCE: usize = 20;
const MOST_LISTED: usize = 500;
const LAST_LINES: usize = 3;
// What a line weighs less than that counts only where nothing else is known.
const KNOWN: u8 = 11;

/// Says what a log tells about a failure.
///
/// `log` is raw: it may hold escapes and CI prefixes; line numbers are those of the text as given.
/// With a `listing`, the files it names are mapped into the repository. Never fails: a log that no
/// rule knows is `unknown` with confidence 0, one of a job that passed is `none`.
#[must_use]
pub fn diagnose(log: &str, facts: &LogFacts, listing: Option<&Listing>) -> Diagnosis {
    let log = Log::from(log.to_owned());
    answer(log.view(), facts, Locator::new(listing)).diagnosis
}

/// A diagnosis, with the indices of the lines of its evidence.
pub(super) struct Answer {
    pub(super) diagnosis: Diagnosis,
    pub(super) evidence: Vec<usize>,
}

pub(super) fn answer(view: View<'_>, facts: &LogFacts, locator: Locator<'_>) -> Answer {
    let Lines {
        all: mut lines,
        origins,
        cut,
    } = normalise::lines_of(view);
    let ran_in = directories(&lines, &origins, &locator);
    let locator = locator.running_in(ran_in);
    let job = steps::job(&lines);
    let mut cases = last_tries(&mut lines, facts.exit_code == Some(0));
    let mut found = findings(&lines, &locator, &facts.rules, KNOWN);
    if found.findings.is_empty() && cases.is_empty() && !is_success(&lines) {
        found = findings(&lines, &locator, &facts.rules, 0);
    }
    for case in &mut cases {
        case.crash = crash(case, &lines, &locator);
    }
    let findings = &found.findings;
    let mut verdict = decide(&lines, &job, &cases, findings, facts);
    let (kind, subkind) = (verdict.kind, verdict.subkind.take());
    let mut named: Vec<(usize, String)> = findings
        .iter()
        .filter(|finding| finding.kind == kind && verdict.scope.holds(finding.at))
        .filter_map(|finding| Some((finding.at, finding.path.as_deref()?)))
        .map(|(at, path)| (at, path.trim_matches(['\'', '"']).to_owned()))
        .collect();
    named.truncate(MOST_LISTED);
    // A path that the command line itself names is mended there, by a person.
    let of_command = kind == Kind::FileNotFound && {
        let command = facts.command.as_deref().unwrap_or_default();
        named.iter().any(|(_, path)| is_argument(command, path))
    };
    let nothing = kind == Kind::Unknown && lines.iter().all(|it| it.text.trim().is_empty());
    let (explanation, suggested_fix) = if nothing {
        (
            "The log is empty.",
            "Give what the failing command wrote, standard error included.",
        )
    } else {
        derive::words(kind, subkind.as_ref())
    };
    let own = || findings.iter().filter(|it| tells(it, &verdict, &cases));
    let undefined_names = distinct(own().flat_map(|it| &it.names));
    let missing_modules = distinct(own().filter_map(|it| it.module.as_ref()));
    let missing_exports = distinct(own().filter_map(|it| it.export.as_ref()));
    let files = mention::files(&lines, &verdict.evidence, &named, &locator);
    let files = files.into_iter().filter(|_| kind != Kind::None);
    let mut tests = tests(&cases, &verdict, &lines, &locator);
    let left_out = LeftOut {
        bytes: view.passed_over.bytes + cut,
        lines: view.passed_over.lines,
        telling: view.passed_over.telling + found.thinned,
        tests: tests.len().saturating_sub(MOST_LISTED) as u64,
    };
    tests.truncate(MOST_LISTED);
    let mut evidence: Vec<usize> = shown(&verdict, &lines)
        .into_iter()
        .filter(|at| *at < lines.len())
        .collect();
    let others = beside(&mut verdict.failures, &cases, &lines, &locator);
    name_suite(&mut verdict, &cases, &locator);
    for at in others {
        if !evidence.contains(&at) {
            evidence.push(at);
        }
    }
    let shown = |at: &usize| Evidence {
        line: lines[*at].number,
        text: lines[*at].text.trim_end().to_owned(),
    };
    let diagnosis = Diagnosis {
        kind,
        category: derive::category(kind, None),
        explanation: explanation.to_owned(),
        suggested_fix: suggested_fix.to_owned(),
        requires_user_action: derive::requires_user_action(kind, subkind.as_ref()) || of_command,
        subkind,
        files: files.map(|it| it.1).collect(),
        undefined_names,
        missing_modules,
        missing_exports,
        failing_tests: tests.iter().map(|test| test.id.clone()).collect(),
        tests,
        evidence: evidence.iter().map(shown).collect(),
        failures: verdict.failures,
        alternatives: verdict.alternatives,
        confidence: verdict.confidence,
        tool: verdict.tool.map(str::to_owned),
        rule: verdict.rule.map(str::to_owned),
        left_out: (left_out != LeftOut::default()).then_some(left_out),
    };
    Answer {
        diagnosis,
        evidence,
    }
}

// Of a file that could not be run no test is known: the failure has the file itself.
fn name_suite(verdict: &mut Verdict<'_>, cases: &[Case], locator: &Locator<'_>) {
    let counted = |it: &&Case| it.whole_file && verdict.counts(it.at);
    let place = |it: &Case| Some((it.at, it.place.clone()?.0));
    let suite = cases.iter().find(counted).and_then(place);
    let first = verdict.failures.first_mut().filter(|it| it.path.is_none());
    if let Some((first, (at, path))) = first.zip(suite) {
        let found = locator.find(&path, at);
        first.path = Some(found.map_or_else(|| runners::relative(&path), str::to_owned));
    }
}

/// Whether a word of a command line is this path, or a path below the working directory that ends it.
fn is_argument(command: &str, path: &str) -> bool {
    let mut words = command.split_whitespace().skip(1);
    words.any(|word| {
        let word = word.trim_matches(['"', '\'']);
        let word = word.strip_prefix("./").unwrap_or(word);
        let before = path.strip_suffix(word).filter(|_| !word.is_empty());
        before.is_some_and(|it| it.is_empty() || it.ends_with('/'))
    })
}

// The innermost frame in the repository, when it is not the test's own line. Where an expectation did
// not hold, the test's line says more than that of a helper of the tests.
fn crash(case: &Case, lines: &[Line<'_>], locator: &Locator<'_>) -> Option<(String, Option<u32>)> {
    let shown = |path: &str| match locator.find(path, case.at) {
        Some(found) => Some(found.to_owned()),
        None if locator.knows_repository() || runners::is_installed(path) => None,
        None => Some(runners::relative(path)),
    };
    let mut frames = case.frames.iter().rev();
    let (path, line) = frames.find_map(|(path, line)| Some((shown(path)?, *line)))?;
    let cause = case.cause.and_then(|at| lines.get(at));
    let message = cause.map_or("", |it| it.text.trim_start_matches(['E', ' ']));
    let expected = ["assert", "AssertionError", "Failed: ", "Error: expect("]
        .iter()
        .any(|start| message.starts_with(start));
    let own = case.place.as_ref();
    let is_own = own.is_some_and(|own| own.1 == line && shown(&own.0).as_ref() == Some(&path));
    (!(is_own || expected && is_test(&path))).then_some((path, line))
}

// Whether what a line lacks is lacking: of what decided, what weighs much, and what a test died of.
fn tells(finding: &Finding<'_>, verdict: &Verdict<'_>, cases: &[Case]) -> bool {
    let died_of = || cases.iter().any(|case| case.cause == Some(finding.at));
    verdict.kind != Kind::None
        && verdict.scope.holds(finding.at)
        && (finding.kind == verdict.kind || finding.weight >= 65 || died_of())
}

// What a test died of, without what its runner puts around it.
fn message(case: &Case, lines: &[Line<'_>]) -> Option<String> {
    let at = case.cause?;
    let text = lines.get(at)?.text.trim();
    let text = runners::values(lines, at).unwrap_or_else(|| text.to_owned());
    let mut bare = text.strip_prefix("E  ").unwrap_or(&text).trim();
    if bare.starts_with(['F', 'E'])
        && let Some(name) = &case.name
        && let Some((_, rest)) = bare.split_once(&format!("{name} - "))
    {
        bare = rest;
    }
    // So `--tb=line` begins a failure.
    if case.runner == "pytest"
        && let Some((place, rest)) = bare.split_once(": ")
        && let Some((_, line)) = place.split_once(".py:")
        && line.bytes().all(|it| it.is_ascii_digit())
    {
        bare = rest;
    }
    if ["tap", "bun", "deno"].contains(&case.runner) {
        bare = bare.trim_start_matches("# ");
        bare = bare.strip_prefix("error: ").unwrap_or(bare);
        let quoted = ['\'', '"'].iter().find_map(|mark| {
            let inner = bare.strip_prefix(*mark)?;
            inner.strip_suffix(*mark)
        });
        bare = quoted.unwrap_or(bare);
    }
    // Node's runner says no more of a file that could not be run.
    let wrapper = bare.ends_with("'test failed'") || bare == "test failed";
    (!bare.is_empty() && !wrapper).then(|| bare.to_owned())
}

fn tests(
    cases: &[Case],
    verdict: &Verdict<'_>,
    lines: &[Line<'_>],
    locator: &Locator<'_>,
) -> Vec<FailedTest> {
    if verdict.kind == Kind::None {
        return Vec::new();
    }
    cases
        .iter()
        .filter(|case| verdict.counts(case.at))
        .filter_map(|case| {
            let (path, line) = match &case.place {
                Some((path, line)) => (Some(path), *line),
                None => (None, None),
            };
            let cause = case.cause.and_then(|at| lines.get(at));
            let name = case.name.clone()?;
            let is_file = path.is_some_and(|it| runners::relative(it) == name);
            let path = path.map(|path| {
                let found = locator.find(path, case.at);
                found.map_or_else(|| runners::relative(path), str::to_owned)
            });
            Some(FailedTest {
                id: path.clone().filter(|_| is_file).unwrap_or(name),
                runner: case.runner.to_owned(),
                path,
                line,
                crash_path: case.crash.as_ref().map(|it| it.0.clone()),
                crash_line: case.crash.as_ref().and_then(|it| it.1),
                log_line: cause.map(|line| line.number),
                message: message(case, lines),
            })
        })
        .collect()
}

// The lines that carry the verdict; without one the end of what failed, where tools say it.
fn shown(verdict: &Verdict<'_>, lines: &[Line<'_>]) -> Vec<usize> {
    if !verdict.evidence.is_empty() {
        return verdict
            .evidence
            .iter()
            .copied()
            .take(MOST_EVIDENCE)
            .collect();
    }
    let end = lines.iter().rev().take(200).map(|it| it.text.as_ref());
    if !is_text(&end.collect::<Vec<&str>>().concat()) {
        return Vec::new();
    }
    let mut last: Vec<usize> = (0..lines.len())
        .rev()
        .filter(|at| verdict.scope.holds(*at) && !lines[*at].text.trim().is_empty())
        .filter(|at| !lines[*at].text.starts_with("##[") && lines[*at].mark != Mark::Error)
        .filter(|at| is_text(&lines[*at].text) && !lines[*at].quiet)
        .take(LAST_LINES)
        .collect();
    last.reverse();
    last.dedup_by_key(|at| lines[*at].text.as_ref());
    last
}

// Bytes that are no text are decoded to marks of that.
fn is_text(line: &str) -> bool {
    let odd = |it: &char| *it == '\u{fffd}' || (it.is_control() && *it != '\t');
    line.chars().filter(odd).count() * 10 <= line.chars().count()
}

// What is named, once each.
fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let new = names.filter(|name| seen.insert(name.as_str()));
    new.take(MOST_LISTED).cloned().collect()
}
