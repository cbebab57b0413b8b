use super::diagnose::excerpt;
use super::hunk::{Found, find, placed_at};
use super::indent::indent_alike;
use super::placed::{Placed, old_of};
use super::rule::{EXACT, MendNote};
use super::search::{Work, places};
use super::variant::mend_alike;
use crate::model::{Code, Refusal};
use crate::patch::set::{Hunk, LineKind};
use crate::patch::text::Text;

/// What became of one hunk.
#[derive(Debug)]
pub(in crate::patch) enum Placement<'h, 'a> {
    /// It stands in the file.
    Placed(Placed<'h, 'a>),
    /// It repeats the hunk before it and is left out.
    Repeated(MendNote),
    /// It cannot be placed.
    Failed(Refusal),
}

// After this many failures in one file only exact hunks are looked for.
const MANY_FAILURES: usize = 16;

/// Places the hunks of one file, all against the same lines.
pub(in crate::patch) fn place<'h, 'a>(
    text: &Text<'_>,
    hunks: &'h [Hunk<'a>],
    strict: bool,
    work: &Work,
) -> Vec<Placement<'h, 'a>> {
    let mut shift = 0;
    let mut failures = 0;
    let mut found: Vec<Found<'h, 'a>> = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        let one = if failures >= MANY_FAILURES {
            Found::None
        } else {
            find(text, hunk, shift, strict, work)
        };
        failures += usize::from(matches!(one, Found::None));
        shift += net(hunk);
        found.push(one);
    }
    if !strict {
        let placed = found.iter_mut().filter_map(|one| match one {
            Found::At(placed) => Some(placed),
            _ => None,
        });
        let mut placed: Vec<_> = placed.collect();
        mend_alike(text, &mut placed);
        indent_alike(text, &mut placed, work);
        doubt_numbers(text, hunks, &mut found, work);
    }
    let mut outcomes: Vec<Placement<'h, 'a>> = Vec::with_capacity(hunks.len());
    for (index, one) in found.into_iter().enumerate() {
        let Some(hunk) = hunks.get(index) else {
            break;
        };
        let outcome = match one {
            Found::At(mut placed) => {
                if lacks_scope(text, hunk) {
                    let message = "took the place where the lines stand; the scope that the hunk names \
                                   is not in the file";
                    placed.mends.push(MendNote::lossy(Code::M417, message));
                }
                placed_or_repeated(placed, &outcomes, hunks, index)
            }
            Found::Refused(refusal) => Placement::Failed(refusal),
            Found::None => Placement::Failed(missing()),
            Found::Many { at, exact, lines } => {
                let lines_dropped = hunk.lines.len() - lines.min(hunk.lines.len());
                let narrowed = (exact && !strict).then(|| narrow(text, hunk, &at));
                match narrowed.flatten() {
                    Some((at, mend)) => {
                        let mut placed = placed_at(hunk, at, lines_dropped, &EXACT);
                        placed.mends.push(mend);
                        Placement::Placed(placed)
                    }
                    None => Placement::Failed(ambiguous(text, &at, lines)),
                }
            }
        };
        outcomes.push(outcome);
    }
    if !strict {
        leave_what_is_there(text, hunks, &mut outcomes, work);
    }
    outcomes.iter().for_each(log_placement);
    outcomes
}

fn log_placement(outcome: &Placement<'_, '_>) {
    match outcome {
        Placement::Placed(placed) => {
            tracing::debug!(
                mends = placed.mends.len(),
                "hunk placed at line {}",
                placed.at() + 1
            );
        }
        Placement::Repeated(mend) => tracing::debug!("hunk left out: {}", mend.message),
        Placement::Failed(refusal) => {
            tracing::debug!("hunk refused, {}: {}", refusal.code, refusal.message);
        }
    }
}

// Of a patch that was applied in part, hunks whose new side stands in the file once are left out beside
// others that are placed.
fn leave_what_is_there(
    text: &Text<'_>,
    hunks: &[Hunk<'_>],
    outcomes: &mut [Placement<'_, '_>],
    work: &Work,
) {
    let placed = |it: &Placement<'_, '_>| matches!(it, Placement::Placed(_));
    if !outcomes.iter().any(placed) || hunks.len() > MANY_FAILURES {
        return;
    }
    for (hunk, outcome) in hunks.iter().zip(outcomes) {
        let Placement::Failed(failure) = outcome else {
            continue;
        };
        let lines = hunk.firm(hunk.loose_tail);
        let new: Vec<_> = lines
            .iter()
            .filter(|it| it.kind != LineKind::Remove)
            .collect();
        let mut added = lines.iter().filter(|it| it.kind == LineKind::Add);
        let tells = added.any(|it| it.text().trim_ascii().len() >= TELLING);
        let there = matches!(failure.code, Code::P401 | Code::P406)
            && tells
            && places(text, &new, &EXACT, work).len() == 1;
        if there {
            let message = "left out a hunk whose result stands there already";
            *outcome = Placement::Repeated(MendNote::lossy(Code::M419, message));
        }
    }
}

// A line shorter than this may stand anywhere.
const TELLING: usize = 6;

// What speaks against a number where the lines stand in several places: another hunk of the file that stands
// elsewhere than it says, where the counts are wrong, and the heading of the hunk, that of git's own too.
fn doubt_numbers(text: &Text<'_>, hunks: &[Hunk<'_>], found: &mut [Found<'_, '_>], work: &Work) {
    let is_off = |(hunk, one): (&Hunk<'_>, &Found<'_, '_>)| match one {
        Found::At(placed) => hunk.old.is_some() && !is_stated(hunk, placed),
        _ => false,
    };
    let any_off = hunks.iter().zip(&*found).any(is_off);
    for (hunk, one) in hunks.iter().zip(found) {
        let Found::At(placed) = one else { continue };
        let lies = any_off && !hunk.counts_hold;
        let under = |at: usize| stands_under(text, hunk.scope, at);
        let has_heading = hunks.len() <= MOST_HEADINGS && !hunk.scope.is_empty();
        if placed.pieces.len() > 1
            || !is_stated(hunk, placed)
            || !(lies || has_heading && !under(placed.at()))
        {
            continue;
        }
        let at = places(text, &old_of(&placed.lines), &EXACT, work);
        if at.len() > 1 && (lies || at.iter().any(|at| under(*at))) {
            let lines = placed.lines.len();
            *one = Found::Many {
                at,
                exact: true,
                lines,
            };
        }
    }
}

fn is_stated(hunk: &Hunk<'_>, placed: &Placed<'_, '_>) -> bool {
    let stated = hunk.old.map(|(line, _)| line as usize);
    stated == Some(placed.at() + 1)
}

const MOST_HEADINGS: usize = 32;

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

// A model that repeats a hunk means it once.
fn placed_or_repeated<'h, 'a>(
    placed: Placed<'h, 'a>,
    before: &[Placement<'h, 'a>],
    hunks: &[Hunk<'a>],
    index: usize,
) -> Placement<'h, 'a> {
    let same = |a: &Hunk<'_>, b: &Hunk<'_>| {
        a.old == b.old
            && a.lines.len() == b.lines.len()
            && a.lines
                .iter()
                .zip(&b.lines)
                .all(|(a, b)| a.kind == b.kind && a.line == b.line)
    };
    let earlier = before.iter().zip(hunks).rev().take(NEAR);
    let repeats = hunks.get(index).is_some_and(|hunk| {
        earlier.into_iter().any(|(outcome, other)| {
            matches!(outcome, Placement::Placed(one) if one.pieces == placed.pieces)
                && same(hunk, other)
        })
    });
    if repeats {
        return Placement::Repeated(MendNote::safe(
            Code::M304,
            "left out a hunk that repeats an earlier one",
        ));
    }
    Placement::Placed(placed)
}

// Whether a hunk names a scope for its place that the file does not have; it may be cut, or be a name alone.
fn lacks_scope(text: &Text<'_>, hunk: &Hunk<'_>) -> bool {
    let has = |scope: &[u8]| memchr::memmem::find(text.span(0, text.len()), scope).is_some();
    let mut named = hunk.outer.iter().chain([&hunk.scope]);
    hunk.old.is_none() && named.any(|scope| !scope.is_empty() && !has(scope))
}

// How far back a repeated hunk is looked for.
const NEAR: usize = 64;

// Of several exact places, the one that the named scope leaves.
fn narrow(text: &Text<'_>, hunk: &Hunk<'_>, at: &[usize]) -> Option<(usize, MendNote)> {
    let only = |left: Vec<usize>| match left.as_slice() {
        [one] => Some(*one),
        _ => None,
    };
    if hunk.scope.is_empty() {
        return None;
    }
    let left: Vec<usize> = if let Some((stated, _)) = hunk.old {
        // Heading and number that speak for two places are no evidence for either.
        if at.iter().any(|at| *at + 1 == stated as usize) {
            return None;
        }
        at.iter()
            .copied()
            .filter(|at| stands_under(text, hunk.scope, *at))
            .collect()
    } else {
        let mut inside = 0..text.len();
        for scope in hunk.outer.iter().chain([&hunk.scope]) {
            let rows = inside.filter(|row| names_scope(text.line(*row), scope));
            let row = only(rows.collect())?;
            inside = row..block_end(text, row);
        }
        at.iter()
            .copied()
            .filter(|at| inside.contains(at))
            .collect()
    };
    let message = "chose the one place inside the scope that the hunk names";
    Some((only(left)?, MendNote::safe(Code::M410, message)))
}

// Whether a line is that of a scope, which may leave out what follows its name.
fn names_scope(line: &[u8], scope: &[u8]) -> bool {
    let rest = line.trim_ascii().strip_prefix(scope.trim_ascii());
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    rest.is_some_and(|it| !it.first().is_some_and(goes_on))
}

// Whether the heading stands above, and nothing like it as far out between, as git would print it.
fn stands_under(text: &Text<'_>, heading: &[u8], at: usize) -> bool {
    let heading = heading.trim_ascii();
    let word = |line: &[u8]| {
        let mut words = line.trim_ascii().split(|it| !it.is_ascii_alphanumeric());
        words.next().map(<[u8]>::to_vec)
    };
    let keywords: [&[u8]; 5] = [b"def", b"class", b"async", b"function", b"export"];
    let own = word(heading);
    let depth = |line: &[u8]| line.len() - line.trim_ascii_start().len();
    let mut nearest = usize::MAX;
    let above = (at.saturating_sub(FARTHEST_HEADING)..at).rev();
    for line in above.map(|row| text.line(row)) {
        if line.trim_ascii().starts_with(heading) {
            return depth(line) < nearest;
        }
        let word = word(line);
        if word == own || keywords.iter().any(|it| word.as_deref() == Some(*it)) {
            nearest = nearest.min(depth(line));
        }
    }
    false
}

// Lines above a hunk in which its heading is looked for.
const FARTHEST_HEADING: usize = 1000;

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
