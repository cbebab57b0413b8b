/// Whether a SEARCH block starts at this line, in either dialect.
pub(super) fn starts_block(line: &[u8]) -> bool {
    is_fence(line, b'<', b"SEARCH") || is_fence(line, b'-', b"SEARCH")
}

/// Whether a block ends at this line.
pub(super) fn ends_block(line: &[u8]) -> bool {
    is_fence(line, b'>', b"REPLACE") || is_fence(line, b'+', b"REPLACE")
}

/// At least five of the mark and then the word.
pub(super) fn is_fence(line: &[u8], mark: u8, word: &[u8]) -> bool {
    let count = line.iter().take_while(|byte| **byte == mark).count();
    let rest = line.get(count..).unwrap_or_default().trim_ascii();
    (5..=9).contains(&count) && (rest == word || (word == b"SEARCH" && rest == b"ORIGINAL"))
}
