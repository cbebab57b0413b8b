//! Reads pytest's output. It has code of its own because its blocks and summary name a test
//! differently.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::case::{Case, report_frame};
use super::table::MAX_BLOCK;
use crate::diagnose::line::{Line, lines_below};
use crate::runners::pattern;

// `FAILED tests/a.py::test_x - assert 1 == 2` of the summary, `tests/a.py::test_x FAILED [ 50%]` of `-v`, and the
// same of xdist: https://docs.pytest.org/en/stable/how-to/output.html. Of a subtest, pytest 9 prints
// `SUBFAILED[what] (i=1) tests/a.py::test_x - …`, and the plugin before it `[what] (i=1) SUBFAIL tests/a.py::test_x - …`:
// https://docs.pytest.org/en/stable/how-to/subtests.html.
pattern!(
    ROW,
    concat!(
        r"^(?:FAILED|ERROR|SUBFAILED ?(?:\[.*?\] ?)?(?:\(.*\))?|(?:\[.*?\] )?(?:\(.*\) )?SUBFAIL) ((?:[^\s:]| )+?\.py(?:::.*| - .*)?|\S+::.*)$",
        r"|^(\S+\.py::.+?) (?:FAILED|ERROR)(?:\s+\[\s*\d+%\])?\s*$",
        r"|^\[gw\d+\] \[\s*\d+%\] (?:FAILED|ERROR) (\S+\.py::.+)$",
        r"|^worker 'gw\d+' crashed while running '(\S+\.py::.+)'$"
    )
);
// A title that fills the line has one mark on each side.
pattern!(HEADING, r"^_+ (\S*[^_\s].*?) _+$");
// What the heading of a subtest says behind the name of its test.
pattern!(
    SUBTEST,
    r"(?: \[[^\]]*\])?(?: \([^()]*(?:\(.*\))?[^()]*\))?$"
);
pattern!(
    RAISED,
    r"^(?:E\s+|\s+\| )?(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt|Failure|Timeout|Failed)\b"
);

// Between the exceptions of a chain: `repr_excinfo` of
// https://github.com/pytest-dev/pytest/blob/main/src/_pytest/_code/code.py.
pattern!(LINK, r"^(?:The|During) .+ exception(?: occurred)?:$");

// Blocks and rows that are matched with each other. Bounded, because a suite that fails as a whole has thousands.
const MAX_MATCHED: usize = 2000;

/// A block of `FAILURES` or `ERRORS`.
struct Report {
    title: String,
    dotted: String,
    is_teardown: bool,
    is_used: bool,
    case: Case,
}

/// Returns what pytest reports: rows of its summary and of `-v`, each with its block, then blocks that
/// no row names.
pub(super) fn pytest_cases(lines: &[Line<'_>]) -> Vec<Case> {
    let mut reports = read_reports(lines);
    let mut cases: Vec<Case> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(id) = row_id(line) else { continue };
        let is_new = seen.insert(id.clone());
        // Rows that have a block each, but are of one test.
        let is_part = ["SUBFAIL", "failed subtest"].iter().any(|word| line.text.contains(word));
        let is_again = is_part || line.text.starts_with("ERROR ");
        if !is_new && !is_again || cases.len() >= MAX_MATCHED {
            continue;
        }
        // `tests/a.py::T::test_x` has the heading `T.test_x`, and a second one where its tear-down fails.
        let dotted = id.replace("::", ".");
        let own = reports.iter_mut().filter(|report| {
            let rest = dotted.strip_suffix(&report.dotted);
            // The report of a process that crashed has the file for a title.
            let is_inside = report.title.ends_with(".py") && report.case.block.contains(&at);
            !report.is_used
                && (is_inside
                    || rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', '/', ' '])))
        });
        let report = own.min_by_key(|report| (report.is_teardown, Reverse(report.title.len())));
        let mut case = Case::new("pytest", id.clone(), at);
        if let Some(report) = report {
            report.is_used = true;
            case = report.case.clone();
        }
        if is_new {
            let file = id.split("::").next().unwrap_or(&id).to_owned();
            case.place = case.place.or(Some((file, None)));
            let has_message = line.text.contains(" - ");
            case.cause = case.cause.or(has_message.then_some(at));
            case.name = Some(id);
            cases.push(case);
        }
    }
    // Old releases and `-rN` print no summary: the headings name the tests.
    for report in reports {
        if !report.is_used && seen.insert(report.title.clone()) {
            cases.push(Case {
                name: Some(report.title),
                ..report.case
            });
        }
    }
    cases
}

fn row_id(line: &Line<'_>) -> Option<String> {
    let text = line.text.as_ref();
    let says = ["FAILED", "ERROR", "SUBFAIL", "crashed while running"];
    if line.captured || !says.iter().any(|word| text.contains(word)) {
        return None;
    }
    let found = ROW.captures(text)?;
    if let Some(id) = found.get(1).map(|id| id.as_str()) {
        // The message follows the first ` - ` that is not inside a parameter's brackets.
        let from = id.find("] - ").map_or(0, |at| at + 1);
        let rest = id.get(from..).unwrap_or_default();
        let end = rest.find(" - ").map_or(id.len(), |at| from + at);
        return Some(id[..end].trim_end().to_owned());
    }
    let id = found.iter().skip(2).flatten().next()?.as_str().trim();
    // A test that another file defines: `a.py::test <- b.py`.
    Some(id.split_once(" <- ").map_or(id, |(id, _)| id).to_owned())
}

fn read_reports(lines: &[Line<'_>]) -> Vec<Report> {
    // Headings with their titles, and the rules that end a part of the reports.
    let mut borders: Vec<(usize, Option<String>)> = Vec::new();
    let mut inside = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        // Where the log is cut above it, such a heading opens the reports.
        let mut block = lines_below(lines, at, MAX_BLOCK);
        let is_heading = text.starts_with("__") && text.ends_with("____");
        inside |= is_heading && block.any(|text| text.starts_with("E  "))
            || text.starts_with('_') && text.contains("_ ERROR collecting ");
        if text.starts_with("====") {
            inside = text.contains(" FAILURES ") || text.contains(" ERRORS ");
            borders.push((at, None));
        } else if inside
            && text.starts_with('_')
            && let Some(found) = HEADING.captures(text)
        {
            borders.push((at, Some(found[1].to_owned())));
        }
    }
    let ends = borders.iter().skip(1).map(|border| border.0);
    let ends: Vec<usize> = ends.chain([lines.len()]).collect();
    let parts = borders.into_iter().zip(ends);
    let reports = parts.filter_map(|((from, title), to)| {
        let title = title?;
        let starts = [
            "ERROR at setup of ", "ERROR at teardown of ", "ERROR collecting ", "[doctest] ",
        ];
        let bare = starts.iter().find_map(|start| title.strip_prefix(start));
        let bare = bare.unwrap_or(&title).to_owned();
        Some(Report {
            dotted: SUBTEST.replace(&bare, "").replace("::", "."),
            title: bare,
            is_teardown: title.starts_with("ERROR at teardown of "),
            is_used: false,
            case: read_report(from, to, lines),
        })
    });
    reports.take(MAX_MATCHED).collect()
}

// In a chain of exceptions, the last traceback is that of the test, and the last block of `E` lines its error. An `E`
// line of any length continues its block: a message may hold empty lines.
fn read_report(from: usize, to: usize, lines: &[Line<'_>]) -> Case {
    let mut case = Case::new("pytest", "", from);
    case.block = from + 1..to;
    let (mut in_error, mut raised) = (false, None);
    let mut shows_source = false;
    for (at, line) in lines.iter().enumerate().take(to).skip(from + 1) {
        if line.captured {
            continue;
        }
        let text = line.text.as_ref();
        case.place.take_if(|_| LINK.is_match(text));
        let is_error = text == "E" || text.starts_with("E ");
        let says = is_error && text.len() > 4;
        if says && !in_error {
            case.cause = Some(at);
            shows_source = text[1..].trim_start().starts_with("File \"");
        } else if says && shows_source && RAISED.is_match(text) {
            // An exception's own line says more than the source above it.
            case.cause = Some(at);
            shows_source = false;
        }
        in_error = is_error && (says || in_error) || in_error && text.trim().is_empty();
        // The place of a syntax error is part of its message.
        let source = text.strip_prefix('E').filter(|_| shows_source);
        if let Some(frame) = report_frame(source.unwrap_or(text)) {
            case.add_frame(frame, false);
        }
        if RAISED.is_match(text) || text.ends_with(": DocTestFailure") {
            raised = Some(at);
            // The first exception of an exception group.
            if text.starts_with(' ') {
                break;
            }
        }
    }
    // Without a traceback the block is the message alone.
    let mut block = (from + 1..to).filter(|at| !lines[*at].captured);
    let cause = case.cause.or(raised);
    case.cause = cause.or_else(|| block.find(|at| !lines[*at].text.trim().is_empty()));
    case
}
