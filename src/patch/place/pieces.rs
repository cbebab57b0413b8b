use crate::model::Code;
use std::borrow::Cow;

use super::placed::{Piece, Placed, old_of};
use super::rule::{EXACT, MendNote};
use super::search::{Work, places};
use crate::patch::elision::is_left_out;
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::Text;

// A body in which something is left out: said by `...`, or found where context follows context.
pub(super) fn in_pieces<'h, 'a>(
    text: &Text<'_>,
    hunk: &'h Hunk<'a>,
    work: &Work,
) -> Option<Placed<'h, 'a>> {
    let lines = hunk.firm(hunk.loose_tail);
    let is_elision =
        |line: &HunkLine<'_>| line.kind == LineKind::Context && is_left_out(line.text());
    let elided = lines.iter().any(is_elision);
    let headless = hunk.old.is_none() && hunk.scope.is_empty();
    if !elided && !headless {
        return None;
    }
    let cuts: Vec<(usize, usize)> = if elided {
        let mut cuts = Vec::new();
        let mut from = 0;
        for (index, line) in lines.iter().enumerate() {
            if is_elision(line) {
                cuts.push((from, index));
                from = index + 1;
            }
        }
        cuts.push((from, lines.len()));
        cuts
    } else {
        split_at_gaps(text, lines, work)?
    };
    let mut pieces = Vec::new();
    let mut end = 0;
    for (from, to) in cuts {
        let part = lines.get(from..to)?;
        let old = old_of(part);
        let has_change = part.iter().any(|line| line.kind != LineKind::Context);
        if old.is_empty() {
            if has_change {
                return None;
            }
            continue;
        }
        // Where context was left out, what stands beside the gap must be context.
        let open =
            |line: Option<&HunkLine<'_>>| line.is_none_or(|line| line.kind == LineKind::Context);
        if (from > 0 && !open(part.first())) || (to < lines.len() && !open(part.last())) {
            return None;
        }
        let found = places(text, &old, &EXACT, work);
        let found: Vec<usize> = if headless && !elided {
            found.into_iter().filter(|at| *at >= end).collect()
        } else {
            found
        };
        let [at] = found.as_slice() else {
            if has_change {
                return None;
            }
            continue;
        };
        if *at < end {
            return None;
        }
        end = at + old.len();
        pieces.push(Piece { at: *at, from, to });
    }
    let mend = if elided {
        MendNote::safe(Code::M409, "put back the lines that `...` stood for")
    } else {
        MendNote::safe(Code::M305, "split lines without a hunk header into hunks")
    };
    (!pieces.is_empty()).then(|| Placed {
        lines: Cow::Borrowed(lines),
        pieces,
        respelling: None,
        mends: vec![mend],
    })
}

// Cuts where the longest run that stands in the file ends, always between two context lines.
fn split_at_gaps(
    text: &Text<'_>,
    lines: &[HunkLine<'_>],
    work: &Work,
) -> Option<Vec<(usize, usize)>> {
    let mut cuts = Vec::new();
    let mut from = 0;
    while from < lines.len() {
        let to = longest_run(text, lines, from, work)?;
        cuts.push((from, to));
        from = to;
        if cuts.len() > 1000 {
            return None;
        }
    }
    Some(cuts)
}

// The end of the longest run from `from` on that stands somewhere in the file.
fn longest_run(text: &Text<'_>, lines: &[HunkLine<'_>], from: usize, work: &Work) -> Option<usize> {
    let mut best = from;
    for at in 0..text.len() {
        let mut row = at;
        let mut end = from;
        for line in lines.get(from..)? {
            if line.kind != LineKind::Add {
                if !work.spend(1) {
                    return None;
                }
                if row >= text.len() || line.text() != text.line(row) {
                    break;
                }
                row += 1;
            }
            end += 1;
        }
        best = best.max(end);
    }
    if best == lines.len() {
        return Some(best);
    }
    // Back to a place between two context lines.
    let is_context = |at: usize| {
        lines
            .get(at)
            .is_some_and(|line| line.kind == LineKind::Context)
    };
    (from + 1..=best)
        .rev()
        .find(|end| is_context(*end) && is_context(end - 1))
}
