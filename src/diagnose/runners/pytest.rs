use std::collections::HashMap;

use super::place;
use super::read::Case;
use crate::diagnose::line::Line;
use crate::runners::pattern;

pattern!(
    SUMMARY,
    r"^(?:FAILED|ERROR) ((?:[^\s:]| )+?\.py(?:::.*| - .*)?|\S+::.*)$"
);
pattern!(
    PROGRESS,
    r"^(\S+\.py::.+?) (?:FAILED|ERROR)(?:\s+\[\s*\d+%\])?\s*$"
);
pattern!(
    XDIST,
    r"^\[gw\d+\] \[\s*\d+%\] (?:FAILED|ERROR) (\S+\.py::.+)$"
);
pattern!(
    RUNNING,
    r"^(\S+\.py::[^\s\[]+(?:\[[^\]]*\])?) *(?:[+~]{5,}.*)?$"
);
// A title that fills the line has one mark on each side.
pattern!(HEADING, r"^_+ (\S*[^_\s].*?) _+$");
pattern!(AT, r"^(\S+?\.(?:pyx?|rst|txt|md)):(\d+): ?");
pattern!(
    RAISED,
    r"^(?:E\s+)?(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt|Failure|Timeout|Failed)\b"
);

/// What pytest reports, with or without its short summary.
pub(super) fn cases(lines: &[Line<'_>]) -> Vec<Case> {
    let reports = reports(lines);
    let mut by_title = by_title(&reports);
    let mut cases: Vec<Case> = Vec::new();
    let mut used = vec![false; reports.len()];
    let mut add = |test: String, at: usize, is_new: bool, used: &mut Vec<bool>| {
        let id = test.replace("::", ".");
        let mut titles: Vec<&str> = endings(&id).collect();
        titles.retain(|title| by_title.contains_key(*title));
        let unused = |title: &&&str| by_title[**title].last().is_some_and(|it| !used[*it]);
        let title = titles.iter().find(unused).or(titles.first()).copied();
        let mut case = Case::new("pytest", test, at);
        if let Some(rows) = title.and_then(|title| by_title.get_mut(title))
            && let Some(&index) = rows.last()
        {
            if rows.len() > 1 {
                rows.pop();
            }
            used[index] = true;
            case = Case {
                name: case.name,
                ..reports[index].case.clone()
            };
        }
        if case.place.is_none() {
            case.place = case
                .name
                .as_deref()
                .map(|name| (name.split("::").next().unwrap_or(name).to_owned(), None));
        }
        if case.cause.is_none()
            && let Some((_, message)) = lines[at].text.rsplit_once(" - ")
        {
            case.cause = Some(whole(message, case.at, lines).unwrap_or(at));
        }
        if is_new {
            cases.push(case);
        }
    };
    let mismatched: Vec<&str> = reports
        .iter()
        .filter(|report| report.mismatch)
        .filter_map(|report| report.title.strip_prefix("ERROR collecting "))
        .collect();
    let mut seen = std::collections::HashSet::new();
    for (at, line) in lines.iter().enumerate() {
        // Two files of one name: the layout is at fault, not the test.
        let test = summary(line).filter(|test| !mismatched.contains(&test.as_str()));
        if let Some(test) = test {
            let is_new = seen.insert(test.clone());
            let errs_too = line.text.starts_with("ERROR ") && !is_new;
            if is_new || errs_too {
                add(test, at, is_new, &mut used);
            }
        }
    }
    // Old releases and `-rN` print no summary: the headings name the tests.
    for (index, report) in reports.iter().enumerate() {
        if used[index] || report.mismatch {
            continue;
        }
        if let Some(name) = report.name()
            && seen.insert(name.clone())
        {
            cases.push(Case {
                name: Some(name),
                ..report.case.clone()
            });
        }
    }
    let is_unplaced = |case: &&mut Case| {
        let heading = lines[case.at].text.as_ref();
        heading.starts_with("FAILED ") && case.place.as_ref().is_none_or(|it| it.1.is_none())
    };
    let one_liners = one_line_each(lines);
    let unplaced: Vec<&mut Case> = cases.iter_mut().filter(is_unplaced).collect();
    if unplaced.len() == one_liners.len() {
        for (case, (at, path, line)) in unplaced.into_iter().zip(one_liners) {
            case.cause = Some(at);
            case.raise((path, line));
        }
    }
    cases.sort_by_key(|case| case.at);
    if cases.is_empty() {
        cases.extend(timed_out(lines));
    }
    cases
}

// The first of each title last, and of those the failures below the errors: a test may fail and err at its teardown,
// too.
fn by_title(reports: &[Report]) -> HashMap<String, Vec<usize>> {
    let mut by_title: HashMap<String, Vec<usize>> = HashMap::new();
    let in_order = reports.iter().enumerate().rev();
    let (errors, failures): (Vec<_>, Vec<_>) = in_order.partition(|(_, it)| it.is_teardown());
    for (index, report) in errors.into_iter().chain(failures) {
        let title = report.bare().replace("::", ".");
        by_title.entry(title).or_default().push(index);
    }
    by_title
}

// The line below a report's heading that the summary cuts to its width: without a traceback it is
// all that the report has.
fn whole(message: &str, heading: usize, lines: &[Line<'_>]) -> Option<usize> {
    let start = message.strip_prefix("Failed: ").unwrap_or(message);
    let start = start.trim_end_matches('.');
    let below = lines.get(heading + 1)?.text.as_ref();
    (start.len() > 8 && below.starts_with(start)).then_some(heading + 1)
}

// With `--tb=line` a failure is one line, `a.py:3: IndexError: ...`, in the order of the summary.
fn one_line_each(lines: &[Line<'_>]) -> Vec<(usize, String, Option<u32>)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        if text.starts_with("====") {
            inside = text.contains(" FAILURES ");
        } else if inside
            && let Some(place) = AT.captures(text)
            && !text[place[0].len()..].trim().is_empty()
        {
            found.push((at, place[1].to_owned(), place[2].parse().ok()));
        } else if inside && text.starts_with("____") {
            return Vec::new();
        }
    }
    found
}

fn summary(line: &Line<'_>) -> Option<String> {
    let text = line.text.as_ref();
    if line.captured || !(text.contains("FAILED") || text.contains("ERROR")) {
        return None;
    }
    if let Some(found) = SUMMARY.captures(text) {
        let id = &found[1];
        // The message follows the first ` - ` that is not inside a parameter's brackets.
        let from = if id.contains('[') {
            id.find("] - ").map_or(0, |at| at + 1)
        } else {
            0
        };
        let end = id[from..].find(" - ").map_or(id.len(), |at| from + at);
        return Some(id[..end].trim_end().to_owned());
    }
    let found = PROGRESS.captures(text).or_else(|| XDIST.captures(text))?;
    let id = found[1].trim();
    // A test that another file defines: `a.py::test <- b.py`.
    Some(id.split_once(" <- ").map_or(id, |(id, _)| id).to_owned())
}

/// The part between a heading of `FAILURES` or `ERRORS` and the next.
struct Report {
    title: String,
    // What it says of its test.
    case: Case,
    mismatch: bool,
}

impl Report {
    fn is_teardown(&self) -> bool {
        self.title.starts_with("ERROR at teardown of ")
    }

    fn bare(&self) -> &str {
        let title = self.title.as_str();
        [
            "ERROR at setup of ",
            "ERROR at teardown of ",
            "ERROR collecting ",
            "[doctest] ",
        ]
        .iter()
        .find_map(|start| title.strip_prefix(start))
        .unwrap_or(title)
    }

    fn name(&self) -> Option<String> {
        if self.title.starts_with("[doctest] ") {
            return Some(self.title.clone());
        }
        let is_test = !self.title.contains("summary");
        let names = is_test || self.title.starts_with("ERROR collecting ");
        names.then(|| self.bare().to_owned())
    }
}

// The whole id and the few ends of it that a heading may name, the longest first.
fn endings(id: &str) -> impl Iterator<Item = &str> {
    let bare = &id[..id.find('[').unwrap_or(id.len())];
    let mut starts: Vec<usize> = bare
        .rmatch_indices(['.', '/', ' '])
        .map(|(at, _)| at + 1)
        .take(8)
        .collect();
    starts.push(0);
    starts.reverse();
    starts.into_iter().map(|at| &id[at..])
}

fn reports(lines: &[Line<'_>]) -> Vec<Report> {
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
    let reports = parts.filter_map(|((from, title), to)| Some(report(title?, from, to, lines)));
    reports.collect()
}

fn report(title: String, from: usize, to: usize, lines: &[Line<'_>]) -> Report {
    let mut case = Case::new("pytest", "", from);
    let mut before = false;
    let mut raised = None;
    let mut mismatch = false;
    let mut shows_source = false;
    for (at, line) in lines.iter().enumerate().take(to).skip(from + 1) {
        let text = line.text.as_ref();
        mismatch |= text.starts_with("import file mismatch");
        if line.captured {
            continue;
        }
        // Of a chain of exceptions the last block of `E` lines is what the test died of; in it an
        // exception's own line says more than the source above it.
        let error = text.starts_with("E ") && text.len() > 4;
        if error && !before {
            case.cause = Some(at);
            shows_source = text[1..].trim_start().starts_with("File \"");
        } else if error && shows_source && RAISED.is_match(text) {
            case.cause = Some(at);
            shows_source = false;
        }
        before = error || (before && text.trim().is_empty());
        let found = text.contains(':').then(|| AT.captures(text)).flatten();
        let frame = found.map(|found| (found[1].to_owned(), found[2].parse().ok()));
        if let Some(frame) = frame.or_else(|| place::python_frame(text)) {
            case.add_frame(frame, false);
        }
        if RAISED.is_match(text) || text.ends_with(": DocTestFailure") {
            raised = Some(at);
        }
    }
    case.cause = case.cause.or(raised);
    Report {
        title,
        case,
        mismatch,
    }
}

// The thread method of pytest-timeout ends the process: the test that had begun is the one.
fn timed_out(lines: &[Line<'_>]) -> Option<Case> {
    pattern!(
        FRAME,
        r#"File "([^"]*\btest_?[^"/\\]*\.py)", line (\d+), in (test\w*)"#
    );
    let dump = lines
        .iter()
        .position(|line| line.text.contains("+++ Timeout +++"))?;
    let started = lines[..dump].iter().rev().find_map(|line| {
        line.text
            .contains(".py::")
            .then(|| RUNNING.captures(&line.text))
            .flatten()
    });
    if let Some(found) = started {
        return Some(Case {
            cause: Some(dump),
            ..Case::new("pytest", &found[1], dump)
        });
    }
    lines.iter().find_map(|line| {
        let found = FRAME.captures(&line.text)?;
        let file = place::relative(&found[1]);
        let name = format!("{file}::{}", &found[3]);
        Some(Case {
            cause: Some(dump),
            place: Some((file, found[2].parse().ok())),
            ..Case::new("pytest", name, dump)
        })
    })
}
