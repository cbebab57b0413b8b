//! The task of `mendit diagnose`: reads a log, masks it and classifies the failure.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;

use super::files::read_reports;
use super::flags::request;
use super::hint::{HintRequest, find_remedies, in_words};
use super::runs::last_log;
use super::why::kept_cause;
use super::{App, Input, Result, no_run};
use crate::diagnose::{Log, MAX_EVIDENCE, Scene, diagnose_masked};
use crate::git::Repository;
use crate::inventory::{Project, explain_failure};
use crate::model::{
    Diagnosis, Evidence, FailedTest, FailureKind, ListedImport, RemedySource, RepoPath, RunFailure,
    RunSummary,
};
use crate::runners::{find_closings, is_checker};
use crate::why::list_suspects;
use crate::workspace::Workspace;

request! {
/// Classify the failure in a log.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
DiagnoseRequest {
    /// The log; by default what is piped in, else the last run's
    log: Option<Input>;
    /// A `JUnit` report of the tests; repeatable
    #[arg(long, value_name = "FILE")] #[serde(skip)] junit: Vec<Input>;
    /// The exit code of the command that wrote it; a negative number is a signal
    #[arg(long, value_name = "N", allow_negative_numbers = true)] exit_code: Option<i32>;
    /// The command that wrote it
    #[arg(long, value_name = "CMD")] command: Option<String>;
}
}

/// A diagnosis, and its command if that is known.
pub struct Diagnosed {
    /// The diagnosis.
    pub diagnosis: Diagnosis,
    /// The command line.
    pub command: Option<String>,
}

/// Diagnoses a log, with its secrets masked; without a log or a report, that of the last run. Inside a repository its
/// files have a say; elsewhere there is nothing to map paths into.
///
/// # Errors
/// A log or a repository that cannot be read; no log where nothing was run yet.
pub fn diagnose_log(app: &App, request: &DiagnoseRequest) -> Result<Diagnosed> {
    let last = match &request.log {
        None if request.junit.is_empty() => Some(last_log(app)?.ok_or_else(no_run)?),
        _ => None,
    };
    let (mut facts, mut log) = last.map(|last| (last.facts, last.log)).unwrap_or_default();
    if let Some(named) = &request.log {
        log = named.log(app)?;
    }
    if request.exit_code.is_some() {
        (facts.exit_code, facts.timed_out) = (request.exit_code, false);
    }
    facts.command = request.command.clone().or(facts.command);
    let workspace = Repository::discover(app.directory())?.map(|_| app.worktree()).transpose()?;
    app.go_on("reading the log")?;
    let scene = workspace.as_ref().map(scene_of).unwrap_or_default();
    let reports = read_reports(&request.junit, app)?;
    let mut diagnosis = diagnose_masked(&log, &facts, scene, &reports, app.redactor());
    let command = facts.command;
    if let Some(workspace) = &workspace
        && diagnosis.remedy_source == RemedySource::Mendit
    {
        let line = command.as_deref().unwrap_or_default();
        let project = Project::open(workspace);
        if let Some(remedy) = explain_failure(&project, &diagnosis, log.text(), line).first() {
            diagnosis.suggested_fix = app.redactor().mask(&in_words(remedy));
        }
    }
    Ok(Diagnosed { diagnosis, command })
}

/// Returns the scene of a log: the repository it is mapped to.
pub(super) fn scene_of(workspace: &Workspace) -> Scene<'_> {
    Scene {
        source: Some(workspace.source.as_ref()),
        directory: &workspace.prefix,
    }
}

/// The failures of a diagnosis, each with its place, and the change that made its command fail, where trials on
/// these very files showed it.
///
/// # Errors
/// A repository that cannot be read.
pub fn summarise_diagnosis(app: &App, found: &Diagnosed) -> Result<RunSummary> {
    let mut summary = summary(&found.diagnosis);
    if Repository::discover(app.directory())?.is_some()
        && let Some(line) = &found.command
    {
        let workspace = app.worktree()?;
        summary.cause = kept_cause(app, &workspace, Some(line)).map(|kept| kept.cause);
    }
    Ok(summary)
}

/// Lines, candidates and edits that a summary lists.
const MAX_LINES: usize = 3;

/// Summarizes a failed command: failures with their places, candidate fixes, uncommitted changes.
pub(super) fn summarize_run(
    app: &App,
    (diagnosis, log): (&Diagnosis, &Log),
    command: &str,
    workspace: &Workspace,
    is_output: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> RunSummary {
    let mut summary = summary(diagnosis);
    // Tests of one name are listed once, and their runner counts each.
    if let [one] = find_closings(log.text(), &[]).as_slice()
        && one.count == 1
        && !is_checker(one.runner)
        && !diagnosis.tests.is_empty()
    {
        let left_out = diagnosis.left_out.map_or(0, |left_out| left_out.tests);
        let named = diagnosis.tests.len() as u64 + left_out;
        summary.more += one.counts.failed.saturating_sub(named);
    }
    let mut suspects = list_suspects(diagnosis, workspace, is_output);
    // Uncommitted changes that a summary lists.
    let max_suspects = 5;
    summary.more_suspects = suspects.len().saturating_sub(max_suspects) as u64;
    suspects.truncate(max_suspects);
    summary.suspects = suspects;
    let (request, lines) = (HintRequest::default(), [command.to_owned()]);
    let logs = [(diagnosis.clone(), log.text())];
    // A log that names no file of the repository gives no hint. That is no error, because the diagnosis is valid
    // without one.
    let hinted = find_remedies(app, workspace, &request, &logs, &lines).unwrap_or_default();
    let mut listed = BTreeSet::new();
    for hint in hinted.document.suggestions {
        if !listed.insert(hint.name.clone()) {
            continue;
        }
        let tried = hinted.fixes.tries(&hint.name, &hint.import_statement);
        let statement = match hint.import_statement.as_str() {
            "" => format!("{} for {}", hint.imported, hint.name),
            statement => statement.to_owned(),
        };
        let list = if hint.certain { &mut summary.certain } else { &mut summary.perhaps };
        list.push(ListedImport {
            name: hint.name,
            statement,
            tried,
        });
    }
    summary.perhaps.truncate(MAX_LINES);
    // An edit that only restores an import which is listed already would be listed twice.
    let listed = summary.certain.iter().chain(&summary.perhaps);
    let listed = listed.filter(|import| import.tried).map(|import| import.statement.as_str());
    let listed: Vec<&str> = listed.collect();
    let edits = hinted.fixes.beside_imports();
    let edits = edits.filter(|edit| !edit.adds_only(&listed)).take(MAX_LINES);
    summary.mends = edits.map(|edit| edit.what.clone()).collect();
    summary.fix_first = hinted.fixes.edits.iter().any(|edit| edit.is_expected);
    summary.tried = hinted.document.tried;
    summary.remedies = hinted.document.remedies;
    summary
}

/// Summarizes a diagnosis alone.
pub(super) fn summary(diagnosis: &Diagnosis) -> RunSummary {
    let (rows, most) = match diagnosis.tests.as_slice() {
        [] => (decisive_lines(diagnosis), MAX_LINES),
        // Bounded, so that the summary fits on a screen.
        _ => (failed_tests(diagnosis), 10),
    };
    let (mut failures, more) = group_by_cause(rows, most);
    failures.extend(failures_of_other_tools(diagnosis, &failures));
    let mut left_out = diagnosis.left_out.map_or(0, |left_out| left_out.tests);
    let lines = diagnosis.evidence.len();
    // Lines are left out where no test is named.
    let is_cut = lines >= MAX_EVIDENCE && diagnosis.tests.is_empty();
    if let Some(first) = diagnosis.failures.first().filter(|_| is_cut) {
        left_out += first.count.saturating_sub(lines as u64);
    }
    RunSummary {
        kind: diagnosis.kind,
        subkind: diagnosis.subkind.clone(),
        explanation: match diagnosis.remedy_source {
            RemedySource::Tool => format!("{} {}", diagnosis.explanation, diagnosis.suggested_fix),
            RemedySource::Mendit => diagnosis.explanation.clone(),
        },
        more: more + left_out,
        failures,
        requires_user_action: diagnosis.requires_user_action,
        ..RunSummary::default()
    }
}

fn bare(evidence: &Evidence) -> String {
    let text = evidence.text.trim();
    let text = text.trim_start_matches("E ").trim_start_matches("INTERNALERROR> ");
    text.trim_start_matches("# ").trim().to_owned()
}

// The failure of each test; the one that decided comes first.
fn failed_tests(diagnosis: &Diagnosis) -> Vec<RunFailure> {
    let first = diagnosis.evidence.first().map(bare).unwrap_or_default();
    let (mut tests, others): (Vec<_>, Vec<_>) = diagnosis.tests.iter().partition(|test| {
        let mut evidence = diagnosis.evidence.iter().map(|evidence| evidence.line);
        let message = test.message.as_deref().unwrap_or(&first);
        // Some runners print the class of the error a few lines further down.
        test.log_line
            .is_some_and(|line| evidence.any(|other| (line..line + 6).contains(&other)))
            || diagnosis.lacks().any(|name| message.contains(name))
    });
    let none_decides = tests.is_empty();
    tests.extend(others);
    let rows = tests.into_iter().map(|test| {
        // A frame is no message.
        let message = test.message.clone().filter(|message| !message.starts_with("node:"));
        let message = message.unwrap_or_else(|| first.clone());
        place_failure(message, Some(test), diagnosis)
    });
    let mut rows: Vec<RunFailure> = rows.collect();
    // A file that did not load has no test.
    let of_file = diagnosis.lacks().next().is_some() || diagnosis.kind == FailureKind::SyntaxError;
    let of_test = first.starts_with("FAIL: ") || first.starts_with("ERROR: ");
    if of_file && !of_test && none_decides {
        rows.insert(0, place_failure(first, None, diagnosis));
    }
    rows
}

// The lines that decided; of a checker those with a place.
fn decisive_lines(diagnosis: &Diagnosis) -> Vec<RunFailure> {
    use FailureKind::{LintError, StaticTypeError, TsError};
    let is_checker = [LintError, StaticTypeError, TsError].contains(&diagnosis.kind);
    let mut rows: Vec<RunFailure> = Vec::new();
    for error in diagnosis.evidence.iter().map(bare) {
        let place = place_in_words(&error, diagnosis).filter(|_| is_checker);
        if rows.iter().all(|row| row.error != error) {
            rows.push(RunFailure {
                error,
                line: place.as_ref().and_then(|(_, line)| *line),
                path: place.map(|(path, _)| path),
                ..RunFailure::default()
            });
        }
    }
    if rows.iter().any(|row| row.path.is_some()) {
        rows.retain(|row| row.path.is_some());
    } else if let Some(first) = rows.first_mut() {
        *first = place_failure(first.error.clone(), None, diagnosis);
    }
    if !is_checker {
        rows.truncate(MAX_LINES);
    }
    rows
}

// The file and line with which a finding of a checker begins, or whose line and column do.
fn place_in_words(error: &str, diagnosis: &Diagnosis) -> Option<(String, Option<u32>)> {
    let files = || diagnosis.files.iter().filter(|file| file.in_repository);
    let begun = files().find_map(|file| {
        let rest = error.strip_prefix(&file.path)?.strip_prefix([':', '('])?;
        let line = rest.split([':', ',', ')']).next()?.parse().ok();
        line.map(|line| (file.path.clone(), Some(line)))
    });
    begun.or_else(|| {
        let mut found = files().filter(|file| {
            let line = file.line.unwrap_or_default();
            let column = file.column.unwrap_or_default();
            error.starts_with(&format!("{line}:{column} "))
        });
        // The same place in two files says nothing.
        let file = found.next().filter(|_| found.next().is_none())?;
        Some((file.path.clone(), file.line))
    })
}

// A failure where the error was raised, with the test's own line; else where the test is, else where the log points.
fn place_failure(error: String, test: Option<&FailedTest>, diagnosis: &Diagnosis) -> RunFailure {
    let crash = test.and_then(|test| Some((test.crash_path.as_ref()?, test.crash_line)));
    let own = test.and_then(|test| Some((test.path.as_ref()?, test.line)));
    let is_alone = test.is_none() || diagnosis.tests.len() == 1;
    let mentioned = diagnosis.files.iter().filter(|file| file.in_repository);
    let mentioned = mentioned.map(|file| (&file.path, file.line));
    let with_line = mentioned.clone().find(|(_, line)| line.is_some());
    let place = crash
        .or(own.filter(|(_, line)| line.is_some() || !is_alone))
        .or(with_line)
        .or_else(|| mentioned.clone().next())
        .or(own);
    RunFailure {
        test: test.map(|test| test.id.clone()).unwrap_or_default(),
        error,
        path: place.map(|(path, _)| path.clone()),
        line: place.and_then(|(_, line)| line),
        test_path: crash.and(own).map(|(path, _)| path.clone()),
        test_line: crash.and(own).and_then(|(_, line)| line),
    }
}

// Keeps the first tests of each cause, in order. Returns how many tests are left out.
fn group_by_cause(all: Vec<RunFailure>, most: usize) -> (Vec<RunFailure>, u64) {
    let mut causes: Vec<Vec<RunFailure>> = Vec::new();
    let mut more = 0;
    for row in all {
        // A line without a test represents itself.
        let is_alone = row.test.is_empty();
        match causes.iter().position(|rows| !is_alone && cause_of(&rows[0]) == cause_of(&row)) {
            Some(at) if causes[at].len() < 3 => causes[at].push(row),
            None if causes.len() < most => causes.push(vec![row]),
            _ => more += 1,
        }
    }
    (causes.concat(), more)
}

fn cause_of(row: &RunFailure) -> (String, Option<String>, Option<u32>) {
    (row.error.clone(), row.path.clone(), row.line)
}

fn failures_of_other_tools(diagnosis: &Diagnosis, rows: &[RunFailure]) -> Vec<RunFailure> {
    let mut found = Vec::new();
    for failure in diagnosis.failures.iter().skip(1).filter(|failure| !failure.follows) {
        let mut evidence = diagnosis.evidence.iter();
        let Some(line) = evidence.find(|line| line.line == failure.line) else {
            continue;
        };
        let mut error = line.text.trim().to_owned();
        if rows.iter().any(|row| row.error == error) {
            continue;
        }
        if let (2.., Some(tool)) = (failure.count, &failure.tool) {
            error.push_str(&format!(" (and {} more from {tool})", failure.count - 1));
        }
        found.push(RunFailure {
            error,
            path: failure.path.clone(),
            line: failure.path_line,
            ..RunFailure::default()
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::diagnose::{LogFacts, diagnose_in};
    use crate::model::RunSummary;
    use crate::source::Memory;

    fn summary(log: &str, files: &[(&str, &str)]) -> RunSummary {
        let source = Memory::named(files.iter().copied());
        super::summary(&diagnose_in(log, &LogFacts::default(), &source))
    }

    fn rows(summary: &RunSummary) -> Vec<String> {
        let row = |failure: &crate::model::RunFailure| {
            let path = failure.path.as_deref().unwrap_or("-");
            let line = failure.line.unwrap_or_default();
            format!("{}|{}|{path}:{line}", failure.test, failure.error)
        };
        summary.failures.iter().map(row).collect()
    }

    #[test]
    fn keeps_places_of_checker_findings() {
        let tsc = |count: u32| -> String {
            let line = |at: u32| {
                format!(
                    "src/a.ts({at},5): error TS2339: Property 'f{at}' does not exist on type 'B'.\n"
                )
            };
            (1..=count).map(line).collect()
        };
        let files = [("src/a.ts", "\n\n\n\n\n\n"), ("src/b.js", "\n")];
        for (count, shown, more) in [(3, 3, 0), (4, 3, 1), (22, 3, 19)] {
            let found = summary(&tsc(count), &files);
            assert_eq!((found.failures.len(), found.more), (shown, more));
            let last = found.failures.last().unwrap();
            assert_eq!(last.path.as_deref(), Some("src/a.ts"));
            assert_eq!(last.line, Some(u32::try_from(shown).unwrap()));
        }
        let eslint = "/home/u/app/src/b.js\n  3:7  error  'x' is never used  no-unused-vars\n  \
             9:3  error  Expected '==='  eqeqeq\n\n✖ 2 problems (2 errors, 0 warnings)\n  \
             1 error and 0 warnings potentially fixable with the `--fix` option.\n";
        let found = summary(eslint, &files);
        assert_eq!(
            rows(&found),
            [
                "|3:7  error  'x' is never used  no-unused-vars|src/b.js:3",
                "|9:3  error  Expected '==='  eqeqeq|src/b.js:9",
            ]
        );
    }

    #[test]
    fn lists_missing_module_beside_failing_test() {
        let log = " FAIL  test/lost.test.js [ test/lost.test.js ]\n\
                   ⎯⎯⎯ Failed Suites 1 ⎯⎯⎯\n\n FAIL  test/lost.test.js [ test/lost.test.js ]\n\
                   Error: Cannot find module '../src/carts.js' imported from '/w/test/lost.test.js'\n \
                   ❯ test/lost.test.js:2:1\n\n⎯⎯⎯ Failed Tests 1 ⎯⎯⎯\n\n FAIL  test/a.test.js > \
                   total\nAssertionError: expected 5 to be 6\n ❯ test/a.test.js:4:7\n";
        let files = [
            (
                "test/lost.test.js",
                "import 'vitest';\nimport { C } from '../src/carts.js';\n",
            ),
            ("test/a.test.js", ""),
            ("src/cart.js", "export class C {}\n"),
        ];
        let found = summary(log, &files);
        assert_eq!(
            rows(&found),
            [
                "test/lost.test.js|Error: Cannot find module '../src/carts.js' imported from \
                 '/w/test/lost.test.js'|test/lost.test.js:2",
                "total|AssertionError: expected 5 to be 6|test/a.test.js:4",
            ]
        );
    }

    #[test]
    fn lists_file_that_does_not_parse_beside_tests() {
        let log = "FAIL test/misc.test.js\n  ● calls\n\n    expect(received).toBe(expected)\n\n    \
                   Expected: 4\n    Received: 3\n\n      at Object.<anonymous> \
                   (test/misc.test.js:3:69)\n\nFAIL test/syn.test.js\n  ● Test suite failed to run\n\n    \
                   Jest encountered an unexpected token\n\n    SyntaxError: /w/test/syn.test.js: \
                   Unexpected token (2:28)\n\n";
        let found = summary(log, &[("test/misc.test.js", ""), ("test/syn.test.js", "")]);
        assert_eq!(
            rows(&found),
            [
                "test/syn.test.js|SyntaxError: /w/test/syn.test.js: Unexpected token (2:28)|test/syn.test.js:0",
                "calls|expect(received).toBe(expected): expected 4, received 3|test/misc.test.js:3",
            ]
        );
    }

    #[test]
    fn lists_failures_of_other_tools_beside_tests() {
        let log = "F401 [*] `sys` imported but unused\n --> src/a.py:4:8\n  |\n4 | import sys\n  |\n\n\
                   Found 1 error.\nmake: *** [Makefile:3: lint] Error 1\n\
                   src/b.py:15: error: Incompatible types in assignment  [assignment]\n\
                   src/b.py:20: error: Unsupported operand types  [operator]\n\
                   Found 2 errors in 1 file (checked 2 source files)\n\
                   make: *** [Makefile:5: types] Error 1\n\
                   ==== FAILURES ====\n____ test_a ____\nE   assert 1 == 2\n\n\
                   tests/test_a.py:3: AssertionError\n==== 1 failed in 0.1s ====\n\
                   make: *** [Makefile:7: test] Error 1\n";
        let files = ["src/a.py", "src/b.py", "tests/test_a.py"].map(|path| (path, ""));
        assert_eq!(
            rows(&summary(log, &files)),
            [
                "test_a|assert 1 == 2|tests/test_a.py:3",
                "|F401 [*] `sys` imported but unused|src/a.py:4",
                "|src/b.py:15: error: Incompatible types in assignment  [assignment] (and 1 more from \
                 mypy)|src/b.py:15",
            ]
        );
    }

    #[test]
    fn groups_many_tests_of_one_cause() {
        let mut log = String::from("==== FAILURES ====\n");
        for at in 0..22 {
            log += &format!(
                "____ test_{at} ____\n\ntests/test_a.py:{}: \n_ _ _\nE   IndexError: no\n\n\
                 src/a.py:3: IndexError\n",
                at + 20
            );
        }
        log += "____ test_z ____\nE   KeyError: 'k'\n\ntests/test_a.py:90: KeyError\n";
        let found = summary(&log, &[("src/a.py", ""), ("tests/test_a.py", "")]);
        let rows = rows(&found);
        assert_eq!(rows.len(), 4, "{rows:#?}");
        assert_eq!(rows[2], "test_2|IndexError: no|src/a.py:3");
        assert_eq!(rows[3], "test_z|KeyError: 'k'|tests/test_a.py:90");
        assert_eq!(found.more, 19);
        assert_eq!(found.failures[0].test_line, Some(20));
    }
}
