//! Combines the placed hunks of a file. Hunks that contradict each other are refused, because either
//! order would lose a change.

use super::place::{Placed, Placement};
use super::set::{HunkLine, LineKind, without_kind};
use super::text::Text;
use crate::model::{Code, Refusal};

/// A run of lines that a hunk changes, and where.
struct Draft<'p> {
    hunk: usize,
    at: usize,
    removed: usize,
    lines: &'p [HunkLine<'p>],
    /// The last line that it adds gets no line end.
    is_unended: bool,
}

/// Marks of a line of the file: a hunk keeps it, or removes it.
const KEPT: u8 = 1;
const REMOVED: u8 = 2;

/// Applies placed hunks to a file. `Err` names the hunk that does not go with the others.
///
/// `marks_newlines` says that the format can mark a missing final newline, so a missing mark
/// means something.
pub(super) fn compose_edits(
    text: &Text<'_>,
    outcomes: &[Placement<'_, '_>],
    marks_newlines: bool,
) -> Result<Vec<u8>, (usize, Refusal)> {
    let mut marks = vec![0; text.len()];
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    let mut placed = outcomes.iter().flatten();
    let distrusts = placed.any(|placed| placed.has_false_mark(text, LineKind::Context));
    for (hunk, outcome) in outcomes.iter().enumerate() {
        let Ok(placed) = outcome else {
            continue;
        };
        if let Some(row) = draft_hunk(placed, hunk, &mut marks, &mut drafts) {
            return Err((hunk, refuse_clash(row)));
        }
        let is_doubtful = distrusts
            && placed.lines.iter().any(|line| line.kind == LineKind::Add && line.no_newline);
        if is_doubtful || placed.has_false_mark(text, LineKind::Remove) {
            let message = "`\\ No newline at end of file` is not at the end of the file";
            return Err((hunk, Refusal::new(Code::P306, message)));
        }
        if !settle_end(text, placed, marks_newlines, drafts.last_mut()) {
            return Err((hunk, no_newline()));
        }
    }
    drafts.sort_by_key(|draft| (draft.at, draft.removed > 0, draft.hunk));
    if let Some([_, draft]) = drafts.windows(2).find(adds_twice) {
        return Err((draft.hunk, refuse_clash(draft.at)));
    }
    let (bytes, glued) = write_edits(text, &drafts, !marks_newlines);
    if glued {
        return Err((outcomes.len().saturating_sub(1), no_newline()));
    }
    Ok(bytes)
}

/// Whether two drafts add lines at one place.
fn adds_twice(pair: &&[Draft<'_>]) -> bool {
    let mut added = pair.iter().filter(|draft| draft.removed == 0);
    let rows = (added.next(), added.next());
    matches!(rows, (Some(one), Some(two)) if one.at == two.at)
}

/// Adds the runs of a hunk. Returns the row where it removes a line that another keeps or removes.
fn draft_hunk<'p>(
    placed: &'p Placed<'_, '_>,
    hunk: usize,
    marks: &mut [u8],
    drafts: &mut Vec<Draft<'p>>,
) -> Option<usize> {
    let mut row = placed.at;
    for run in placed.lines.chunk_by(|a, b| a.is_context() == b.is_context()) {
        let old = run.iter().filter(|line| line.is_old()).count();
        let is_kept = run.first().is_some_and(HunkLine::is_context);
        let Some(rows) = marks.get_mut(row..row + old) else {
            return Some(row);
        };
        let (mark, foes) = match is_kept {
            true => (KEPT, REMOVED),
            false => (REMOVED, KEPT | REMOVED),
        };
        if rows.iter().any(|other| other & foes != 0) {
            return Some(row);
        }
        rows.fill(mark);
        if !is_kept {
            let (at, is_unended) = (row, false);
            drafts.push(Draft {
                hunk,
                at,
                removed: old,
                lines: run,
                is_unended,
            });
        }
        row += old;
    }
    None
}

fn refuse_clash(row: usize) -> Refusal {
    let line = row + 1;
    let message = format!("the hunk contradicts another: both change the file at line {line}");
    Refusal::new(Code::P303, message)
}

fn no_newline() -> Refusal {
    let message =
        "the file does not end with a newline, and the patch does not say whether it should";
    Refusal::new(Code::P306, message)
        .hint("write `\\ No newline at end of file` below each last line that ends without one")
}

/// Decides whether the last line that a hunk adds ends the file; `false` where that is unknown.
fn settle_end(
    text: &Text<'_>,
    placed: &Placed<'_, '_>,
    marks_newlines: bool,
    draft: Option<&mut Draft<'_>>,
) -> bool {
    let last = without_kind(&placed.lines, LineKind::Remove).next_back();
    let Some(line) = last.filter(|line| line.kind == LineKind::Add) else {
        return true;
    };
    let marked = line.no_newline;
    let unmarked = ends_unmarked(text, &placed.lines, placed.at);
    if let Some(draft) = draft {
        draft.is_unended = marked || unmarked;
    }
    marked || !unmarked || !marks_newlines
}

// Whether the last line of the file, which has no newline, is removed without saying so.
fn ends_unmarked(text: &Text<'_>, lines: &[HunkLine<'_>], at: usize) -> bool {
    let old = lines.iter().filter(|line| line.is_old());
    let last = old.clone().next_back();
    !text.final_newline
        && at + old.count() == text.len()
        && last.is_some_and(|line| line.kind == LineKind::Remove && !line.no_newline)
}

// The second value says that a line without a newline would have been joined with the next. A form that has no
// mark for a missing newline keeps the end that the file has.
fn write_edits(text: &Text<'_>, edits: &[Draft<'_>], keeps_end: bool) -> (Vec<u8>, bool) {
    let end: &[u8] = if text.hides_cr() { b"\r\n" } else { b"\n" };
    let mut out = Vec::with_capacity(text.span(0, text.len()).len());
    let (mut row, mut glued) = (0, false);
    let mut put = |out: &mut Vec<u8>, bytes: &[u8], own_end: &[u8]| {
        let some = !bytes.is_empty() || !own_end.is_empty();
        if some && out.last().is_some_and(|byte| *byte != b'\n') {
            glued |= !keeps_end;
            out.extend_from_slice(end);
        }
        out.extend_from_slice(bytes);
        out.extend_from_slice(own_end);
    };
    for edit in edits {
        put(&mut out, text.span(row, edit.at), b"");
        let mut added = edit.lines.iter().filter(|line| !line.is_old()).peekable();
        while let Some(line) = added.next() {
            let is_last = edit.is_unended && added.peek().is_none();
            put(&mut out, line.text(), if is_last { b"" } else { end });
        }
        row = edit.at + edit.removed;
    }
    put(&mut out, text.span(row, text.len()), b"");
    if keeps_end && !text.final_newline && row == text.len() && out.ends_with(b"\n") {
        out.truncate(out.len() - if out.ends_with(b"\r\n") { 2 } else { 1 });
    }
    (out, glued)
}
