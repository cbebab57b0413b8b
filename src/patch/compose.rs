use super::place::{Placed, Placement};
use super::set::{HunkLine, LineKind};
use super::text::Text;
use crate::model::{Code, Refusal};

/// A file after its hunks, and the change in lines.
pub(super) struct Composed {
    pub(super) bytes: Vec<u8>,
    pub(super) edits: Vec<LineEdit>,
    /// Marks of a missing final newline that the file contradicts were ignored.
    pub(super) ignored_marks: bool,
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
    let mut drafts = Drafts::default();
    let mut ignored_marks = false;
    for (index, outcome) in outcomes.iter().enumerate() {
        let Placement::Placed(placed) = outcome else {
            continue;
        };
        let trust = marks_hold(text, placed);
        ignored_marks |= !trust || is_marked_inside(placed);
        drafts.add(text, &placed.lines, placed.at, index);
        if !drafts.end(text, &placed.lines, placed.at, trust, marks_newlines) {
            return Err((index, no_newline()));
        }
    }
    let Drafts { mut edits, kept } = drafts;
    edits.sort_by_key(|(hunk, edit)| (edit.at, edit.removed > 0, *hunk));
    conflicts(&edits, kept)?;
    let (bytes, glued) = write(text, &edits, !marks_newlines);
    if glued {
        let last = outcomes.len().saturating_sub(1);
        return Err((last, no_newline()));
    }
    let edits = edits.into_iter().map(|(_, draft)| LineEdit {
        at: draft.at,
        removed: draft.removed,
        added: draft.added.len(),
    });
    Ok(Composed {
        edits: edits.collect(),
        bytes,
        ignored_marks,
    })
}

fn no_newline() -> Refusal {
    let mut failure = Refusal::new(
        Code::P306,
        "the file does not end with a newline, and the patch does not say whether it should",
    );
    failure.hint = Some(
        "to append, replace its last line: remove it, add it again, and add the new lines after it"
            .to_owned(),
    );
    failure
}

// Whether every mark on an old line is true of the file.
fn marks_hold(text: &Text<'_>, placed: &Placed<'_, '_>) -> bool {
    let old = placed.lines.iter().filter(|line| line.is_old());
    old.zip(placed.at..)
        .all(|(line, row)| !line.no_newline || (row + 1 == text.len() && !text.final_newline))
}

// Whether an added line is marked as the last of the file and others follow it.
fn is_marked_inside(placed: &Placed<'_, '_>) -> bool {
    let new = placed.lines.iter().filter(|it| it.kind != LineKind::Remove);
    let mut marked = new.skip_while(|it| it.kind != LineKind::Add || !it.no_newline);
    marked.next().is_some() && marked.next().is_some()
}

// The edits of all hunks, and the rows that each keeps.
#[derive(Default)]
struct Drafts<'p> {
    edits: Vec<(usize, Draft<'p>)>,
    kept: Vec<(usize, usize, usize)>,
}

impl<'p> Drafts<'p> {
    fn add(&mut self, text: &Text<'_>, lines: &'p [HunkLine<'_>], at: usize, hunk: usize) {
        let end: &'static [u8] = if text.hides_cr() { b"\r\n" } else { b"\n" };
        let mut row = at;
        for run in lines.chunk_by(|a, b| is_context(a) == is_context(b)) {
            if run.first().is_some_and(is_context) {
                self.kept.push((hunk, row, row + run.len()));
                row += run.len();
                continue;
            }
            let (added, removed): (Vec<_>, Vec<_>) =
                run.iter().partition(|it| it.kind == LineKind::Add);
            let draft = Draft {
                at: row,
                removed: removed.len(),
                added: added.into_iter().map(|it| (it.text(), end)).collect(),
            };
            self.edits.push((hunk, draft));
            row += removed.len();
        }
    }

    // Settles whether the last line that was added ends the file. `false` where nothing tells.
    fn end(
        &mut self,
        text: &Text<'_>,
        lines: &[HunkLine<'_>],
        at: usize,
        trust_marks: bool,
        marks: bool,
    ) -> bool {
        let last = lines.iter().rev().find(|it| it.kind != LineKind::Remove);
        let Some(line) = last.filter(|it| it.kind == LineKind::Add) else {
            return true;
        };
        let marked = line.no_newline && trust_marks;
        let unmarked = ends_unmarked(text, lines, at);
        if (marked || unmarked)
            && let Some((_, edit)) = self.edits.last_mut()
            && let Some((_, end)) = edit.added.last_mut()
        {
            *end = b"";
        }
        marked || !unmarked || !marks
    }
}

fn is_context(line: &HunkLine<'_>) -> bool {
    line.kind == LineKind::Context
}

// Whether the old lines reach the end of the file.
fn ends_file(text: &Text<'_>, lines: &[HunkLine<'_>], at: usize) -> bool {
    let old = lines.iter().filter(|line| line.kind != LineKind::Add);
    at + old.count() == text.len()
}

// Whether the last line of the file, which has no newline, is removed without saying so.
fn ends_unmarked(text: &Text<'_>, lines: &[HunkLine<'_>], at: usize) -> bool {
    let last = lines.iter().rfind(|line| line.kind != LineKind::Add);
    !text.final_newline
        && ends_file(text, lines, at)
        && last.is_some_and(|line| line.kind == LineKind::Remove && !line.no_newline)
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

// The second value says that a line without a newline would have been joined with the next. A form that has no
// mark for a missing newline keeps the end that the file has.
fn write(text: &Text<'_>, edits: &[(usize, Draft<'_>)], keeps_end: bool) -> (Vec<u8>, bool) {
    let added = edits.iter().flat_map(|(_, edit)| &edit.added);
    let added: usize = added.map(|(line, end)| line.len() + end.len()).sum();
    let mut out = Vec::with_capacity(text.span(0, text.len()).len() + added);
    let mut row = 0;
    let mut glued = false;
    let mut put = |out: &mut Vec<u8>, bytes: &[u8], end: &[u8]| {
        let some = !bytes.is_empty() || !end.is_empty();
        if some && out.last().is_some_and(|byte| *byte != b'\n') {
            glued |= !keeps_end;
            out.extend_from_slice(if text.hides_cr() { b"\r\n" } else { b"\n" });
        }
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
    if keeps_end && !text.final_newline && row == text.len() && out.ends_with(b"\n") {
        out.truncate(out.len() - if out.ends_with(b"\r\n") { 2 } else { 1 });
    }
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
