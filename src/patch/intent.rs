use std::borrow::Cow;
use std::collections::HashMap;

use super::change::FileState;
use super::elision::left_out_line;
use super::read::is_markdown;
use super::set::Side;
use crate::languages::syntax_errors;
use crate::model::{Code, Refusal, RepoPath};

/// What a new content shows of a writer who meant something else than the bytes say; with the line of
/// the new content, counted from 1.
///
/// `before` is the content that gives way, `None` for a new file.
pub(super) fn unmeant(
    path: &str,
    before: Option<&FileState>,
    after: &FileState,
) -> Option<(u64, Refusal)> {
    let old: &[u8] = before.map_or(&[], |state| &state.bytes);
    let (line, text) = left_out_line(path, old, &after.bytes)?;
    let text = String::from_utf8_lossy(text);
    let message = format!("`{text}` stands for lines that are left out");
    Some((line, Refusal::new(Code::P312, message)))
}

/// A whole file out of the fence, or the escapes of a string, that its writer left around it; with what was
/// done, in words.
pub(super) fn unwrapped<'t>(path: &str, text: &'t [u8]) -> Option<(Cow<'t, [u8]>, &'static str)> {
    if let Some(inner) = in_fence(text).filter(|_| !is_markdown(path.as_bytes())) {
        return Some((Cow::Borrowed(inner), "took off the fence around the file"));
    }
    let line = std::str::from_utf8(text.trim_ascii()).ok()?;
    if line.contains('\n') || !line.contains("\\n") {
        return None;
    }
    let decoded: String = serde_json::from_str(&format!("\"{line}\"")).ok()?;
    let path = RepoPath::new(path).ok()?;
    let parses = |text: &[u8]| syntax_errors(&path, text).is_empty();
    let meant = !parses(text) && parses(decoded.as_bytes());
    meant.then(|| {
        (
            Cow::Owned(decoded.into_bytes()),
            "decoded the escapes of a string",
        )
    })
}

fn in_fence(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii();
    let fence = text.iter().take_while(|byte| **byte == b'`').count();
    let opened = memchr::memchr(b'\n', text).filter(|at| fence > 2 && *at >= fence)?;
    let (first, rest) = text.split_at(opened + 1);
    let inner = rest.strip_suffix(text.get(..fence)?)?;
    let alone = inner.ends_with(b"\n") && !first.get(fence..)?.contains(&b'`');
    alone.then_some(inner)
}

/// Refuses a whole file that has lost its rest.
pub(super) fn shrunk(before: &[u8], after: &[u8]) -> Option<Refusal> {
    let solid = |text: &[u8]| {
        let lines = text.split(|byte| *byte == b'\n');
        lines.filter(|line| !line.trim_ascii().is_empty()).count()
    };
    let (was, is) = (solid(before), solid(after));
    if was == 0 || is >= was {
        return None;
    }
    let tail =
        lost_tail(before, after).is_some_and(|(gone, come)| gone >= LONG_TAIL && come * 4 < gone);
    let lost = was - is;
    let most = was >= FEW_LINES && lost * 2 >= was;
    let fragment = is == 0 || most || (lost >= LONG_TAIL && lost * 10 >= was * 3);
    (tail || fragment).then(|| {
        let message = format!(
            "the whole file would go from {was} lines to {is}; the rest seems to be left out"
        );
        Refusal::new(Code::P313, message)
    })
}

// How many lines stand below the last ones that both texts have together, in the old and in the new.
fn lost_tail(before: &[u8], after: &[u8]) -> Option<(usize, usize)> {
    let rows = |text| -> Vec<&[u8]> {
        let solid = |line: &&[u8]| !line.trim_ascii().is_empty();
        <[u8]>::split(text, |byte| *byte == b'\n')
            .filter(solid)
            .collect()
    };
    let (old, new) = (rows(before), rows(after));
    let known = TOGETHER.min(new.len());
    // Of equal ones the last stays.
    let places: HashMap<&[&[u8]], usize> = old
        .windows(known.max(1))
        .enumerate()
        .map(|(at, rows)| (rows, at))
        .collect();
    (known..=new.len()).rev().find_map(|end| {
        let at = *places.get(new.get(end - known..end)?)?;
        Some((old.len() - at - known, new.len() - end))
    })
}

// Files of fewer lines are rewritten as a whole.
const FEW_LINES: usize = 5;

// Lines that stand together in two texts show where one goes on in the other.
const TOGETHER: usize = 3;

// Lines that a person deletes on purpose with an edit, not by sending the file without them.
const LONG_TAIL: usize = 8;

/// Whether a section's last line may have been cut, by the id that it announces for the result.
pub(super) fn announces_another(sections: &super::set::FilePatch<'_>, bytes: &[u8]) -> bool {
    let named = matches!(sections.headers.plus, Some(Side::Name(_)));
    let index = sections.headers.index.filter(|it| it.new.len() >= 7);
    named && index.is_some() && !super::damage::proven(&[sections], bytes)
}

#[cfg(test)]
mod tests {
    use super::shrunk;

    #[test]
    fn a_whole_file_keeps_its_rest() {
        let lines = |range: std::ops::Range<u32>| -> Vec<u8> {
            let lines: Vec<String> = range.map(|line| format!("line {line}\n")).collect();
            lines.concat().into_bytes()
        };
        let old = lines(0..40);
        for (new, refused) in [
            (lines(0..40), false),
            (lines(0..38), false),
            (lines(3..40), false),
            (lines(0..30), true),
            (lines(10..20), true),
            (Vec::new(), true),
            ([lines(0..39), lines(50..60)].concat(), false),
        ] {
            let text = String::from_utf8(new.clone()).unwrap();
            assert_eq!(shrunk(&old, &new).is_some(), refused, "{text}");
        }
        assert!(
            shrunk(b"a\nb\nc\n", b"a\nB\n").is_none(),
            "too small to tell"
        );
    }
}
