use super::place::{Piece, Placed, Placement};
use super::set::LineKind;
use super::text::Text;
use crate::model::{Code, Refusal};

/// A file after its hunks, and the change in lines.
pub(super) struct Composed {
    pub(super) bytes: Vec<u8>,
    pub(super) edits: Vec<LineEdit>,
    /// Marks of a missing final newline that the file contradicts were ignored.
    pub(super) ignored_marks: bool,
    /// The end of the file is in doubt: it would lose its newline, or a mark seems to be missing.
    pub(super) doubtful_end: bool,
}

/// Lines `at..at + removed` of the old file give way to `added` lines of the new one, which stand
/// where all edits before leave them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineEdit {
    pub(super) at: usize,
    pub(super) removed: usize,
    pub(super) added: usize,
}

// An edit with the lines it adds, each with the line end it gets.
struct Draft<'p> {
    at: usize,
    removed: usize,
    added: Vec<(&'p [u8], &'static [u8])>,
}

/// Applies placed hunks to a file. `Err` names the hunk that does not go with the others.
///
/// `marks_newlines` says that the format can mark a missing final newline, so a missing mark
/// means something.
pub(super) fn compose(
    text: &Text<'_>,
    outcomes: &[Placement<'_, '_>],
    marks_newlines: bool,
) -> Result<Composed, (usize, Refusal)> {
    let mut edits: Vec<(usize, Draft<'_>)> = Vec::new();
    let mut kept: Vec<(usize, usize, usize)> = Vec::new();
    let mut ignored_marks = false;
    let mut lost_mark = false;
    for (index, outcome) in outcomes.iter().enumerate() {
        let Placement::Placed(placed) = outcome else {
            continue;
        };
        let trust = marks_hold(text, placed);
        ignored_marks |= !trust || is_marked_inside(placed);
        for piece in &placed.pieces {
            let mut newlines = Newlines {
                trust_marks: trust,
                marks: marks_newlines,
                doubtful: false,
            };
            collect(
                text,
                placed,
                *piece,
                &mut newlines,
                index,
                &mut edits,
                &mut kept,
            )
            .map_err(|failure| (index, failure))?;
            lost_mark |= newlines.doubtful;
        }
    }
    edits.sort_by_key(|(hunk, edit)| (edit.at, edit.removed > 0, *hunk));
    conflicts(&edits, kept)?;
    let (bytes, glued) = write(text, &edits);
    let edits = edits
        .into_iter()
        .map(|(_, draft)| LineEdit {
            at: draft.at,
            removed: draft.removed,
            added: draft.added.len(),
        })
        .collect();
    if glued {
        let last = outcomes.len().saturating_sub(1);
        return Err((last, no_newline()));
    }
    let loses_newline =
        text.len() > 0 && text.final_newline && bytes.last().is_some_and(|byte| *byte != b'\n');
    Ok(Composed {
        bytes,
        edits,
        ignored_marks,
        doubtful_end: loses_newline || lost_mark,
    })
}

fn no_newline() -> Refusal {
    let mut failure = Refusal::new(
        Code::P306,
        "the file does not end with a newline, and the patch does not say whether it should",
    );
    failure.hint =
        Some("put `\\ No newline at end of file` after the lines it is true for".to_owned());
    failure
}

// Whether every mark on an old line is true of the file.
fn marks_hold(text: &Text<'_>, placed: &Placed<'_, '_>) -> bool {
    placed.pieces.iter().all(|piece| {
        let lines = placed.lines.get(piece.from..piece.to).unwrap_or_default();
        lines
            .iter()
            .filter(|line| line.kind != LineKind::Add)
            .enumerate()
            .all(|(offset, line)| {
                !line.no_newline || (piece.at + offset + 1 == text.len() && !text.final_newline)
            })
    })
}

// Whether an added line is marked as the last of the file and others follow it.
fn is_marked_inside(placed: &Placed<'_, '_>) -> bool {
    let new = placed.lines.iter().filter(|it| it.kind != LineKind::Remove);
    let mut marked = new.skip_while(|it| it.kind != LineKind::Add || !it.no_newline);
    marked.next().is_some() && marked.next().is_some()
}

struct Newlines {
    trust_marks: bool,
    marks: bool,
    // A mark seems to be missing.
    doubtful: bool,
}

fn collect<'p>(
    text: &Text<'_>,
    placed: &'p Placed<'_, '_>,
    piece: Piece,
    newlines: &mut Newlines,
    hunk: usize,
    edits: &mut Vec<(usize, Draft<'p>)>,
    kept: &mut Vec<(usize, usize, usize)>,
) -> Result<(), Refusal> {
    let end: &'static [u8] = if text.hides_cr() { b"\r\n" } else { b"\n" };
    let mut row = piece.at;
    let mut open: Option<Draft<'_>> = None;
    let lines = placed.lines.get(piece.from..piece.to).unwrap_or_default();
    for (index, line) in lines.iter().enumerate() {
        if line.kind == LineKind::Context {
            edits.extend(open.take().map(|edit| (hunk, edit)));
            match kept.last_mut() {
                Some((of, _, to)) if *of == hunk && *to == row => *to += 1,
                _ => kept.push((hunk, row, row + 1)),
            }
            row += 1;
            continue;
        }
        let edit = open.get_or_insert_with(|| Draft {
            at: row,
            removed: 0,
            added: Vec::new(),
        });
        if line.kind == LineKind::Remove {
            edit.removed += 1;
            row += 1;
            continue;
        }
        let mut ends: &[u8] = b"";
        let is_last = lines
            .iter()
            .skip(index + 1)
            .all(|line| line.kind == LineKind::Remove);
        let unmarked = ends_unmarked(text, lines, piece.at);
        let lost_mark = is_last
            && newlines.marks
            && !line.no_newline
            && ends_file(text, lines, piece.at)
            && lines
                .iter()
                .rev()
                .take_while(|it| it.kind != LineKind::Context)
                .any(|it| it.kind == LineKind::Remove && it.text() == line.text());
        newlines.doubtful |= lost_mark;
        if line.no_newline && newlines.trust_marks && is_last {
            // No line feed: it ends the file.
        } else if is_last && unmarked {
            if newlines.marks {
                return Err(no_newline());
            }
        } else {
            ends = end;
        }
        edit.added.push((line.text(), ends));
    }
    edits.extend(open.take().map(|edit| (hunk, edit)));
    Ok(())
}

// Whether the old lines reach the end of the file.
fn ends_file(text: &Text<'_>, lines: &[super::set::HunkLine<'_>], at: usize) -> bool {
    let old = lines.iter().filter(|line| line.kind != LineKind::Add);
    at + old.count() == text.len()
}

// Whether the last line of the file, which has no newline, is removed without saying so.
fn ends_unmarked(text: &Text<'_>, lines: &[super::set::HunkLine<'_>], at: usize) -> bool {
    if text.final_newline {
        return false;
    }
    let mut old = lines.iter().filter(|line| line.kind != LineKind::Add);
    let count = old.clone().count();
    at + count == text.len()
        && old
            .next_back()
            .is_some_and(|line| line.kind == LineKind::Remove && !line.no_newline)
}

// What one hunk keeps or removes, no other may remove.
fn conflicts(
    edits: &[(usize, Draft<'_>)],
    mut kept: Vec<(usize, usize, usize)>,
) -> Result<(), (usize, Refusal)> {
    let clash = |hunk: usize| {
        let message = "the hunk contradicts another hunk of the same file";
        Err((hunk, Refusal::new(Code::P303, message)))
    };
    for pair in edits.windows(2) {
        let [(_, one), (hunk, two)] = pair else {
            continue;
        };
        let same_place = one.at == two.at && one.removed == 0 && two.removed == 0;
        if same_place || two.at < one.at + one.removed {
            return clash(*hunk);
        }
    }
    kept.sort_by_key(|(_, from, _)| *from);
    let mut from = 0;
    for (hunk, edit) in edits.iter().filter(|(_, edit)| edit.removed > 0) {
        while kept.get(from).is_some_and(|(_, _, to)| *to <= edit.at) {
            from += 1;
        }
        let crossing = kept
            .iter()
            .skip(from)
            .take_while(|(_, start, _)| *start < edit.at + edit.removed)
            .any(|(_, _, to)| *to > edit.at);
        if crossing {
            return clash(*hunk);
        }
    }
    Ok(())
}

// The second value says that a line without a newline would have been joined with the next.
fn write(text: &Text<'_>, edits: &[(usize, Draft<'_>)]) -> (Vec<u8>, bool) {
    let added = edits.iter().flat_map(|(_, edit)| &edit.added);
    let added: usize = added.map(|(line, end)| line.len() + end.len()).sum();
    let mut out = Vec::with_capacity(text.span(0, text.len()).len() + added);
    let mut row = 0;
    let mut glued = false;
    let mut put = |out: &mut Vec<u8>, bytes: &[u8], end: &[u8]| {
        let some = !bytes.is_empty() || !end.is_empty();
        glued |= some && out.last().is_some_and(|byte| *byte != b'\n');
        out.extend_from_slice(bytes);
        out.extend_from_slice(end);
    };
    for (_, edit) in edits {
        put(&mut out, text.span(row, edit.at), b"");
        for (line, end) in &edit.added {
            put(&mut out, line, end);
        }
        row = edit.at + edit.removed;
    }
    put(&mut out, text.span(row, text.len()), b"");
    (out, glued)
}

/// The change between two contents as one edit, when nothing finer is known.
pub(super) fn one_edit(old: &[u8], new: &[u8]) -> Vec<LineEdit> {
    let (a, b) = (Text::new(old), Text::new(new));
    let most = a.len().min(b.len());
    let head = (0..most)
        .take_while(|at| a.whole(*at) == b.whole(*at))
        .count();
    let tail = (0..most - head)
        .take_while(|back| a.whole(a.len() - 1 - back) == b.whole(b.len() - 1 - back))
        .count();
    if head == a.len() && head == b.len() {
        return Vec::new();
    }
    vec![LineEdit {
        at: head,
        removed: a.len() - tail - head,
        added: b.len() - tail - head,
    }]
}
