//! Reads `*** Begin Patch` envelopes.

use std::borrow::Cow;

use super::claims::Claims;
use crate::model::{Code, Mend, Operation, PatchFormat};
use crate::patch::set::{Body, FilePatch, Hunk, HunkLine, PatchSet, line_number};
use crate::patch::text::Text;

/// Reads the `*** Begin Patch` envelope.
pub(super) fn read_envelope<'a>(lines: &Text<'a>, mends: Vec<Mend>) -> Claims<'a> {
    let mut set = PatchSet::empty(PatchFormat::ApplyPatch, mends);
    let mut spans = Vec::new();
    let mut inside = false;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let text = line.trim_ascii_end();
        let (start, was_inside) = (at, inside);
        if !inside {
            inside = text == b"*** Begin Patch";
            at += 1;
        } else if text == b"*** End Patch" {
            inside = false;
            at += 1;
        } else if let Some((path, operation)) = file_line(text) {
            at = read_section(lines, at, path, operation, &mut set);
        } else {
            if !text.is_empty() {
                set.refuse(Code::P201, at, "a line of the patch belongs to no file");
            }
            at += 1;
        }
        if inside || was_inside {
            spans.push(start..at);
        }
    }
    if inside {
        let last = lines.len().saturating_sub(1);
        set.refuse(Code::P104, last, "the input ends before `*** End Patch`");
    }
    Claims { set, spans }
}

/// Reads the line at which a file section of the envelope starts.
pub(super) fn file_line(line: &[u8]) -> Option<(&[u8], Operation)> {
    let rest = line.strip_prefix(b"*** ")?;
    let words: [(&[u8], Operation); 3] = [
        (b"Update File: ", Operation::Modify),
        (b"Add File: ", Operation::Create),
        (b"Delete File: ", Operation::Delete),
    ];
    let mut words = words.into_iter();
    words.find_map(|(word, operation)| Some((rest.strip_prefix(word)?, operation)))
}

fn read_section<'a>(
    lines: &Text<'a>,
    start: usize,
    path: &'a [u8],
    operation: Operation,
    set: &mut PatchSet<'a>,
) -> usize {
    let name = path.trim_ascii();
    let mut file = FilePatch::explicit(line_number(start), operation, name, Body::Empty);
    let mut at = start + 1;
    if let Some(to) = lines.line(at).trim_ascii_end().strip_prefix(b"*** Move to: ") {
        file.headers.explicit = Some(Operation::Rename);
        file.headers.path = Cow::Borrowed(to.trim_ascii());
        file.headers.from = Some(Cow::Borrowed(name));
        at += 1;
    }
    let mut hunks: Vec<Hunk<'a>> = Vec::new();
    let mut is_fresh = true;
    while let Some(line) = lines.get(at) {
        let text = line.trim_ascii_end();
        if text == b"*** End of File" {
            if let Some(hunk) = hunks.last_mut() {
                hunk.at_end = true;
            }
            is_fresh = true;
        } else if text.starts_with(b"*** ") {
            break;
        } else if let Some(scope) = line.strip_prefix(b"@@") {
            let scope = scope.trim_ascii();
            let scope = scope.strip_suffix(b"@@").unwrap_or(scope).trim_ascii();
            match hunks.last_mut().filter(|hunk| hunk.lines.is_empty()) {
                // Several scope lines in a row narrow the place; the last is the nearest.
                Some(hunk) => {
                    let outer = std::mem::replace(&mut hunk.scope, scope);
                    hunk.outer.extend(Some(outer).filter(|outer| !outer.is_empty()));
                }
                None => hunks.push(hunk_at(at, scope)),
            }
            is_fresh = false;
        } else {
            if is_fresh {
                hunks.push(hunk_at(at, &[]));
                is_fresh = false;
            }
            let last = hunks.last_mut().and_then(|hunk| hunk.lines.last_mut());
            if let Some(last) = last.filter(|_| line.starts_with(b"\\ No newline")) {
                last.no_newline = true;
            } else if let Some(hunk) = hunks.last_mut() {
                hunk.lines.push(HunkLine::marked(line, line_number(at)));
            }
        }
        at += 1;
    }
    settle_hunks(&mut hunks, operation);
    if !hunks.is_empty() {
        file.body = Body::Hunks(hunks);
    }
    set.files.push(file);
    at
}

fn hunk_at(at: usize, scope: &[u8]) -> Hunk<'_> {
    Hunk {
        line: line_number(at),
        scope,
        ..Hunk::default()
    }
}

// Says which lines may be no part of a hunk, and drops hunks without any.
fn settle_hunks(hunks: &mut Vec<Hunk<'_>>, operation: Operation) {
    for hunk in hunks.iter_mut() {
        let lines = hunk.lines.iter().rev();
        hunk.loose_tail = lines.take_while(|line| line.line.is_empty()).count();
    }
    // Blank lines after a deletion are no lines that it takes.
    hunks.retain(|hunk| {
        !hunk.lines.is_empty()
            && (operation != Operation::Delete
                || hunk.lines.iter().any(|line| !line.line.trim_ascii().is_empty()))
    });
}
