use std::collections::{HashMap, HashSet};

use super::case::{Case, Place, python_frame, relative};
use crate::diagnose::line::Line;
use crate::runners::pattern;

// `FAILED tests/a.py::test_x - assert 1 == 2` of the summary, `tests/a.py::test_x FAILED [ 50%]` of `-v`, and the
// same of xdist: https://docs.pytest.org/en/stable/how-to/output.html.
pattern!(
    ROW,
    concat!(
        r"^(?:FAILED|ERROR) ((?:[^\s:]| )+?\.py(?:::.*| - .*)?|\S+::.*)$",
        r"|^(\S+\.py::.+?) (?:FAILED|ERROR)(?:\s+\[\s*\d+%\])?\s*$",
        r"|^\[gw\d+\] \[\s*\d+%\] (?:FAILED|ERROR) (\S+\.py::.+)$"
    )
);
// A title that fills the line has one mark on each side.
pattern!(HEADING, r"^_+ (\S*[^_\s].*?) _+$");
pattern!(PLACE, r"^(\S+?\.(?:pyx?|rst|txt|md)):(\d+): ?");
pattern!(
    RAISED,
    r"^(?:E\s+)?(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt|Failure|Timeout|Failed)\b"
);

/// A block of `FAILURES` or `ERRORS`.
struct Report {
    title: String,
    case: Case,
    // Two test files of one name: the layout is at fault, not a test.
    has_mismatch: bool,
}

/// Returns what pytest reports: rows of its summary and of `-v`, each with its block, then blocks that
/// no row names.
pub(super) fn cases(lines: &[Line<'_>]) -> Vec<Case> {
    let mut reports = read_reports(lines);
    let mut by_title = index_by_title(&reports);
    let mut used = vec![false; reports.len()];
    let mut cases = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mismatched = |id: &str, reports: &[Report]| {
        let own = |report: &Report| report.has_mismatch && report.bare_title() == id;
        reports.iter().any(own)
    };
    for (at, line) in lines.iter().enumerate() {
        let Some(id) = row_id(line).filter(|id| !mismatched(id, &reports)) else {
            continue;
        };
        let is_new = seen.insert(id.clone());
        if !is_new && !line.text.starts_with("ERROR ") {
            continue;
        }
        let report = take_report(&id, &mut by_title, &used);
        if let Some(index) = report {
            used[index] = true;
        }
        if is_new {
            let report = report.map(|index| &reports[index].case);
            cases.push(case_of_row(id, at, report, lines));
        }
    }
    // Old releases and `-rN` print no summary: the headings name the tests.
    for (report, used) in reports.iter_mut().zip(used) {
        if used || report.has_mismatch {
            continue;
        }
        if let Some(name) = report.test_name().filter(|name| seen.insert(name.clone())) {
            report.case.name = Some(name);
            cases.push(std::mem::take(&mut report.case));
        }
    }
    if cases.is_empty() {
        cases.extend(hanging_test(lines));
    }
    cases
}

fn row_id(line: &Line<'_>) -> Option<String> {
    let text = line.text.as_ref();
    if line.captured || !(text.contains("FAILED") || text.contains("ERROR")) {
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
    let id = found.get(2).or_else(|| found.get(3))?.as_str().trim();
    // A test that another file defines: `a.py::test <- b.py`.
    Some(id.split_once(" <- ").map_or(id, |(id, _)| id).to_owned())
}

// The first report of each title last; those of teardowns after the failures of the same test.
fn index_by_title(reports: &[Report]) -> HashMap<String, Vec<usize>> {
    let mut by_title: HashMap<String, Vec<usize>> = HashMap::new();
    let is_teardown = |index: &usize| reports[*index].title.starts_with("ERROR at teardown of ");
    let (last, first): (Vec<_>, Vec<_>) = (0..reports.len()).rev().partition(is_teardown);
    for index in last.into_iter().chain(first) {
        let title = reports[index].bare_title().replace("::", ".");
        by_title.entry(title).or_default().push(index);
    }
    by_title
}

// The next report whose heading is an ending of the id: `tests/a.py::T::test_x` has `T.test_x`.
fn take_report(
    id: &str,
    by_title: &mut HashMap<String, Vec<usize>>,
    used: &[bool],
) -> Option<usize> {
    const MAX_PARTS: usize = 8;
    let id = id.replace("::", ".");
    let bare = &id[..id.find('[').unwrap_or(id.len())];
    let ends = bare.rmatch_indices(['.', '/', ' ']).map(|(at, _)| at + 1);
    let mut starts: Vec<usize> = ends.take(MAX_PARTS).chain([0]).collect();
    starts.sort_unstable();
    let titles = || starts.iter().map(|at| &id[*at..]);
    let last = |title: &str| by_title.get(title)?.last().copied();
    let is_unused = |title: &&str| last(title).is_some_and(|index| !used[index]);
    let title = titles()
        .find(is_unused)
        .or_else(|| titles().find(|title| last(title).is_some()))?;
    let rows = by_title.get_mut(title)?;
    if rows.len() > 1 {
        rows.pop()
    } else {
        rows.last().copied()
    }
}

fn case_of_row(id: String, at: usize, report: Option<&Case>, lines: &[Line<'_>]) -> Case {
    let file = id.split("::").next().unwrap_or(&id).to_owned();
    let own = Case::new("pytest", id.clone(), at);
    let mut case = report.cloned().unwrap_or(own);
    case.name = Some(id);
    case.place = case.place.or(Some((file, None)));
    let has_message = lines[at].text.contains(" - ");
    case.cause = case.cause.or(has_message.then_some(at));
    case
}

impl Report {
    fn bare_title(&self) -> &str {
        let starts = [
            "ERROR at setup of ",
            "ERROR at teardown of ",
            "ERROR collecting ",
            "[doctest] ",
        ];
        let title = self.title.as_str();
        let bare = starts.iter().find_map(|start| title.strip_prefix(start));
        bare.unwrap_or(title)
    }

    fn test_name(&self) -> Option<String> {
        if self.title.starts_with("[doctest] ") {
            return Some(self.title.clone());
        }
        let is_test =
            !self.title.contains("summary") || self.title.starts_with("ERROR collecting ");
        is_test.then(|| self.bare_title().to_owned())
    }
}

fn read_reports(lines: &[Line<'_>]) -> Vec<Report> {
    // Headings with their titles, and the rules that end a part of the reports.
    let mut borders: Vec<(usize, Option<String>)> = Vec::new();
    let mut inside = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
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
    let reports =
        parts.filter_map(|((from, title), to)| Some(read_report(title?, from, to, lines)));
    reports.collect()
}

// Of a chain of exceptions the last block of `E` lines is what the test died of. An `E` line of any
// length continues its block: a message may hold empty lines.
fn read_report(title: String, from: usize, to: usize, lines: &[Line<'_>]) -> Report {
    let mut case = Case::new("pytest", "", from);
    case.block = from + 1..to;
    let mut in_error = false;
    let mut raised = None;
    let mut has_mismatch = false;
    let mut shows_source = false;
    for (at, line) in lines.iter().enumerate().take(to).skip(from + 1) {
        let text = line.text.as_ref();
        has_mismatch |= text.starts_with("import file mismatch");
        if line.captured {
            continue;
        }
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
        if let Some(frame) = frame_of(text) {
            case.add_frame(frame, false);
        }
        if RAISED.is_match(text) || text.ends_with(": DocTestFailure") {
            raised = Some(at);
        }
    }
    // Without a traceback the block is the message alone.
    let is_said = |at: &usize| !lines[*at].captured && !lines[*at].text.trim().is_empty();
    case.cause = case
        .cause
        .or(raised)
        .or_else(|| (from + 1..to).find(is_said));
    Report {
        title,
        case,
        has_mismatch,
    }
}

fn frame_of(text: &str) -> Option<Place> {
    let place = || {
        let found = PLACE.captures(text)?;
        Some((found[1].to_owned(), found[2].parse().ok()))
    };
    let place = text.contains(':').then(place).flatten();
    place.or_else(|| python_frame(text))
}

// pytest-timeout's thread method ends the process: the last test that had begun hangs.
fn hanging_test(lines: &[Line<'_>]) -> Option<Case> {
    pattern!(
        BEGUN,
        r#"^(?P<id>\S+\.py::[^\s\[]+(?:\[[^\]]*\])?) *(?:[+~]{5,}.*)?$|File "(?P<path>[^"]*\btest_?[^"/\\]*\.py)", line (?P<line>\d+), in (?P<name>test\w*)"#
    );
    let dump = lines
        .iter()
        .position(|line| line.text.contains("+++ Timeout +++"))?;
    let begun = |line: &Line<'_>| {
        let found = line
            .text
            .contains(".py")
            .then(|| BEGUN.captures(&line.text))??;
        let Some(path) = found.name("path") else {
            return Some(Case::new("pytest", &found["id"], dump));
        };
        let file = relative(path.as_str());
        Some(Case {
            place: Some((file.clone(), found["line"].parse().ok())),
            ..Case::new("pytest", format!("{file}::{}", &found["name"]), dump)
        })
    };
    let before = lines[..dump].iter().rev().find_map(begun);
    let mut case = before.or_else(|| lines[dump..].iter().find_map(begun))?;
    case.cause = Some(dump);
    Some(case)
}
