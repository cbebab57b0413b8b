use std::collections::HashMap;

use super::change::FileState;
use super::elision::left_out_line;
use super::set::Side;
use crate::languages::Language;
use crate::model::{Code, Refusal};

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
    let quoted = |text| String::from_utf8_lossy(text).trim().to_owned();
    if let Some((line, text)) = left_out_line(path, old, &after.bytes) {
        let message = format!("`{}` stands for lines that are left out", quoted(text));
        return Some((line, Refusal::new(Code::P312, message)));
    }
    let line = before.and_then(|_| typographic(path, old, &after.bytes))?;
    let message = "the added line has typographic quotes or spaces, and the file has none";
    Some((line, Refusal::new(Code::P314, message)))
}

/// Refuses a whole file that has lost its rest.
pub(super) fn shrunk(before: &[u8], after: &[u8]) -> Option<Refusal> {
    let (old, new) = (solid_rows(before).len(), solid_rows(after).len());
    if old == 0 || new >= old {
        return None;
    }
    let tail =
        lost_tail(before, after).is_some_and(|(gone, come)| gone >= LONG_TAIL && come * 4 < gone);
    let lost = old - new;
    let most = old >= FEW_LINES && lost * 2 >= old;
    let fragment = new == 0 || most || (lost >= LONG_TAIL && lost * 10 >= old * 3);
    (tail || fragment).then(|| {
        let message = format!(
            "the whole file would go from {old} lines to {new}; the rest seems to be left out"
        );
        Refusal::new(Code::P313, message)
    })
}

// How many lines stand below the last ones that both texts have together, in the old and in the new.
fn lost_tail(before: &[u8], after: &[u8]) -> Option<(usize, usize)> {
    let rows = |text| -> Vec<&[u8]> { solid_rows(text).into_iter().map(|it| it.1).collect() };
    let (old, new) = (rows(before), rows(after));
    let count = TOGETHER.min(new.len());
    // Of equal ones the last stays.
    let places: HashMap<&[&[u8]], usize> = old
        .windows(count.max(1))
        .enumerate()
        .map(|(at, rows)| (rows, at))
        .collect();
    (count..=new.len()).rev().find_map(|end| {
        let at = *places.get(new.get(end - count..end)?)?;
        Some((old.len() - at - count, new.len() - end))
    })
}

// Files of fewer lines are rewritten as a whole.
const FEW_LINES: usize = 5;

// Lines that stand together in two texts show where one goes on in the other.
const TOGETHER: usize = 3;

// Lines that a person deletes on purpose with an edit, not by sending the file without them.
const LONG_TAIL: usize = 8;

fn solid_rows(text: &[u8]) -> Vec<(u64, &[u8])> {
    let rows = (1..).zip(text.split(|byte| *byte == b'\n'));
    rows.filter(|(_, line)| !line.trim_ascii().is_empty())
        .collect()
}

// A line of code with typographic quotes or spaces where the whole file had nothing but ASCII.
fn typographic(path: &str, old: &[u8], new: &[u8]) -> Option<u64> {
    Language::of_path(path)?;
    if !old.is_ascii() || new.is_ascii() {
        return None;
    }
    let text = std::str::from_utf8(new).ok()?;
    let odd = |letter: char| {
        matches!(letter,
            '\u{2018}'..='\u{201f}' | '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{3000}')
    };
    let rows = text.lines().zip(1_u64..);
    rows.filter(|(line, _)| line.contains(odd))
        .map(|(_, row)| row)
        .next()
}

/// Whether a section's last line may have been cut, by the id that it announces for the result.
pub(super) fn announces_another(sections: &super::set::FilePatch<'_>, bytes: &[u8]) -> bool {
    let named = matches!(sections.headers.plus, Some(Side::Name(_)));
    let index = sections.headers.index.filter(|it| it.new.len() >= 7);
    named && index.is_some() && !super::damage::proven(&[sections], bytes)
}

#[cfg(test)]
mod tests {
    use super::{shrunk, typographic};

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

    #[test]
    fn typographic_quotes_come_into_a_file_of_plain_ones() {
        let new = "x = “a”\n".as_bytes();
        assert_eq!(typographic("a.py", b"x = 1\n", new), Some(1));
        assert_eq!(typographic("a.py", "y = ‘b’\n".as_bytes(), new), None);
        assert_eq!(typographic("a.md", b"x = 1\n", new), None);
    }
}
