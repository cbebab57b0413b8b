use std::collections::BTreeMap;

use super::context::prompt_tokens;
use super::hint::{HintRequest, find_remedies};
use super::line_rows::of_lines;
use super::suspects::suspects;
use super::{App, Silent};
use crate::diagnose::Log;
use crate::hint::{Wanted, wanted};
use crate::languages::words;
use crate::model::{
    CertainImport, ContextDocument, Diagnosis, FailedTest, Failure, FailureKind, FailurePacket,
    MentionedFile, PacketSize, RemedySource, RepoPath, RunFailure, RunSummary,
};
use crate::source::Source;
use crate::workspace::Workspace;

/// Summarizes a failed command: failures with their places, certain fixes, uncommitted changes that may be it.
pub(super) fn summarise(
    app: &App,
    (diagnosis, log): (&Diagnosis, &Log),
    command: &str,
    workspace: &Workspace,
    is_output: &dyn Fn(&RepoPath) -> bool,
) -> RunSummary {
    let mut suspects = suspects(diagnosis, workspace, is_output);
    let more_suspects = suspects.len().saturating_sub(MOST_SUSPECTS) as u64;
    suspects.truncate(MOST_SUSPECTS);
    RunSummary {
        suspects,
        more_suspects,
        ..full_summary(app, workspace, (diagnosis, log), command)
    }
}

/// Measures a packet.
pub(super) fn packet_size(context: &ContextDocument, packet: &FailurePacket) -> PacketSize {
    PacketSize {
        level: context.level,
        files: context.files.len() as u64,
        bytes: context.total_bytes,
        tokens: context.total_tokens,
        prompt_tokens: prompt_tokens(context, packet),
    }
}

/// Changes that may be it and that a summary names.
const MOST_SUSPECTS: usize = 5;

/// The same of a diagnosis alone.
pub(super) fn summary(diagnosis: &Diagnosis, source: &dyn Source) -> RunSummary {
    let (rows, lines_more) = failures(diagnosis, source);
    let (mut failures, more) = listed(rows);
    failures.extend(beside(diagnosis, &failures));
    let left_out = diagnosis.left_out.map_or(0, |it| it.tests);
    RunSummary {
        kind: diagnosis.kind,
        subkind: diagnosis.subkind.clone(),
        explanation: match diagnosis.remedy_source {
            RemedySource::Tool => {
                format!("{} {}", diagnosis.explanation, diagnosis.suggested_fix)
            }
            RemedySource::Mendit => diagnosis.explanation.clone(),
        },
        more: more + lines_more + left_out,
        failures,
        requires_user_action: diagnosis.requires_user_action,
        ..RunSummary::default()
    }
}

// What other programs failed with, where no row tells it.
fn beside(diagnosis: &Diagnosis, rows: &[RunFailure]) -> Vec<RunFailure> {
    let others = diagnosis.failures.iter().skip(1).filter(|it| !it.follows);
    let row = |failure: &Failure| {
        let mut evidence = diagnosis.evidence.iter();
        let text = evidence.find(|line| line.line == failure.line)?.text.trim();
        let listed = rows.iter().any(|row| row.error == text);
        let more = match (failure.count, &failure.tool) {
            (2.., Some(tool)) => format!(" (and {} more from {tool})", failure.count - 1),
            _ => String::new(),
        };
        (!listed).then(|| RunFailure {
            error: format!("{text}{more}"),
            path: failure.path.clone(),
            line: failure.path_line,
            ..RunFailure::default()
        })
    };
    others.filter_map(row).collect()
}

// The causes in log order, each with its first tests; and how many tests are of causes beyond them.
fn listed(all: Vec<RunFailure>) -> (Vec<RunFailure>, u64) {
    let mut causes: Vec<Vec<RunFailure>> = Vec::new();
    let mut causes_at: BTreeMap<(String, Option<String>, Option<u32>), usize> = BTreeMap::new();
    for row in all {
        let cause = (row.error.clone(), row.path.clone(), row.line);
        let next = causes.len();
        // A line without a test stands for itself.
        let at = if row.test.is_empty() {
            next
        } else {
            *causes_at.entry(cause).or_insert(next)
        };
        if at == next {
            causes.push(Vec::new());
        }
        if let Some(rows) = causes.get_mut(at) {
            rows.push(row);
        }
    }
    let mut left = MOST;
    let (mut rows, mut more) = (Vec::new(), 0);
    for cause in causes {
        let count = cause.len();
        let shown = if count > MOST_OF_ONE + 1 {
            MOST_OF_ONE
        } else {
            count
        };
        if left == 0 {
            more += count as u64;
            continue;
        }
        rows.extend(cause.into_iter().take(shown));
        if let Some(last) = rows.last_mut() {
            last.alike = (count - shown) as u64;
        }
        left -= 1;
    }
    (rows, more)
}

// The files that lack what is missing.
fn lacking(diagnosis: &Diagnosis, source: &dyn Source) -> BTreeMap<RepoPath, Wanted> {
    let files = diagnosis.files.iter().filter(|it| it.in_repository);
    let paths: Vec<RepoPath> = files.filter_map(MentionedFile::repo_path).collect();
    wanted(source, &paths, &Wanted::of(diagnosis))
}

// Where the file that lacks something is named, with its line when the log says one; without such a
// file, the first line of the repository, else its first file.
fn place<'a>(
    diagnosis: &'a Diagnosis,
    lacking: &BTreeMap<RepoPath, Wanted>,
) -> Option<&'a MentionedFile> {
    let files = diagnosis.files.iter().filter(|it| it.in_repository);
    let of = |file: &&MentionedFile| file.repo_path().is_some_and(|it| lacking.contains_key(&it));
    let mut named = files.clone().filter(of);
    let lined = named.clone().find(|it| it.line.is_some());
    lined
        .or_else(|| named.next())
        .or_else(|| files.clone().find(|it| it.line.is_some()))
        .or_else(|| files.clone().next())
}

// Of several names each row has the line that holds its own.
fn own<'d>(
    row: &RunFailure,
    diagnosis: &'d Diagnosis,
    source: &dyn Source,
    lacking: &BTreeMap<RepoPath, Wanted>,
) -> Option<&'d MentionedFile> {
    let files = diagnosis.files.iter().filter(|it| it.in_repository);
    let mut lined = files.filter(|it| it.line.is_some());
    lined.find(|file| {
        let path = file.repo_path();
        let wanted = path.as_ref().and_then(|path| lacking.get(path));
        let names = wanted.into_iter().flat_map(|it| &it.names);
        let mut named = names
            .filter(|name| words(row.error.as_bytes(), name).next().is_some())
            .peekable();
        let text = named.peek().and(path.as_ref());
        let text = text.and_then(|path| source.read(path).ok());
        let line = text.as_deref().and_then(|text| {
            let at = file.line?.checked_sub(1)?;
            text.split(|byte| *byte == b'\n').nth(at as usize)
        });
        line.is_some_and(|line| named.any(|name| words(line, name).next().is_some()))
    })
}

// A row for each test. What all of them died of stands in one place.
fn failures(diagnosis: &Diagnosis, source: &dyn Source) -> (Vec<RunFailure>, u64) {
    let lacking = lacking(diagnosis, source);
    let place = place(diagnosis, &lacking);
    let first = |row: RunFailure| match own(&row, diagnosis, source, &lacking).or(place) {
        Some(place) => RunFailure {
            path: Some(place.path.clone()),
            line: place.line,
            ..row
        },
        None => row,
    };
    let evidence = diagnosis.evidence.iter().map(|it| it.text.trim());
    let bare = |it: &str| it.trim_start_matches("# ").trim().to_owned();
    let mut evidence = evidence.map(|it| bare(it.strip_prefix("E ").unwrap_or(it)));
    if diagnosis.tests.is_empty() {
        let mut seen = std::collections::BTreeSet::new();
        let rows = evidence.filter(|it| seen.insert(it.clone()));
        return of_lines(diagnosis, rows.collect(), MOST_LINES, first);
    }
    let shared = evidence.next().unwrap_or_default();
    let lacks: Vec<&String> = diagnosis.lacks().collect();
    let named = !lacks.is_empty();
    let alone = diagnosis.tests.len() == 1;
    let tests = diagnosis.tests.iter();
    let mut rows: Vec<RunFailure> = tests
        .map(|test| {
            let row = RunFailure {
                test: test.id.clone(),
                error: test.message.clone().unwrap_or_else(|| shared.clone()),
                path: test.path.clone(),
                line: test.line,
                ..RunFailure::default()
            };
            let is_named = || lacks.iter().any(|it| row.error.contains(it.as_str()));
            let own = own_frame(test, &row.error, &lacks, source);
            if let Some((path, line)) = own {
                return RunFailure { path, line, ..row };
            }
            match &test.crash_path {
                _ if named && is_named() => first(row),
                None if named && test.message.is_none() => first(row),
                Some(path) => RunFailure {
                    path: Some(path.clone()),
                    line: test.crash_line,
                    test_path: row.path,
                    test_line: row.line,
                    ..row
                },
                None if row.path.is_none() || row.line.is_none() && alone => first(row),
                None => row,
            }
        })
        .collect();
    // What decided comes first; what kept tests from being loaded is told beside those that ran.
    let decided = |row: &RunFailure| {
        let line = diagnosis.tests.iter().find(|it| it.id == row.test);
        let line = line.and_then(|it| it.log_line);
        let mut evidence = diagnosis.evidence.iter().map(|it| it.line);
        // Some runners say a few lines further down what sort of error it was.
        line.is_some_and(|line| evidence.any(|it| (line..line + 6).contains(&it)))
            || lacks.iter().any(|it| row.error.contains(it.as_str()))
    };
    rows.sort_by_cached_key(|row| !decided(row));
    let of_file = named || diagnosis.kind == FailureKind::SyntaxError;
    let of_test = ["FAIL: ", "ERROR: "]
        .iter()
        .any(|it| shared.starts_with(it));
    if of_file && !of_test && !rows.first().is_some_and(decided) {
        let row = RunFailure {
            error: shared,
            ..RunFailure::default()
        };
        let row = if named {
            first(row)
        } else {
            nearest(row, diagnosis)
        };
        rows.insert(0, row);
    }
    (rows, 0)
}

// The frame of a test at a line that holds the name its error is about.
fn own_frame(
    test: &FailedTest,
    error: &str,
    lacks: &[&String],
    source: &dyn Source,
) -> Option<(Option<String>, Option<u32>)> {
    let frames = [(&test.crash_path, test.crash_line), (&test.path, test.line)];
    let holds = |(path, line): &(&Option<String>, Option<u32>)| {
        let text = line_at(source, path.as_deref(), *line).unwrap_or_default();
        let mut named = lacks.iter().filter(|name| error.contains(name.as_str()));
        named.any(|name| words(&text, name).next().is_some())
    };
    let found = frames.into_iter().find(holds)?;
    Some((found.0.clone(), found.1))
}

fn line_at(source: &dyn Source, path: Option<&str>, line: Option<u32>) -> Option<Vec<u8>> {
    let bytes = source.read(&RepoPath::new(path?).ok()?).ok()?;
    let mut lines = bytes.split(|byte| *byte == b'\n');
    Some(lines.nth(line?.checked_sub(1)? as usize)?.to_vec())
}

// With the file that the log names next to what decided.
fn nearest(row: RunFailure, diagnosis: &Diagnosis) -> RunFailure {
    let Some(file) = diagnosis.files.iter().find(|it| it.in_repository) else {
        return row;
    };
    let mut lines = diagnosis.files.iter().filter(|it| it.path == file.path);
    RunFailure {
        path: Some(file.path.clone()),
        line: lines.find_map(|it| it.line),
        ..row
    }
}

/// The same with the one list of what may mend it, as `hint` tells and `fix` tries it.
pub(super) fn full_summary(
    app: &App,
    workspace: &Workspace,
    (diagnosis, log): (&Diagnosis, &Log),
    command: &str,
) -> RunSummary {
    let request = HintRequest {
        command: vec![command.to_owned()],
        ..HintRequest::default()
    };
    let logs = [(diagnosis.clone(), log.text())];
    // A log that names no file of the repository gives no hint; that is no error here.
    let hinted = find_remedies(app, workspace, &request, &logs, &Silent).unwrap_or_default();
    let (mut certain, mut perhaps): (Vec<CertainImport>, Vec<CertainImport>) = <_>::default();
    for one in hinted.document.suggestions.iter().cloned() {
        let listed = certain.iter().any(|it| it.name == one.name);
        if listed {
            continue;
        }
        let list = if one.certain {
            &mut certain
        } else {
            &mut perhaps
        };
        list.push(CertainImport {
            tried: one.certain || hinted.remedies.tries(&one.name, &one.import_statement),
            statement: match one.import_statement.as_str() {
                "" => format!("{} for {}", one.imported, one.name),
                statement => statement.to_owned(),
            },
            name: one.name,
        });
    }
    let mut seen: Vec<String> = certain.iter().map(|it| it.name.clone()).collect();
    perhaps.retain(|one| {
        let new = !seen.contains(&one.name);
        seen.push(one.name.clone());
        new
    });
    perhaps.truncate(MOST_LINES);
    let mut mends = hinted.remedies.beside_imports();
    mends.truncate(MOST_LINES);
    RunSummary {
        certain,
        perhaps,
        mends,
        tried: hinted.document.tried,
        remedies: hinted.document.remedies,
        ..summary(diagnosis, workspace.source.as_ref())
    }
}

const MOST: usize = 10;
// Tests that are named of those that died of one thing.
const MOST_OF_ONE: usize = 3;
const MOST_LINES: usize = 3;

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
    fn findings_of_a_checker_keep_their_files_and_are_counted() {
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
    fn what_is_missing_is_told_of_the_tests_that_lack_it() {
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
    fn a_file_that_does_not_parse_is_told_beside_the_tests_that_ran() {
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
    fn what_other_programs_failed_with_is_told_beside_the_tests() {
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
    fn many_tests_of_one_cause_leave_room_for_the_others() {
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
