use std::collections::BTreeMap;

use super::hint::{HintRequest, find_remedies};
use super::line_rows::of_lines;
use super::{App, Silent};
use crate::diagnose::Log;
use crate::languages::words;
use crate::model::{
    CertainImport, Diagnosis, FailedTest, Failure, FailureKind, RemedySource, RepoPath, RunFailure, RunSummary,
};
use crate::report::kept_summary;
use crate::source::Source;
use crate::why::list_suspects;
use crate::workspace::Workspace;

/// Causes that a summary lists, and tests of each.
const MAX_CAUSES: usize = 10;
const MAX_TESTS_OF_CAUSE: usize = 3;
/// Lines, candidates and edits that a summary lists.
const MAX_LINES: usize = 3;
/// Uncommitted changes that a summary lists.
const MAX_SUSPECTS: usize = 5;

/// Summarizes a failed command: failures with their places, candidate fixes, uncommitted changes.
pub(super) fn summarize_run(
    app: &App,
    (diagnosis, log): (&Diagnosis, &Log),
    command: &str,
    workspace: &Workspace,
    is_output: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> RunSummary {
    let mut summary = summary(diagnosis, workspace.source.as_ref());
    let mut suspects = list_suspects(diagnosis, workspace, is_output);
    summary.more_suspects = suspects.len().saturating_sub(MAX_SUSPECTS) as u64;
    suspects.truncate(MAX_SUSPECTS);
    summary.suspects = suspects;
    let request = HintRequest {
        command: vec![command.to_owned()],
        ..HintRequest::default()
    };
    let logs = [(diagnosis.clone(), log.text())];
    // A log that names no file of the repository gives no hint; that is no error here.
    let hinted = find_remedies(app, workspace, &request, &logs, &Silent).unwrap_or_default();
    for hint in &hinted.document.suggestions {
        let mut listed = summary.certain.iter().chain(&summary.perhaps);
        if listed.any(|other| other.name == hint.name) {
            continue;
        }
        let import = CertainImport {
            name: hint.name.clone(),
            statement: match hint.import_statement.as_str() {
                "" => format!("{} for {}", hint.imported, hint.name),
                statement => statement.to_owned(),
            },
            tried: hint.certain || hinted.fixes.tries(&hint.name, &hint.import_statement),
        };
        if hint.certain {
            summary.certain.push(import);
        } else if summary.perhaps.len() < MAX_LINES {
            summary.perhaps.push(import);
        }
    }
    summary.mends = hinted.fixes.beside_imports();
    summary.mends.truncate(MAX_LINES);
    summary.tried = hinted.document.tried;
    summary.remedies = hinted.document.remedies;
    summary
}

/// Summarizes a diagnosis alone.
pub(super) fn summary(diagnosis: &Diagnosis, source: &dyn Source) -> RunSummary {
    let (rows, more_lines) = failures(diagnosis, source);
    let (mut failures, more) = group_by_cause(rows);
    failures.extend(failures_of_other_tools(diagnosis, &failures));
    let left_out = diagnosis.left_out.map_or(0, |left_out| left_out.tests);
    RunSummary {
        kind: diagnosis.kind,
        subkind: diagnosis.subkind.clone(),
        explanation: match diagnosis.remedy_source {
            RemedySource::Tool => format!("{} {}", diagnosis.explanation, diagnosis.suggested_fix),
            RemedySource::Mendit => diagnosis.explanation.clone(),
        },
        more: more + more_lines + left_out,
        failures,
        requires_user_action: diagnosis.requires_user_action,
        ..RunSummary::default()
    }
}

// The failure of each test, with its place; without tests the decisive lines. What decided comes first.
fn failures(diagnosis: &Diagnosis, source: &dyn Source) -> (Vec<RunFailure>, u64) {
    let evidence = diagnosis.evidence.iter().map(|line| line.text.trim());
    let bare = |text: &str| {
        let text = text.strip_prefix("E ").unwrap_or(text);
        text.trim_start_matches("# ").trim().to_owned()
    };
    let mut evidence = evidence.map(bare);
    let placed = |row: RunFailure| place_failure(row, None, diagnosis, source);
    if diagnosis.tests.is_empty() {
        let mut lines: Vec<String> = Vec::new();
        for line in evidence {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        return of_lines(diagnosis, lines, MAX_LINES, placed);
    }
    let shared = evidence.next().unwrap_or_default();
    let row = |test: &FailedTest| {
        // A frame is no message.
        let message = test.message.clone();
        let message = message.filter(|message| !message.starts_with("node:"));
        let row = RunFailure {
            test: test.id.clone(),
            error: message.unwrap_or_else(|| shared.clone()),
            ..RunFailure::default()
        };
        place_failure(row, Some(test), diagnosis, source)
    };
    let mut rows: Vec<RunFailure> = diagnosis.tests.iter().map(row).collect();
    let is_decisive = |row: &RunFailure| {
        let mut tests = diagnosis.tests.iter();
        let line = tests.find(|test| test.id == row.test);
        let line = line.and_then(|test| test.log_line);
        let mut evidence = diagnosis.evidence.iter().map(|evidence| evidence.line);
        // Some runners print the class of the error a few lines further down.
        line.is_some_and(|line| evidence.any(|other| (line..line + 6).contains(&other)))
            || diagnosis.lacks().any(|name| row.error.contains(name))
    };
    rows.sort_by_cached_key(|row| !is_decisive(row));
    // A file that did not load has no test.
    let of_file = diagnosis.lacks().next().is_some() || diagnosis.kind == FailureKind::SyntaxError;
    let of_test = shared.starts_with("FAIL: ") || shared.starts_with("ERROR: ");
    if of_file && !of_test && !rows.first().is_some_and(is_decisive) {
        let row = RunFailure {
            error: shared,
            ..RunFailure::default()
        };
        rows.insert(0, placed(row));
    }
    (rows, 0)
}

// Adds the place of a failure: the line that uses the name it lacks, where it lacks one; else where the error was
// raised, and the test's own line.
fn place_failure(
    row: RunFailure,
    test: Option<&FailedTest>,
    diagnosis: &Diagnosis,
    source: &dyn Source,
) -> RunFailure {
    let frames = test.into_iter().flat_map(|test| {
        let crash = test.crash_path.clone().map(|path| (path, test.crash_line));
        let own = test.path.clone().map(|path| (path, test.line));
        crash.into_iter().chain(own)
    });
    let frames: Vec<(String, Option<u32>)> = frames.collect();
    let mentioned = diagnosis.files.iter().filter(|file| file.in_repository);
    let mentioned = mentioned.map(|file| (file.path.clone(), file.line));
    let mentioned: Vec<(String, Option<u32>)> = mentioned.collect();
    let lacks: Vec<&String> = diagnosis.lacks().collect();
    let named: Vec<&&String> = (lacks.iter())
        .filter(|name| row.error.contains(name.as_str()))
        .collect();
    let uses = |(path, line): &&(String, Option<u32>)| {
        let text = line_at(source, path, *line).unwrap_or_default();
        named.iter().any(|name| words(&text, name).next().is_some())
    };
    let is_alone = diagnosis.tests.len() == 1 || test.is_none();
    let first = || {
        let mut lined = mentioned.iter().filter(|(_, line)| line.is_some());
        lined.next().or_else(|| mentioned.first())
    };
    let raised = frames
        .first()
        .filter(|(_, line)| line.is_some() || !is_alone);
    let found = frames.iter().chain(&mentioned).find(uses);
    let Some((path, line)) = found.or(raised).or_else(first).or_else(|| frames.first()) else {
        return row;
    };
    let own = test.filter(|test| test.crash_path.as_ref() == Some(path));
    RunFailure {
        path: Some(path.clone()),
        line: *line,
        test_path: own.and_then(|test| test.path.clone()),
        test_line: own.and_then(|test| test.line),
        ..row
    }
}

fn line_at(source: &dyn Source, path: &str, line: Option<u32>) -> Option<Vec<u8>> {
    let bytes = source.read(&RepoPath::new(path).ok()?).ok()?;
    let mut lines = bytes.split(|byte| *byte == b'\n');
    Some(lines.nth(line?.checked_sub(1)? as usize)?.to_vec())
}

// Keeps the first tests of each cause, in order. Returns how many tests are of causes beyond the limit.
fn group_by_cause(all: Vec<RunFailure>) -> (Vec<RunFailure>, u64) {
    let mut causes: Vec<Vec<RunFailure>> = Vec::new();
    let mut causes_at = BTreeMap::new();
    for row in all {
        let next = causes.len();
        let cause = (row.error.clone(), row.path.clone(), row.line);
        // A line without a test stands for itself.
        let at = match row.test.as_str() {
            "" => next,
            _ => *causes_at.entry(cause).or_insert(next),
        };
        match causes.get_mut(at) {
            Some(rows) => rows.push(row),
            None => causes.push(vec![row]),
        }
    }
    let more = causes.iter().skip(MAX_CAUSES).map(Vec::len).sum::<usize>();
    causes.truncate(MAX_CAUSES);
    for cause in &mut causes {
        // One more is as long as the words that there is one.
        if cause.len() > MAX_TESTS_OF_CAUSE + 1 {
            let alike = (cause.len() - MAX_TESTS_OF_CAUSE) as u64;
            cause.truncate(MAX_TESTS_OF_CAUSE);
            if let Some(last) = cause.last_mut() {
                last.alike = alike;
            }
        }
    }
    (causes.concat(), more as u64)
}

fn failures_of_other_tools(diagnosis: &Diagnosis, rows: &[RunFailure]) -> Vec<RunFailure> {
    let others = diagnosis.failures.iter().skip(1);
    let row = |failure: &Failure| {
        let mut evidence = diagnosis.evidence.iter();
        let text = evidence.find(|line| line.line == failure.line)?.text.trim();
        let is_listed = rows.iter().any(|row| row.error == text);
        let more = match (failure.count, &failure.tool) {
            (2.., Some(tool)) => format!(" (and {} more from {tool})", failure.count - 1),
            _ => String::new(),
        };
        (!is_listed).then(|| RunFailure {
            error: format!("{text}{more}"),
            path: failure.path.clone(),
            line: failure.path_line,
            ..RunFailure::default()
        })
    };
    let others = others.filter(|failure| !failure.follows);
    others.filter_map(row).collect()
}

/// Lines of output that is not understood, and how long each may be.
const MAX_OUTPUT_LINES: usize = 20;
const MAX_OUTPUT_LINE: usize = 160;

/// Writes what an agent needs of a failed command: the failures, candidate fixes, the culprit; where nothing is
/// understood, the end of the output.
pub(super) fn brief_text(summary: &RunSummary, end: &str, log: &str) -> String {
    let failures = kept_summary(summary, false, false);
    let mut text = format!(
        "{end}\n{}: {}\n{failures}",
        summary.kind, summary.explanation
    );
    if summary.failures.is_empty() || summary.kind == FailureKind::Unknown {
        let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
        text.push_str("the end of its output:\n");
        for line in lines
            .iter()
            .skip(lines.len().saturating_sub(MAX_OUTPUT_LINES))
        {
            text.extend(line.chars().take(MAX_OUTPUT_LINE).chain(['\n']));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::diagnose::{LogFacts, diagnose_in};
    use crate::model::RunSummary;
    use crate::source::Memory;

    fn summary(log: &str, files: &[(&str, &str)]) -> RunSummary {
        let source = Memory::named(files.iter().copied());
        super::summary(&diagnose_in(log, &LogFacts::default(), &source), &source)
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
        for (count, shown, more) in [(3, 3, 0), (4, 4, 0), (6, 3, 3)] {
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
                "|Error: Cannot find module '../src/carts.js' imported from \
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
                "|SyntaxError: /w/test/syn.test.js: Unexpected token (2:28)|test/syn.test.js:2",
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
        for at in 0..12 {
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
        assert_eq!((found.failures[2].alike, found.more), (9, 0));
        assert_eq!(found.failures[0].test_line, Some(20));
    }
}
