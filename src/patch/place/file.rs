use super::diagnose::excerpt;
use super::hunk::{Found, Site, find, placed_at};
use super::placed::{MendNote, Placed};
use super::search::Work;
use crate::model::{Code, Refusal};
use crate::patch::exact::LineIndex;
use crate::patch::set::{Hunk, LineKind};
use crate::patch::text::Text;

/// What became of one hunk.
#[derive(Debug)]
pub(in crate::patch) enum Placement<'h, 'a> {
    /// It stands in the file.
    Placed(Placed<'h, 'a>),
    /// It cannot be placed.
    Failed(Refusal),
}

// After this many failures in one file only exact hunks are looked for.
const MANY_FAILURES: usize = 16;

/// Places the hunks of one file, all against the same lines.
pub(in crate::patch) fn place<'h, 'a>(
    text: &Text<'_>,
    hunks: &'h [Hunk<'a>],
    work: &Work,
) -> Vec<Placement<'h, 'a>> {
    let index = LineIndex::new(text);
    let site = Site {
        text,
        index: &index,
        work,
    };
    let mut shift = 0;
    let mut failures = 0;
    let outcomes = hunks.iter().map(|hunk| {
        let found = if failures < MANY_FAILURES {
            find(&site, hunk, shift)
        } else {
            Found::None
        };
        failures += usize::from(matches!(found, Found::None));
        shift += net(hunk);
        let outcome = settle(text, hunk, found);
        match &outcome {
            Placement::Placed(placed) => {
                tracing::debug!("hunk placed at line {}", placed.at + 1);
            }
            Placement::Failed(refusal) => {
                tracing::debug!("hunk refused, {}: {}", refusal.code, refusal.message);
            }
        }
        outcome
    });
    outcomes.collect()
}

fn settle<'h, 'a>(text: &Text<'_>, hunk: &'h Hunk<'a>, found: Found<'h, 'a>) -> Placement<'h, 'a> {
    match found {
        Found::At(placed) => Placement::Placed(placed),
        Found::Refused(refusal) => Placement::Failed(refusal),
        Found::None => Placement::Failed(missing()),
        Found::Many { at, exact, lines } => {
            let tail = hunk.lines.len() - lines.min(hunk.lines.len());
            let narrowed = exact.then(|| narrow(text, hunk, &at)).flatten();
            narrowed.map_or_else(
                || Placement::Failed(ambiguous(text, &at, lines)),
                |(at, mend)| {
                    let mut placed = placed_at(hunk, at, tail);
                    placed.mends.push(mend);
                    Placement::Placed(placed)
                },
            )
        }
    }
}

fn missing() -> Refusal {
    Refusal::new(Code::P401, "the lines it would replace are not in the file")
}

fn ambiguous(text: &Text<'_>, at: &[usize], size: usize) -> Refusal {
    let mut refusal = Refusal::new(Code::P403, format!("it fits in {} places", at.len()))
        .hint("add context lines until only one place fits");
    refusal.mismatch.candidates = at.iter().take(50).map(|at| *at as u64 + 1).collect();
    let size = size.min(4);
    let places = at.iter().take(3);
    let shown = places.map(|at| excerpt(text, at.saturating_sub(4), at + size + 4));
    refusal.mismatch.excerpts = shown.collect();
    refusal
}

fn net(hunk: &Hunk<'_>) -> i64 {
    let count = |kind| {
        let lines = hunk.lines.iter().filter(|line| line.kind == kind);
        i64::try_from(lines.count()).unwrap_or(0)
    };
    count(LineKind::Add) - count(LineKind::Remove)
}

// Of several exact places, the one that the named scope leaves.
fn narrow(text: &Text<'_>, hunk: &Hunk<'_>, at: &[usize]) -> Option<(usize, MendNote)> {
    let only = |left: Vec<usize>| match left.as_slice() {
        [one] => Some(*one),
        _ => None,
    };
    if hunk.scope.is_empty() {
        return None;
    }
    let mut inside = 0..text.len();
    for scope in hunk.outer.iter().chain([&hunk.scope]) {
        let rows = inside.filter(|row| names_scope(text.line(*row), scope));
        let row = only(rows.collect())?;
        inside = row..block_end(text, row);
    }
    let left: Vec<usize> = at
        .iter()
        .copied()
        .filter(|at| inside.contains(at))
        .collect();
    let message = "chose the one place inside the scope that the hunk names";
    Some((only(left)?, MendNote::safe(Code::M410, message)))
}

// Whether a line is that of a scope, which may leave out what follows its name.
fn names_scope(line: &[u8], scope: &[u8]) -> bool {
    let rest = line.trim_ascii().strip_prefix(scope.trim_ascii());
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    rest.is_some_and(|it| !it.first().is_some_and(goes_on))
}

// The block that a line opens: all below it that is indented more, blank lines aside.
fn block_end(text: &Text<'_>, scope: usize) -> usize {
    let indent = |line: &[u8]| {
        line.iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count()
    };
    let own = indent(text.line(scope));
    (scope + 1..text.len())
        .find(|row| {
            let line = text.line(*row);
            !line.trim_ascii().is_empty() && indent(line) <= own
        })
        .unwrap_or(text.len())
}
