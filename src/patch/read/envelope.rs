use std::borrow::Cow;

use super::lines::{Lines, number};
use super::problem;
use crate::model::{Code, Mend, Operation, PatchFormat};
use crate::patch::set::{Body, FilePatch, Headers, Hunk, HunkLine, LineKind, PatchSet, Side};

/// Reads the `*** Begin Patch` envelope.
pub(super) fn envelope<'a>(lines: &Lines<'a>, mends: Vec<Mend>) -> PatchSet<'a> {
    let mut set = PatchSet {
        format: PatchFormat::ApplyPatch,
        files: Vec::new(),
        mends,
        problems: Vec::new(),
    };
    let mut inside = false;
    let mut at = 0;
    while let Some(line) = lines.line(at) {
        let text = line.trim_ascii_end();
        if !inside {
            inside = text == b"*** Begin Patch";
            at += 1;
        } else if text == b"*** End Patch" {
            inside = false;
            at += 1;
        } else if let Some(path) = text.strip_prefix(b"*** Add File: ") {
            at = section(lines, at, path, Operation::Create, &mut set);
        } else if let Some(path) = text.strip_prefix(b"*** Delete File: ") {
            at = section(lines, at, path, Operation::Delete, &mut set);
        } else if let Some(path) = text.strip_prefix(b"*** Update File: ") {
            at = section(lines, at, path, Operation::Modify, &mut set);
        } else {
            if !text.is_empty() {
                set.problems.push(problem(
                    Code::P302,
                    number(at),
                    "a line of the patch belongs to no file",
                ));
            }
            at += 1;
        }
    }
    if inside {
        set.problems.push(problem(
            Code::P104,
            number(lines.len().saturating_sub(1)),
            "the input ends before `*** End Patch`",
        ));
    }
    set
}

fn section<'a>(
    lines: &Lines<'a>,
    start: usize,
    path: &'a [u8],
    operation: Operation,
    set: &mut PatchSet<'a>,
) -> usize {
    let name = || Some(Side::Name(Cow::Borrowed(path.trim_ascii())));
    let mut headers = Headers {
        explicit: Some(operation),
        minus: if operation == Operation::Create {
            Some(Side::Null)
        } else {
            name()
        },
        plus: if operation == Operation::Delete {
            Some(Side::Null)
        } else {
            name()
        },
        ..Headers::default()
    };
    let mut at = start + 1;
    if let Some(to) = lines
        .get(at)
        .trim_ascii_end()
        .strip_prefix(b"*** Move to: ")
    {
        headers.explicit = Some(Operation::Rename);
        headers.plus = Some(Side::Name(Cow::Borrowed(to.trim_ascii())));
        at += 1;
    }
    let mut hunks: Vec<Hunk<'a>> = Vec::new();
    let mut fresh = true;
    while let Some(line) = lines.line(at) {
        let text = line.trim_ascii_end();
        if text == b"*** End of File" {
            if let Some(hunk) = hunks.last_mut() {
                hunk.at_end = true;
            }
            fresh = true;
        } else if text.starts_with(b"*** ") {
            break;
        } else if let Some(scope) = line.strip_prefix(b"@@") {
            // Several scope lines in a row narrow the place; the last is the nearest.
            if let Some(hunk) = hunks.last_mut().filter(|hunk| hunk.lines.is_empty()) {
                hunk.scope = scope.trim_ascii();
            } else {
                hunks.push(Hunk {
                    line: number(at),
                    scope: scope.trim_ascii(),
                    ..Hunk::default()
                });
            }
            fresh = false;
        } else {
            if fresh || hunks.is_empty() {
                hunks.push(Hunk {
                    line: number(at),
                    ..Hunk::default()
                });
                fresh = false;
            }
            if let Some(hunk) = hunks.last_mut() {
                hunk.lines.push(marked(line, at));
            }
        }
        at += 1;
    }
    for hunk in &mut hunks {
        hunk.loose_tail = hunk
            .lines
            .iter()
            .rev()
            .take_while(|line| line.line.is_empty())
            .count();
    }
    hunks.retain(|hunk| !hunk.lines.is_empty());
    set.files.push(FilePatch {
        line: number(start),
        headers,
        body: if hunks.is_empty() {
            Body::Empty
        } else {
            Body::Hunks(hunks)
        },
    });
    at
}

fn marked(line: &[u8], at: usize) -> HunkLine<'_> {
    let (kind, prefixed) = match line.first() {
        Some(b'+') => (LineKind::Add, true),
        Some(b'-') => (LineKind::Remove, true),
        Some(b' ') => (LineKind::Context, true),
        _ => (LineKind::Context, false),
    };
    HunkLine {
        kind,
        line: Cow::Borrowed(line),
        prefixed,
        bare: !prefixed && !line.is_empty(),
        no_newline: false,
        at: number(at),
    }
}
