use std::collections::HashSet;

use super::decide::{Inputs, decide};
use super::directories::directories;
use super::facts::LogFacts;
use super::failures::place_other_checkers;
use super::line::{Line, Mark};
use super::locate::Locator;
use super::log::{Log, View};
use super::normalise::{self, Lines};
use super::read::findings;
use super::remedy::find_remedy;
use super::runners::{self, Case};
use super::success::is_success;
use super::verdict::{Finding, Verdict};
use super::{derive, mention, steps};
use crate::model::{Diagnosis, Evidence, FailedTest, FailureKind as Kind, LeftOut, RemedySource};
use crate::policy::is_test;
use crate::source::Listing;

const MAX_EVIDENCE: usize = 20;
const MAX_LISTED: usize = 500;
const LAST_LINES: usize = 3;
// A line that weighs less counts only where nothing else is known.
const KNOWN: u8 = 11;
// What is missing is told of a finding that weighs as much, whatever decided.
const STRONG: u8 = 65;

/// Diagnoses the failure that a log shows.
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

/// Reads a log: bytes are lines already; lines to steps, tests, findings, a verdict, the tool's own
/// remedy, names and files.
pub(super) fn answer(view: View<'_>, facts: &LogFacts, locator: Locator<'_>) -> Answer {
    let Lines {
        all: mut lines,
        origins,
        cut,
    } = normalise::lines_of(view);
    let ran_in = directories(&lines, &origins, &locator);
    let locator = locator.running_in(ran_in);
    let job = steps::job(&lines);
    let mut cases = runners::cases(&mut lines);
    let mut found = findings(&lines, &locator, &facts.rules, KNOWN);
    if found.findings.is_empty() && cases.is_empty() && !is_success(&lines) {
        found = findings(&lines, &locator, &facts.rules, 0);
    }
    for case in &mut cases {
        case.crash = crash_place(case, &lines, &locator);
    }
    let by_line = found.findings.iter().map(|finding| (finding.at, finding));
    let inputs = Inputs {
        lines: &lines,
        job: &job,
        cases: &cases,
        findings: &found.findings,
        by_line: by_line.collect(),
        facts,
    };
    let mut verdict = decide(&inputs);
    let mut diagnosis = Diagnosis {
        kind: verdict.kind,
        subkind: verdict.subkind.take(),
        alternatives: std::mem::take(&mut verdict.alternatives),
        confidence: verdict.confidence,
        tool: verdict.tool.map(str::to_owned),
        rule: verdict.rule.map(str::to_owned),
        ..Diagnosis::default()
    };
    advise(&mut diagnosis, &verdict, &lines);
    list_names(&mut diagnosis, &verdict, &inputs);
    list_files(&mut diagnosis, &verdict, &inputs, &locator);
    let tests = tests(&verdict, &inputs, &locator);
    let left_out = LeftOut {
        bytes: view.passed_over.bytes + cut,
        lines: view.passed_over.lines,
        telling: view.passed_over.telling + found.thinned,
        tests: tests.len().saturating_sub(MAX_LISTED) as u64,
    };
    diagnosis.left_out = (left_out != LeftOut::default()).then_some(left_out);
    diagnosis.tests = tests.into_iter().take(MAX_LISTED).collect();
    diagnosis.failing_tests = diagnosis.tests.iter().map(|test| test.id.clone()).collect();
    let mut evidence = decisive_lines(&verdict, &lines);
    for at in place_other_checkers(&mut verdict.failures, &inputs, &locator) {
        if !evidence.contains(&at) {
            evidence.push(at);
        }
    }
    name_suite(&mut verdict, &cases, &locator);
    let shown = |at: &usize| Evidence {
        line: lines[*at].number,
        text: lines[*at].text.trim_end().to_owned(),
    };
    diagnosis.evidence = evidence.iter().map(shown).collect();
    diagnosis.failures = verdict.failures;
    Answer {
        diagnosis,
        evidence,
    }
}

// One sentence on what happened and one on what to do: the tool's own, else the one of the kind.
fn advise(diagnosis: &mut Diagnosis, verdict: &Verdict<'_>, lines: &[Line<'_>]) {
    let (kind, subkind) = (diagnosis.kind, diagnosis.subkind.take());
    derive::set_kind(diagnosis, kind, subkind);
    if kind == Kind::Unknown && lines.iter().all(|line| line.text.trim().is_empty()) {
        "The log is empty.".clone_into(&mut diagnosis.explanation);
        let fix = "Give what the failing command wrote, standard error included.";
        fix.clone_into(&mut diagnosis.suggested_fix);
    }
    // Of an expectation a tool says at most how to give it up.
    let is_expectation = matches!(kind, Kind::TestFailure | Kind::SnapshotMismatch);
    let decisive = decisive_lines(verdict, lines);
    let Some(&first) = decisive
        .first()
        .filter(|_| kind != Kind::None && !is_expectation)
    else {
        return;
    };
    let end = verdict.scope.end().unwrap_or(lines.len());
    if let Some(remedy) = find_remedy(lines, first, end) {
        let tool = verdict.tool.unwrap_or("the tool");
        let number = lines[remedy.at].number;
        diagnosis.suggested_fix = format!("{tool} suggests: {} (log line {number})", remedy.text);
        diagnosis.remedy_source = RemedySource::Tool;
        diagnosis.remedy_line = Some(number);
        // A program that names the permission it lacks is given it by the command.
        diagnosis.requires_user_action &= kind != Kind::PermissionDenied;
    }
}

fn list_names(diagnosis: &mut Diagnosis, verdict: &Verdict<'_>, inputs: &Inputs<'_, '_>) {
    // What decided, what weighs much, and what a test died of.
    let died_of: HashSet<usize> = inputs.cases.iter().filter_map(|case| case.cause).collect();
    let is_told = |finding: &&Finding<'_>| {
        let counts = finding.kind == verdict.kind || finding.weight >= STRONG;
        verdict.kind != Kind::None
            && verdict.scope.holds(finding.at)
            && (counts || died_of.contains(&finding.at))
    };
    let own = || inputs.findings.iter().filter(is_told);
    diagnosis.undefined_names = distinct(own().flat_map(|finding| &finding.names));
    diagnosis.missing_modules = distinct(own().filter_map(|finding| finding.module.as_ref()));
    diagnosis.missing_exports = distinct(own().filter_map(|finding| finding.export.as_ref()));
}

fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let new = names.filter(|name| seen.insert(name.as_str()));
    new.take(MAX_LISTED).cloned().collect()
}

fn list_files(
    diagnosis: &mut Diagnosis,
    verdict: &Verdict<'_>,
    inputs: &Inputs<'_, '_>,
    locator: &Locator<'_>,
) {
    if verdict.kind == Kind::None {
        return;
    }
    let is_own =
        |finding: &&Finding<'_>| finding.kind == verdict.kind && verdict.scope.holds(finding.at);
    let named = inputs.findings.iter().filter(is_own).filter_map(|finding| {
        let path = finding.path.as_deref()?.trim_matches(['\'', '"']);
        Some((finding.at, path.to_owned()))
    });
    let named: Vec<(usize, String)> = named.take(MAX_LISTED).collect();
    // A path that the command line itself names is corrected there, by a person.
    let command = inputs.facts.command.as_deref().unwrap_or_default();
    let mut paths = named.iter().map(|named| &named.1);
    diagnosis.requires_user_action |=
        verdict.kind == Kind::FileNotFound && paths.any(|path| is_argument(command, path));
    let files = mention::files(inputs.lines, &verdict.evidence, &named, locator);
    diagnosis.files = files.into_iter().map(|file| file.1).collect();
}

/// Checks whether a word of a command line is this path, or a path below the working directory that
/// ends it.
fn is_argument(command: &str, path: &str) -> bool {
    let mut words = command.split_whitespace().skip(1);
    words.any(|word| {
        let word = word.trim_matches(['"', '\'']);
        let word = word.strip_prefix("./").unwrap_or(word);
        let before = path.strip_suffix(word).filter(|_| !word.is_empty());
        before.is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
    })
}

// Of a file that could not be run no test is known: the failure has the file itself.
fn name_suite(verdict: &mut Verdict<'_>, cases: &[Case], locator: &Locator<'_>) {
    let is_suite = |case: &&Case| case.is_whole_file && verdict.counts(case.at);
    let place = |case: &Case| Some((case.at, case.place.clone()?.0));
    let suite = cases.iter().find(is_suite).and_then(place);
    let first = verdict
        .failures
        .first_mut()
        .filter(|failure| failure.path.is_none());
    if let Some((first, (at, path))) = first.zip(suite) {
        first.path = Some(shown_path(&path, at, locator));
    }
}

fn shown_path(path: &str, at: usize, locator: &Locator<'_>) -> String {
    let found = locator.find(path, at);
    found.map_or_else(|| runners::relative(path), str::to_owned)
}

// The innermost frame in the repository, when it is not the test's own line. Where an expectation did
// not hold, the test's line says more than that of a helper of the tests.
fn crash_place(
    case: &Case,
    lines: &[Line<'_>],
    locator: &Locator<'_>,
) -> Option<(String, Option<u32>)> {
    let shown = |path: &str| {
        let is_foreign = || locator.knows_repository() || runners::is_installed(path);
        let found = locator.find(path, case.at).map(str::to_owned);
        found.or_else(|| (!is_foreign()).then(|| runners::relative(path)))
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

fn tests(verdict: &Verdict<'_>, inputs: &Inputs<'_, '_>, locator: &Locator<'_>) -> Vec<FailedTest> {
    let lines = inputs.lines;
    let counts = |case: &&Case| verdict.kind != Kind::None && verdict.counts(case.at);
    let test = |case: &Case| {
        let name = case.name.clone()?;
        let place = case.place.as_ref();
        let is_file = place.is_some_and(|place| runners::relative(&place.0) == name);
        let path = place.map(|place| shown_path(&place.0, case.at, locator));
        Some(FailedTest {
            id: path.clone().filter(|_| is_file).unwrap_or(name),
            runner: case.runner.to_owned(),
            path,
            line: place.and_then(|place| place.1),
            crash_path: case.crash.as_ref().map(|crash| crash.0.clone()),
            crash_line: case.crash.as_ref().and_then(|crash| crash.1),
            log_line: case
                .cause
                .and_then(|at| lines.get(at))
                .map(|line| line.number),
            message: message(case, lines),
        })
    };
    inputs
        .cases
        .iter()
        .filter(counts)
        .filter_map(test)
        .collect()
}

// What a test died of, without what its runner puts around it.
fn message(case: &Case, lines: &[Line<'_>]) -> Option<String> {
    let at = case.cause?;
    let text = lines.get(at)?.text.trim();
    let text = runners::with_values(lines, at).unwrap_or_else(|| text.to_owned());
    let mut bare = text.strip_prefix("E  ").unwrap_or(&text).trim();
    bare = bare.strip_prefix("→ ").unwrap_or(bare);
    if let Some(name) = case.name.as_ref().filter(|_| bare.starts_with(['F', 'E']))
        && let Some((_, rest)) = bare.split_once(&format!("{name} - "))
    {
        bare = rest;
    }
    // `--tb=line` begins a failure so.
    if case.runner == "pytest"
        && let Some((place, rest)) = bare.split_once(": ")
        && let Some((_, line)) = place.split_once(".py:")
        && line.bytes().all(|byte| byte.is_ascii_digit())
    {
        bare = rest;
    }
    if ["tap", "bun", "deno"].contains(&case.runner) {
        bare = bare.trim_start_matches("# ");
        bare = bare.strip_prefix("error: ").unwrap_or(bare);
        let inner = |mark: &char| bare.strip_prefix(*mark)?.strip_suffix(*mark);
        bare = ['\'', '"'].iter().find_map(inner).unwrap_or(bare);
    }
    // Node's runner says no more of a file that could not be run.
    let is_wrapper = bare.ends_with("'test failed'") || bare == "test failed";
    (!bare.is_empty() && !is_wrapper).then(|| bare.to_owned())
}

// The lines that carry the verdict; without one the end of what failed, where tools say it.
fn decisive_lines(verdict: &Verdict<'_>, lines: &[Line<'_>]) -> Vec<usize> {
    if !verdict.evidence.is_empty() {
        let known = verdict
            .evidence
            .iter()
            .copied()
            .filter(|at| *at < lines.len());
        return known.take(MAX_EVIDENCE).collect();
    }
    let end = lines.iter().rev().take(200).map(|line| line.text.as_ref());
    if !is_text(&end.collect::<Vec<&str>>().concat()) {
        return Vec::new();
    }
    let is_said = |at: &usize| {
        let line = &lines[*at];
        let is_service = line.text.starts_with("##[") || line.mark == Mark::Error;
        verdict.scope.holds(*at)
            && !line.text.trim().is_empty()
            && !is_service
            && !line.quiet
            && is_text(&line.text)
    };
    let mut last: Vec<usize> = (0..lines.len())
        .rev()
        .filter(is_said)
        .take(LAST_LINES)
        .collect();
    last.reverse();
    last.dedup_by_key(|at| lines[*at].text.as_ref());
    last
}

// Bytes that are no text are decoded to marks of that.
fn is_text(line: &str) -> bool {
    let is_odd = |c: &char| *c == '\u{fffd}' || (c.is_control() && *c != '\t');
    line.chars().filter(is_odd).count() * 10 <= line.chars().count()
}
