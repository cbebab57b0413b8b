//! Recognizes the marker lines of blocks and fences, in all dialects.

// What opens the lines to find, and what closes those that replace them, in the dialects in use.
const OLD: &[&[u8]] = &[b"SEARCH", b"ORIGINAL", b"BEFORE", b"OLD"];
const NEW: &[&[u8]] = &[b"REPLACE", b"UPDATED", b"MODIFIED", b"AFTER", b"NEW"];

/// Whether a SEARCH block starts at this line, in any dialect.
pub(super) fn starts_block(line: &[u8]) -> bool {
    let rest = after_mark(line, b'<')
        .or_else(|| after_mark(line, b'-').filter(|word| has_word(OLD, word)));
    rest.is_some_and(|rest| has_word(OLD, rest))
}

/// Whether a block ends at this line.
pub(super) fn ends_block(line: &[u8]) -> bool {
    let ends = |mark| after_mark(line, mark).is_some_and(|rest| has_word(NEW, rest));
    ends(b'>') || ends(b'+')
}

/// Whether a line divides the two sides of a block.
pub(super) fn divides_block(line: &[u8]) -> bool {
    after_mark(line, b'=').is_some_and(<[u8]>::is_empty)
}

// What follows five to nine of the mark.
fn after_mark(line: &[u8], mark: u8) -> Option<&[u8]> {
    let count = line.iter().take_while(|byte| **byte == mark).count();
    let rest = line.get(count..)?.trim_ascii();
    (5..=9).contains(&count).then_some(rest)
}

fn has_word(words: &[&[u8]], word: &[u8]) -> bool {
    words.iter().any(|one| one.eq_ignore_ascii_case(word))
}
