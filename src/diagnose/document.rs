//! The pipeline from a log to a diagnosis.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::decide::{Inputs, Verdict, decide_verdict};
use super::failures::list_failures;
use super::findings::{Finding, collect_findings};
use super::line::{Line, Mark};
use super::locate::Locator;
use super::log::{LogFacts, View};
use super::normalise::{self, Lines};
use super::remedy::find_remedy;
use super::rules::{RULES, WORDS};
use super::runners::{self, Case};
use super::success::says_failure;
use super::{derive, mention, steps};
use crate::model::{Diagnosis, Evidence, FailedTest, FailureKind as Kind, LeftOut, RemedySource};
use crate::policy::is_test;
use crate::source::Listing;

const MAX_LISTED: usize = 500;

/// Diagnoses the failure that a log shows.
///
/// `log` is raw: it may hold escapes and CI prefixes; line numbers are those of the text as given.
/// With a `listing`, the files it names are mapped into the repository. Never fails: a log that no
/// rule knows is `unknown` with confidence 0, one of a job that passed is `none`.
pub fn diagnose(log: &str, facts: &LogFacts, listing: Option<&Listing>) -> Diagnosis {
    build_answer(View::whole(log), facts, Locator::new(listing)).diagnosis
}

/// A diagnosis, with the indices of the lines of its evidence.
pub(super) struct Answer {
    pub(super) diagnosis: Diagnosis,
    pub(super) evidence: Vec<usize>,
}

/// Reads a log: bytes are lines already; lines to steps, tests, findings, a verdict, the tool's own
/// remedy, names and files.
pub(super) fn build_answer(view: View<'_>, facts: &LogFacts, mut locator: Locator<'_>) -> Answer {
    let Lines { mut all, cut } = normalise::lines_of(view);
    let mut cases = runners::collect_cases(&mut all);
    let lines = all;
    locator.note_directories(&lines);
    let job = steps::read_job(&lines);
    let findings = collect_findings(&RULES, &lines, &locator, |_| true);
    let with_words;
    for case in &mut cases {
        name_cause_above(case, &lines, &findings);
        case.crash = crash_place(case, &lines, &locator);
    }
    let mut inputs = Inputs {
        lines: &lines,
        job: &job,
        cases: &cases,
        findings: &findings,
        facts,
        is_whole: view.dropped_bytes == 0,
    };
    let mut verdict = decide_verdict(&inputs);
    if verdict.is_open() {
        with_words = add_words(&inputs, &verdict, &locator);
        inputs.findings = &with_words;
        verdict = decide_verdict(&inputs);
    }
    let mut tests = tests(&verdict, &inputs, &locator);
    let left_out = LeftOut {
        bytes: view.dropped_bytes + cut,
        lines: view.first_line - 1,
        tests: tests.len().saturating_sub(MAX_LISTED) as u64,
    };
    tests.truncate(MAX_LISTED);
    let mut evidence = decisive_lines(&verdict, &lines);
    let decisive = evidence.first().copied();
    let failures = list_failures(&verdict, &inputs, &locator);
    for failure in failures.iter().skip(1).filter(|failure| failure.path.is_some()) {
        let at = lines.partition_point(|line| line.number < failure.line);
        if !evidence.contains(&at) && at < lines.len() {
            evidence.push(at);
        }
    }
    let shown = evidence.iter().map(|at| Evidence {
        line: lines[*at].number,
        text: lines[*at].text.trim_end().to_owned(),
    });
    let mut diagnosis = Diagnosis {
        kind: verdict.kind,
        subkind: verdict.subkind.clone(),
        alternatives: verdict.alternatives.clone(),
        confidence: verdict.confidence,
        tool: verdict.tool.map(str::to_owned),
        rule: verdict.rule.map(str::to_owned),
        failing_tests: tests.iter().map(|test| test.id.clone()).collect(),
        tests,
        left_out: (left_out != LeftOut::default()).then_some(left_out),
        failures,
        evidence: shown.collect(),
        ..Diagnosis::default()
    };
    add_advice(&mut diagnosis, &verdict, decisive, &lines);
    list_names(&mut diagnosis, &verdict, &inputs);
    list_files(&mut diagnosis, &verdict, &inputs, &locator);
    Answer {
        diagnosis,
        evidence,
    }
}

// The findings, and those of the generic words in lines about a failure, or in all lines where the run is known to
// have failed.
fn add_words(inputs: &Inputs<'_>, verdict: &Verdict<'_>, locator: &Locator<'_>) -> Vec<Finding> {
    let has_failed = inputs.run_failed() || inputs.job.failed().next().is_some();
    let mut findings = collect_findings(&WORDS, inputs.lines, locator, |at: usize| {
        // A message may begin on the line above.
        let mut near = inputs.lines[at.saturating_sub(1)..=at].iter();
        let tells = near
            .any(|line| says_failure(line) || line.text.trim_start().starts_with(['✖', '✘', '×']));
        verdict.scope.holds(at) && (has_failed || tells)
    });
    findings.extend_from_slice(inputs.findings);
    findings.sort_by_key(|own| (own.at, Reverse(own.weight)));
    findings.dedup_by_key(|own| own.at);
    findings
}

// One sentence on what happened and one on what to do: the tool's own, else the one of the kind.
fn add_advice(
    diagnosis: &mut Diagnosis,
    verdict: &Verdict<'_>,
    decisive: Option<usize>,
    lines: &[Line<'_>],
) {
    let (kind, subkind) = (diagnosis.kind, diagnosis.subkind.take());
    derive::set_kind(diagnosis, kind, subkind);
    if kind == Kind::Unknown && lines.iter().all(|line| line.text.trim().is_empty()) {
        "The log is empty.".clone_into(&mut diagnosis.explanation);
        let fix = "Pass the failing command's output, including standard error.";
        fix.clone_into(&mut diagnosis.suggested_fix);
    }
    // For a failed expectation, a tool says at most how to give it up.
    let says_no_more = [Kind::None, Kind::TestFailure, Kind::SnapshotMismatch].contains(&kind);
    let Some(first) = decisive.filter(|_| !says_no_more) else {
        return;
    };
    let end = verdict.scope.end().unwrap_or(lines.len());
    // The message of an exception that the project defines is no speech of a tool.
    let remedy = find_remedy(lines, first, end).filter(|remedy| {
        let top = remedy.text.split_once('.').map(|(top, _)| top);
        let mut raised = diagnosis.tests.iter().filter_map(|test| test.crash_path.as_deref());
        !raised.any(|path| path.split('/').any(|part| Some(part) == top))
    });
    if let Some(remedy) = remedy {
        let tool = verdict.tool.unwrap_or("the tool");
        let number = lines[remedy.at].number;
        diagnosis.suggested_fix = format!("{tool} suggests: {} (log line {number})", remedy.text);
        diagnosis.remedy_source = RemedySource::Tool;
        diagnosis.remedy_line = Some(number);
        // A program that names the permission it lacks is given it by the command.
        diagnosis.requires_user_action &= kind != Kind::PermissionDenied;
    }
}

fn list_names(diagnosis: &mut Diagnosis, verdict: &Verdict<'_>, inputs: &Inputs<'_>) {
    // Findings that decided, that weigh much, or that failed a test.
    let died_of: HashSet<usize> = inputs.cases.iter().filter_map(|case| case.cause).collect();
    let own = inputs.findings.iter().filter(|finding| {
        // Findings of this weight name what is missing, whatever decided.
        let counts = finding.kind == verdict.kind || finding.weight >= 65;
        verdict.kind != Kind::None
            && verdict.scope.holds(finding.at)
            && (counts || died_of.contains(&finding.at))
    });
    diagnosis.undefined_names = distinct_names(own.clone().flat_map(|finding| &finding.names));
    diagnosis.missing_modules =
        distinct_names(own.clone().filter_map(|finding| finding.module.as_ref()));
    diagnosis.missing_exports =
        distinct_names(own.clone().filter_map(|finding| finding.export.as_ref()));
}

fn distinct_names<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let new = names.filter(|name| seen.insert(name.as_str()));
    new.take(MAX_LISTED).cloned().collect()
}

fn list_files(
    diagnosis: &mut Diagnosis,
    verdict: &Verdict<'_>,
    inputs: &Inputs<'_>,
    locator: &Locator<'_>,
) {
    if verdict.kind == Kind::None {
        return;
    }
    let own = inputs.findings.iter().filter(|own| own.kind == verdict.kind);
    let named = own.filter(|own| verdict.scope.holds(own.at)).filter_map(|finding| {
        let path = finding.path.as_deref()?.trim_matches(['\'', '"']);
        Some((finding.at, path.to_owned()))
    });
    let named: Vec<(usize, String)> = named.take(MAX_LISTED).collect();
    diagnosis.files = mention::mentioned_files(inputs.lines, &verdict.evidence, &named, locator);
}

// Node's runner says no more of a file that could not be run than that it failed: the file said why above.
fn name_cause_above(case: &mut Case, lines: &[Line<'_>], findings: &[Finding]) {
    let says = case.cause.map_or("", |at| lines[at].text.as_ref());
    if !says.contains("'test failed'") {
        return;
    }
    // A file prints at most this many lines before it fails to load.
    let from = case.at.saturating_sub(80);
    let mut near = findings.iter().rev().filter(|own| own.at >= from && own.at < case.at);
    let found = near.find(|own| own.weight >= 40 && !own.is_of_shell());
    case.cause = found.map(|own| own.at).or(case.cause);
}

// The innermost frame in the repository, when it is not the test's own line. Where an expectation did
// not hold, the test's line says more than that of a helper of the tests.
fn crash_place(
    case: &Case,
    lines: &[Line<'_>],
    locator: &Locator<'_>,
) -> Option<(String, Option<u32>)> {
    let shown = |path: &str| {
        let found = locator.find(path, case.at).map(str::to_owned);
        let is_foreign = locator.knows_repository() || runners::is_installed(path);
        found.or_else(|| (!is_foreign).then(|| runners::relative_path(path)))
    };
    let mut frames = case.frames.iter().rev();
    let (path, line) = frames.find_map(|(path, line)| Some((shown(path)?, *line)))?;
    let cause = case.cause.and_then(|at| lines.get(at));
    let message = cause.map_or("", |line| line.text.trim_start_matches(['E', ' ']));
    let starts = ["assert", "AssertionError", "Failed: ", "Error: expect("];
    let is_expectation = starts.iter().any(|start| message.starts_with(start));
    let own = case.place.as_ref();
    let is_own = own.is_some_and(|own| own.1 == line && shown(&own.0).as_ref() == Some(&path));
    (!(is_own || is_expectation && is_test(&path))).then_some((path, line))
}

fn tests(verdict: &Verdict<'_>, inputs: &Inputs<'_>, locator: &Locator<'_>) -> Vec<FailedTest> {
    if verdict.kind == Kind::None {
        return Vec::new();
    }
    let cases = inputs.cases.iter().filter(|case| {
        let mut failed = inputs.job.failed().peekable();
        failed.peek().is_none() || failed.any(|step| step.from <= case.at && case.at < step.to)
    });
    let tests = cases.filter_map(|case| {
        let name = case.name.clone()?;
        let place = case.place.as_ref();
        let is_file = place.is_some_and(|place| runners::relative_path(&place.0) == name);
        let path = place.map(|place| locator.shown(&place.0, case.at));
        let cause = case.cause.and_then(|at| inputs.lines.get(at));
        Some(FailedTest {
            id: path.clone().filter(|_| is_file).unwrap_or(name),
            runner: case.runner.to_owned(),
            path,
            line: place.and_then(|place| place.1),
            crash_path: case.crash.as_ref().map(|crash| crash.0.clone()),
            crash_line: case.crash.as_ref().and_then(|crash| crash.1),
            log_line: cause.map(|line| line.number),
            message: case_message(case, inputs.lines),
        })
    });
    tests.collect()
}

// The error of a test, without the decoration of its runner.
fn case_message(case: &Case, lines: &[Line<'_>]) -> Option<String> {
    let at = case.cause?;
    let text = lines.get(at)?.text.trim().trim_start_matches("| ");
    let text = runners::with_values(lines, at).unwrap_or_else(|| text.to_owned());
    let mut bare = text.strip_prefix("E  ").unwrap_or(&text).trim();
    bare = bare.strip_prefix("→ ").unwrap_or(bare);
    // A row of pytest's summary says the message behind the test.
    let row = case.name.as_ref().filter(|_| bare.starts_with(['F', 'E']));
    if let Some((_, rest)) = row.and_then(|name| bare.split_once(&format!("{name} - "))) {
        bare = rest;
    }
    if ["tap", "bun", "deno", "node-test"].contains(&case.runner) {
        bare = bare.trim_start_matches("# ");
        bare = bare.strip_prefix("error: ").unwrap_or(bare);
        let inner = ['\'', '"'].map(|mark| bare.strip_prefix(mark)?.strip_suffix(mark));
        bare = inner[0].or(inner[1]).unwrap_or(bare);
    }
    (!bare.is_empty() && bare != "test failed").then(|| bare.to_owned())
}

// The lines that carry the verdict; without one the end of what failed, where tools say it.
fn decisive_lines(verdict: &Verdict<'_>, lines: &[Line<'_>]) -> Vec<usize> {
    if !verdict.evidence.is_empty() {
        return verdict.evidence.iter().copied().filter(|at| *at < lines.len()).collect();
    }
    let said = (0..lines.len()).rev().filter(|at| {
        let line = &lines[*at];
        let is_service = line.text.starts_with("##[") || line.mark == Mark::Error;
        verdict.scope.holds(*at) && !line.text.trim().is_empty() && !is_service && !line.quiet
    });
    let said: Vec<usize> = said.take(MAX_LISTED).collect();
    // A word of failure says more than what is printed last.
    let telling: Vec<usize> = said.iter().copied().filter(|at| says_failure(&lines[*at])).collect();
    let mut last = if telling.is_empty() { said } else { telling };
    last.truncate(3);
    last.reverse();
    last.dedup_by_key(|at| lines[*at].text.as_ref());
    last
}
