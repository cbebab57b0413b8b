use std::cell::LazyCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Captures;
use serde::Deserialize;

use super::place;
use super::read::{Case, first_from, headings};
use crate::diagnose::line::Line;
use crate::runners::{Pattern, pattern, rows};

/// A word of each row, without which it finds nothing.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.has.as_str())
}

/// Failing tests of runners that name each in a line of its own, by the rows of a table.
pub(super) fn cases(lines: &[Line<'_>]) -> Vec<Case> {
    let (again, plain): (Vec<&'static Row>, Vec<&'static Row>) =
        ROWS.iter().partition(|row| row.again);
    let mut cases: Vec<Case> = plain.iter().flat_map(|row| row.cases(lines)).collect();
    for more in again.iter().flat_map(|row| row.cases(lines)) {
        let same = |case: &&mut Case| case.runner == more.runner && case.name == more.name;
        if let Some(case) = cases.iter_mut().find(same).filter(|_| more.place.is_some()) {
            case.cause = more.cause;
            case.place = more.place;
            case.frames = more.frames;
        }
    }
    cases
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    runner: String,
    has: String,
    line: Pattern,
    after: Option<Pattern>,
    next: Option<Pattern>,
    above: Option<Pattern>,
    #[serde(default)]
    file: bool,
    #[serde(default)]
    heading: bool,
    #[serde(default)]
    causes: Vec<Pattern>,
    error: Option<Pattern>,
    within: Option<usize>,
    at: Option<usize>,
    place: Option<Pattern>,
    frame: Option<Frame>,
    stack: Option<Pattern>,
    end: Option<Pattern>,
    gap: Option<usize>,
    unless: Option<Pattern>,
    exit: Option<Pattern>,
    #[serde(default)]
    again: bool,
    parts: Option<String>,
    #[serde(rename = "seen")]
    _seen: String,
}

// What the first own frame of the stack below is.
#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Frame {
    Place,
    Raised,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| rows(embedded!("diagnose/runners/listed.toml")));

// Lines of a report that are looked at.
const LONGEST: usize = 60;
const WITHIN: usize = 30;
const ABOVE: usize = 40;

impl Row {
    fn cases(&'static self, lines: &[Line<'_>]) -> Vec<Case> {
        let mut cases: Vec<Case> = Vec::new();
        let mut by_name: HashMap<String, usize> = HashMap::new();
        let mut listed = self.after.is_none();
        let headed = LazyCell::new(|| headings(lines, |text| Some(text.trim())));
        for (at, line) in lines.iter().enumerate() {
            let text = line.text.as_ref();
            if !listed {
                listed = self.after.as_ref().is_some_and(|it| it.finds(text));
                continue;
            }
            if line.captured || line.quiet || !text.contains(&self.has) {
                continue;
            }
            let next = lines.get(at + 1).map_or("", |it| it.text.as_ref());
            if self.next.as_ref().is_some_and(|it| !it.finds(next)) {
                continue;
            }
            let Some(found) = self.line.get().captures(text) else {
                continue;
            };
            if by_name.contains_key(&found["name"]) {
                continue;
            }
            let heading = self
                .heading
                .then(|| first_from(&headed, &found["name"], at + 1));
            let block = self.block(heading.flatten().unwrap_or(at) + 1, lines);
            let stands = |it: &Pattern| block.clone().any(|at| it.finds(&lines[at].text));
            if !self.unless.as_ref().is_some_and(stands) {
                by_name.insert(found["name"].to_owned(), cases.len());
                cases.push(self.case(&found, at, block, lines));
            }
        }
        if let Some(parts) = &self.parts {
            let names: BTreeSet<&String> = by_name.keys().collect();
            let heads = |name: &String| {
                let start = format!("{name}{parts}");
                let mut below = names.range::<String, _>(&start..);
                below.next().is_some_and(|it| it.starts_with(&start))
            };
            cases.retain(|it| it.place.is_some() || !it.name.as_ref().is_some_and(heads));
        }
        cases
    }

    // The lines of a report, up to what ends it.
    fn block(&self, from: usize, lines: &[Line<'_>]) -> Range<usize> {
        let is_empty = |line: &Line<'_>| line.text.trim().is_empty();
        let ends = |at: &usize| {
            let next = |gap| lines.get(*at..*at + gap);
            let gap = self.gap.and_then(next);
            self.end
                .as_ref()
                .unwrap_or(&self.line)
                .finds(&lines[*at].text)
                || gap.is_some_and(|gap| gap.iter().all(is_empty))
        };
        let last = lines.len().min(from + LONGEST);
        from..(from..last).find(ends).unwrap_or(last)
    }

    fn case(
        &'static self,
        found: &Captures<'_>,
        at: usize,
        block: Range<usize>,
        lines: &[Line<'_>],
    ) -> Case {
        let error = self.error.as_ref().map(|error| {
            let from = at.saturating_sub(ABOVE);
            let offset = lines[from..at].iter().rposition(|it| error.finds(&it.text));
            offset.map(|it| from + it)
        });
        let below = if self.heading {
            block.start - 1
        } else {
            at + self.at.unwrap_or(1)
        };
        let usual = error.unwrap_or((below < lines.len()).then_some(below));
        let near = || block.clone().take(self.within.unwrap_or(WITHIN));
        let first = |like: &Pattern| {
            let mut near = near();
            near.find_map(|at| Some((at, placed(&like.get().captures(&lines[at].text)?))))
        };
        let cause = self.causes.iter().find_map(first);
        let place = self.place.as_ref().and_then(first).and_then(|it| it.1);
        let of_stack = || match (error, &self.stack) {
            (Some(from), _) => place::of_stack(lines.get(..at)?, from?, |_| false),
            (None, Some(stack)) => {
                let mut frames = block
                    .clone()
                    .filter_map(|at| placed(&stack.get().captures(&lines[at].text)?));
                frames.find(|it| !place::is_installed(&it.0))
            }
            (None, None) => place::of_stack(&lines[..block.end], below.max(at + 1), |_| false),
        };
        let before = || {
            let text = lines.get(at.checked_sub(1)?)?.text.as_ref();
            placed(&self.above.as_ref()?.get().captures(text)?)
        };
        let of_cause = cause.as_ref().and_then(|it| it.1.clone());
        let own = placed(found).or_else(before).or(of_cause).or(place);
        let name = match &found["name"] {
            name if self.file => place::relative(name),
            name => name.to_owned(),
        };
        let place_of = |frame: Frame| of_stack().filter(|_| self.frame == Some(frame));
        let cause = cause.map(|it| below_mark(lines, it.0)).or(usual);
        // Of a file whose process ended the runner says no more than its exit code.
        let is_whole = cause.is_some_and(|at| lines[at].text.contains("'test failed'"));
        let exit = self.exit.as_ref().filter(|_| is_whole).and_then(first);
        let cause = match &exit {
            Some(exit) => Some(printed(lines, at).unwrap_or(exit.0)),
            None => cause,
        };
        let mut case = Case {
            cause,
            place: own.or_else(|| place_of(Frame::Place)),
            exited: exit.is_some(),
            ..Case::new(&self.runner, name, at)
        };
        if let Some(frame) = place_of(Frame::Raised) {
            case.raise(frame);
        }
        case
    }
}

fn placed(found: &Captures<'_>) -> Option<(String, Option<u32>)> {
    let path = found.name("path")?.as_str().to_owned();
    let line = found.name("line").and_then(|it| it.as_str().parse().ok());
    Some((path, line))
}

// Several lines of text stand below their mark.
fn below_mark(lines: &[Line<'_>], at: usize) -> usize {
    let is_block = [": |-", ": >-"]
        .iter()
        .any(|it| lines[at].text.ends_with(it));
    let filled = |at: &usize| !lines[*at].text.trim().is_empty();
    let below = (at + 1..lines.len()).take(4).find(filled);
    below.filter(|_| is_block).unwrap_or(at)
}

pattern!(
    PRINTED,
    r"^# (?:error|Uncaught|[A-Z]\w*(?:Error|Exception)\b)"
);

// Of what a file wrote before its process ended, the line that says why: an error, else the first.
fn printed(lines: &[Line<'_>], point: usize) -> Option<usize> {
    const FAR: usize = 80;
    let from = point.saturating_sub(FAR);
    let is_point = |line: &Line<'_>| {
        ["ok ", "not ok ", "  ..."]
            .iter()
            .any(|it| line.text.starts_with(it))
    };
    let before = lines[from..point].iter().rposition(is_point);
    let from = before.map_or(from, |at| from + at + 1);
    let is_own = |at: &usize| {
        let comment = lines[*at].text.strip_prefix("# ");
        comment.is_some_and(|it| !it.starts_with("Subtest: ") && !it.trim().is_empty())
    };
    let own: Vec<usize> = (from..point).filter(is_own).collect();
    let is_error = |at: &&usize| PRINTED.is_match(&lines[**at].text);
    own.iter().find(is_error).or(own.first()).copied()
}
