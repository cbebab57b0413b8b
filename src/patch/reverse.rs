//! Turns a patch around, for `-R`.

use std::mem::{replace, swap};

use super::set::{Body, Hunk, LineKind, PatchSet};
use crate::model::{Code, Refusal, refuse};

/// Reverses every section, the last first: what a diff adds is removed, what it creates is deleted.
pub(super) fn reverse_set(mut set: PatchSet<'_>) -> Result<PatchSet<'_>, Refusal> {
    for file in &mut set.files {
        if file.headers.explicit.is_some() {
            let message =
                "`-R` reverses only diffs: other formats do not contain the previous content";
            return refuse(Code::P103, message);
        }
        file.headers.text = reverse_header(&file.headers.text);
        match &mut file.body {
            Body::Hunks(hunks) => hunks.iter_mut().for_each(reverse_hunk),
            Body::Binary(forward, backward) => {
                let message = "`-R`: the binary patch has no reverse data";
                let data = backward.take().ok_or_else(|| Refusal::new(Code::P601, message))?;
                *backward = Some(replace(forward, data));
            }
            _ => {}
        }
    }
    set.files.reverse();
    Ok(set)
}

/// Turns a hunk into the one that undoes it.
pub(super) fn reverse_hunk(hunk: &mut Hunk<'_>) {
    swap(&mut hunk.old, &mut hunk.new);
    for line in &mut hunk.lines {
        line.kind = match line.kind {
            LineKind::Context => LineKind::Context,
            LineKind::Remove => LineKind::Add,
            LineKind::Add => LineKind::Remove,
        };
    }
}

/// The words of header lines that take each other's place.
const OPPOSITES: [[&[u8]; 2]; 5] = [
    [b"--- ", b"+++ "],
    [b"old mode ", b"new mode "],
    [b"new file mode ", b"deleted file mode "],
    [b"rename from ", b"rename to "],
    [b"copy from ", b"copy to "],
];

fn reverse_header(text: &[u8]) -> Vec<u8> {
    let reversed = text.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let opposites = OPPOSITES.iter().flat_map(|[one, other]| [(one, other), (other, one)]);
        let mut words =
            opposites.filter_map(|(word, other)| Some([*other, line.strip_prefix(*word)?]));
        let word = words.next().map(|parts| parts.concat());
        word.or_else(|| reverse_ids(line)).unwrap_or_else(|| line.to_vec())
    });
    let mut reversed: Vec<Vec<u8>> = reversed.collect();
    // The name of the old side stays the first of the two.
    reversed.sort_by_key(|line| line.starts_with(b"+++ "));
    reversed.concat()
}

// `index 1234567..89abcde 100644`.
fn reverse_ids(line: &[u8]) -> Option<Vec<u8>> {
    let ids = line.strip_prefix(b"index ")?;
    let dots = memchr::memmem::find(ids, b"..")?;
    let end = ids.iter().position(u8::is_ascii_whitespace)?;
    let (old, new) = (ids.get(..dots)?, ids.get(dots + 2..end)?);
    Some([b"index ", new, b"..", old, ids.get(end..)?].concat())
}
