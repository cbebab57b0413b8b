//! Reads the output of runners by the rows of `table.toml`.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Captures;
use serde::Deserialize;

use super::case::{Case, Place, first_script_frame, is_installed, python_frame, relative_path};
use crate::diagnose::line::{Line, lines_above, lines_below};
use crate::model::parse_rows;
use crate::runners::{Cues, Pattern, pattern};

/// How one runner names a test that failed; `table.toml` explains the fields.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Row {
    runner: String,
    has: String,
    below: usize,
    line: Pattern,
    is_status: bool,
    is_any: bool,
    // Where the line counts.
    #[serde(rename = "after")]
    opened_by: Option<Pattern>,
    among: Vec<Pattern>,
    before: Option<Pattern>,
    next: Option<Pattern>,
    unless: Option<Pattern>,
    holds: Option<Pattern>,
    not: Option<Pattern>,
    // Whose test it is.
    under: Option<Pattern>,
    parents: Option<String>,
    is_file: bool,
    goes_on: bool,
    // Its failure block.
    begin: Option<Pattern>,
    has_heading: bool,
    shared: Option<Pattern>,
    end: Option<Pattern>,
    // What it says.
    causes: Vec<Pattern>,
    error: Option<Pattern>,
    within: Option<usize>,
    #[serde(rename = "at")]
    error_offset: Option<usize>,
    place: Option<Pattern>,
    frame: Option<FrameRole>,
    stack: Option<Pattern>,
    is_python: bool,
}

// What the first own frame of the stack in a block is.
#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum FrameRole {
    Place,
    Raised,
}

static ROWS: LazyLock<Vec<Row>> =
    LazyLock::new(|| parse_rows(embedded!("diagnose/runners/table.toml")));

// How many lines of a block, and above a line, are read.
pub(super) const MAX_BLOCK: usize = 60;
const PARENTS: usize = 400;
// Status rows of one runner. Bounded, because a suite that fails as a whole has thousands.
const MAX_STATUS_ROWS: usize = 300;

// Words that are in the lines of each row.
static WORDS: LazyLock<Cues> =
    LazyLock::new(|| ROWS.iter().map(|row| row.has.as_str()).zip(0..).collect());

/// The rows of the table, each with the lines that have its word.
pub(super) type Candidates = Vec<(&'static Row, Vec<usize>)>;

/// Finds the lines that each row of the table may read.
pub(super) fn find_candidates(lines: &[Line<'_>]) -> Candidates {
    let mut found: Candidates = ROWS.iter().map(|row| (row, Vec::new())).collect();
    for (at, line) in lines.iter().enumerate() {
        for row in WORDS.rows(&line.text) {
            let (row, own) = &mut found[row];
            let at = at + row.below;
            if own.last() != Some(&at) && at < lines.len() {
                own.push(at);
            }
        }
    }
    found
}

/// Returns the tests that failure blocks name, each line read by the first row that can.
pub(super) fn table_blocks(lines: &[Line<'_>], candidates: &Candidates) -> Vec<Case> {
    let own = candidates.iter().filter(|(row, _)| !row.is_status);
    let mut cases: Vec<Case> = own.flat_map(|(row, at)| row.find_cases(lines, at)).collect();
    let mut read = HashSet::new();
    cases.retain(|case| read.insert(case.at));
    cases
}

/// Returns the tests that rows of results name, of known runners or of any other, unless a later row says that they
/// passed.
pub(super) fn status_rows(lines: &[Line<'_>], candidates: &Candidates, is_any: bool) -> Vec<Case> {
    let own = candidates.iter().filter(|(row, _)| row.is_status && row.is_any == is_any);
    let cases =
        own.flat_map(|(row, at)| row.find_cases(lines, at).into_iter().take(MAX_STATUS_ROWS));
    // Once for all rows, of which a suite that fails as a whole has thousands.
    let passed = LazyCell::new(|| {
        let passed = (0..lines.len())
            .filter(|at| lines[*at].quiet && lines[*at].text.contains(['✓', '✔', '√']));
        passed.collect::<Vec<usize>>()
    });
    cases.filter(|case| !is_no_failure(case, lines, &passed)).collect()
}

// Whether the test passes later, or is a suite, which node:test closes with a row as it does a test.
fn is_no_failure(case: &Case, lines: &[Line<'_>], passed: &[usize]) -> bool {
    let name = case.name.as_deref().unwrap_or_default();
    let mut above = lines_above(lines, case.at, PARENTS);
    let mut later = passed.iter().rev().take_while(|at| **at > case.at);
    above.any(|text| text.trim_start().strip_prefix("▶ ") == Some(name))
        || later.any(|at| lines[*at].text.contains(name))
}

impl Row {
    fn find_cases(&'static self, lines: &[Line<'_>], candidates: &[usize]) -> Vec<Case> {
        // Most logs are of another runner: they need not be read for where its list opens.
        let from = LazyCell::new(|| {
            let first = |like: &Pattern| lines.iter().position(|line| like.finds(&line.text));
            let is_among = self.among.iter().all(|like| first(like).is_some());
            let from = self.opened_by.as_ref().map_or(Some(0), first).filter(|_| is_among);
            from.unwrap_or(lines.len())
        });
        let mut cases: Vec<Case> = Vec::new();
        for &at in candidates {
            let line = &lines[at];
            // To ask whether it matches costs less than to ask where.
            let is_out = line.captured || line.claimed || line.quiet;
            if is_out || !self.line.finds(&line.text) {
                continue;
            }
            let Some(found) = self.line.get().captures(&line.text) else {
                continue;
            };
            if at < *from || !self.counts_at(lines, at) {
                continue;
            }
            let name = found.name("name").map_or("", |name| name.as_str());
            let title = self.goes_on.then(|| read_title(lines, at, name));
            let block = self.block_range(lines, at, name);
            let block = title.as_ref().map_or(block.start, |title| title.1)..block.end;
            let says = |like: &Pattern| block.clone().any(|at| like.finds(&lines[at].text));
            if self.unless.as_ref().is_some_and(says) || !self.holds.as_ref().is_none_or(says) {
                continue;
            }
            let mut case = self.build_case(&found, at, block, lines);
            case.name = title.map(|title| title.0).or(case.name);
            cases.push(case);
        }
        cases
    }

    fn counts_at(&self, lines: &[Line<'_>], at: usize) -> bool {
        let (mut below, mut above) = (lines_below(lines, at + 1, 1), lines_above(lines, at, 2));
        !self.not.as_ref().is_some_and(|not| not.finds(&lines[at].text))
            && self.next.as_ref().is_none_or(|next| below.any(|text| next.finds(text)))
            && self.before.as_ref().is_none_or(|before| above.any(|text| before.finds(text)))
    }

    // The lines of a report, up to what ends it.
    fn block_range(&self, lines: &[Line<'_>], at: usize, name: &str) -> Range<usize> {
        let position = |from: usize, most: usize, finds: &dyn Fn(&str) -> bool| {
            let found = lines_below(lines, from, most).position(finds);
            found.map_or(at + 1, |offset| from + offset + 1)
        };
        let mut from = at + 1;
        if self.has_heading {
            from = position(at + 1, lines.len(), &|text| text.trim() == name);
        }
        if let Some(begin) = &self.begin {
            from = position(at + 1, 8, &|text| begin.finds(text));
        }
        if let Some(shared) = &self.shared {
            from += lines_below(lines, from, MAX_STATUS_ROWS)
                .take_while(|text| shared.finds(text))
                .count();
        }
        let end = self.end.as_ref().unwrap_or(&self.line);
        let most = if self.is_python { 2000 } else { MAX_BLOCK };
        let last = lines.len().min(from + most);
        from..(from..last).find(|at| end.finds(&lines[*at].text)).unwrap_or(last)
    }

    fn build_case(
        &'static self,
        found: &Captures<'_>,
        at: usize,
        block: Range<usize>,
        lines: &[Line<'_>],
    ) -> Case {
        let under = self.under.as_ref().and_then(|under| {
            let mut above = lines_above(lines, at, PARENTS).rev();
            above.find_map(|text| find_place(&under.get().captures(text)?))
        });
        let mut case = Case {
            block: block.clone(),
            ..Case::new(&self.runner, self.case_name(found, at, lines), at)
        };
        if found.name("name").is_none() {
            case.is_whole_file = true;
            let file = under.clone().or_else(|| find_place(found));
            case.name = file.map(|place| relative_path(&place.0));
        }
        if self.is_python {
            read_traceback(&mut case, block, lines);
            return case;
        }
        // Above the row an error is at most as far as the output of one test.
        let error = self.error.as_ref().map(|error| {
            let from = at.saturating_sub(40);
            let offset = lines[from..at].iter().rposition(|line| error.finds(&line.text));
            offset.map(|offset| from + offset)
        });
        let cause = self.causes.iter().find_map(|like| self.find_near(like, &block, lines));
        let of_cause = cause.as_ref().and_then(|cause| cause.1.clone());
        let place = find_place(found).or(of_cause);
        let place = place.or_else(|| self.find_near(self.place.as_ref()?, &block, lines)?.1);
        case.place = place.or(under);
        let usual = if self.has_heading {
            block.start - 1
        } else {
            at + self.error_offset.unwrap_or(1)
        };
        let usual = error.unwrap_or((usual < lines.len()).then_some(usual));
        case.cause = cause.map(|cause| below_mark(lines, cause.0)).or(usual);
        self.set_frame(&mut case, error, block, lines);
        case
    }

    // The first line of a block, near its top, that a pattern finds, and the place that the line names.
    fn find_near(
        &self,
        like: &Pattern,
        block: &Range<usize>,
        lines: &[Line<'_>],
    ) -> Option<(usize, Option<Place>)> {
        let near = block.clone().take(self.within.unwrap_or(30));
        let mut near = near.filter(|at| !COUNTED.is_match(&lines[*at].text));
        near.find_map(|at| Some((at, find_place(&like.get().captures(&lines[at].text)?))))
    }

    // The first own frame of the stack; with `error` that of the lines above the row.
    fn set_frame(
        &self,
        case: &mut Case,
        error: Option<Option<usize>>,
        block: Range<usize>,
        lines: &[Line<'_>],
    ) {
        let frame = match (error, &self.stack) {
            (Some(from), _) => first_script_frame(lines, from.unwrap_or(case.at)..case.at),
            (None, Some(stack)) => block
                .filter_map(|at| find_place(&stack.get().captures(&lines[at].text)?))
                .find(|place| !is_installed(&place.0)),
            (None, None) => first_script_frame(lines, block),
        };
        match (&self.frame, frame) {
            (Some(FrameRole::Place), Some(frame)) if case.place.is_none() => {
                case.place = Some(frame);
            }
            (Some(FrameRole::Raised), Some(frame)) => case.set_raised(frame),
            _ => {}
        }
    }

    // The test as its runner spells it, with the suites above it where rows show a tree.
    fn case_name(&self, found: &Captures<'_>, at: usize, lines: &[Line<'_>]) -> String {
        let name = found.name("name").map_or("", |name| name.as_str().trim());
        if self.is_python {
            return python_name(name);
        }
        if self.is_file {
            return relative_path(name);
        }
        let Some(separator) = &self.parents else {
            return name.to_owned();
        };
        let indent = |text: &str| text.len() - text.trim_start().len();
        let mut column = indent(&lines[at].text);
        let mut parts = vec![name];
        for text in lines_above(lines, at, PARENTS).rev() {
            if column == 0 || parts.len() > 8 {
                break;
            }
            let own = indent(text);
            if text.trim().is_empty() || own >= column {
                continue;
            }
            let is_file = self.under.as_ref().is_some_and(|under| under.finds(text));
            if is_file || own == 0 {
                break;
            }
            column = own;
            parts.push(text.trim().trim_start_matches("▶ "));
        }
        parts.reverse();
        parts.join(separator)
    }
}

// A title that goes on over deeper lines up to a colon, and where its block begins.
fn read_title(lines: &[Line<'_>], at: usize, first: &str) -> (String, usize) {
    let mut title = first.trim().to_owned();
    // Lines over which a title may go on: a suite in a suite each takes one.
    for (index, text) in (at + 1..).zip(lines_below(lines, at + 1, 16)) {
        // An error is indented by five or six columns, a deeper title by at least seven.
        let is_deep = text.starts_with("       ") && !text.trim().is_empty();
        if title.ends_with(':') && !is_deep {
            return (title.trim_end_matches(':').trim().to_owned(), index);
        }
        format!("{title} {}", text.trim()).trim().clone_into(&mut title);
    }
    (first.trim().to_owned(), at + 1)
}

fn find_place(found: &Captures<'_>) -> Option<Place> {
    let path = found.name("path")?.as_str().to_owned();
    let line = found.name("line").and_then(|line| line.as_str().parse().ok());
    Some((path, line))
}

// `test_x (shop.tests.T.test_x)` is `shop.tests.T.test_x`; a file that did not load has its own name.
fn python_name(title: &str) -> String {
    pattern!(METHOD, r"^([\w.]+) \(([\w.]+)\)");
    let Some(found) = METHOD.captures(title) else {
        return title.to_owned();
    };
    let (method, owner) = (&found[1], &found[2]);
    if owner.contains("loader._FailedTest") || owner.contains("loader.ModuleImportFailure") {
        method.to_owned()
    } else if owner.rsplit('.').next() == Some(method) {
        owner.to_owned()
    } else {
        format!("{method} ({owner})")
    }
}

// The last exception of a traceback is what the test died of.
fn read_traceback(case: &mut Case, block: Range<usize>, lines: &[Line<'_>]) {
    pattern!(RAISED, r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:: |$)");
    for at in block {
        let text = lines[at].text.as_ref();
        if let Some(frame) = python_frame(text) {
            case.add_frame(frame, true);
        }
        if RAISED.is_match(text) && !text.starts_with("Traceback") {
            case.cause = Some(at);
        }
    }
}

// Counts of files and rows of results that the other stream put into a block.
pattern!(
    COUNTED,
    r"^\s*(?:Test Files |[✓✔❯↓×] (?:\|[^|]+\| )?\S+\.[cm]?[jt]sx?(?: \[[^\]]*\])? \(\d+ tests?\b.*\))"
);

// The text of a YAML block is below its mark.
fn below_mark(lines: &[Line<'_>], at: usize) -> usize {
    let is_block = lines[at].text.ends_with(": |-") || lines[at].text.ends_with(": >-");
    let below = (at + 1..lines.len()).take(4).find(|at| !lines[*at].text.trim().is_empty());
    below.filter(|_| is_block).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::{find_candidates, table_blocks};
    use crate::diagnose::normalise::lines;

    #[test]
    fn titles_of_every_release() {
        for (log, names) in [
            (
                "  1 failing\n\n  1) Net\n       pings:\n     Error: x",
                vec!["Net pings"],
            ),
            (
                "  2 failing\n\n  1) Net pings:\n     Error: x\n\n  2) Net\n       deep\n         pongs:\n\n      AssertionError: y",
                vec!["Net pings", "Net deep pongs"],
            ),
            (
                "  1 failing\n\n  1) \n       \n         a:: b\n           c:\n     Error: x",
                vec!["a:: b c"],
            ),
            (
                "  1 failing\n  1) A \"before all\" hook:\n     Error: x",
                vec!["A \"before all\" hook"],
            ),
            ("  1) not in a list\n", vec![]),
        ] {
            let lines = lines(log);
            let found = table_blocks(&lines, &find_candidates(&lines));
            let found: Vec<&str> = found.iter().filter_map(|case| case.name.as_deref()).collect();
            assert_eq!(found, names, "{log}");
        }
    }
}
