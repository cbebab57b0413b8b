//! Recognizes the marker lines of blocks and fences, in all dialects.

use super::keys::{NEW, OLD, is_one};

/// Whether a SEARCH block starts at this line, in any dialect.
pub(super) fn starts_block(line: &[u8]) -> bool {
    name_in_mark(line).is_some()
}

/// Returns the name of its file that the first line of a SEARCH block may end with, or nothing; `None` where no block
/// starts.
pub(super) fn name_in_mark(line: &[u8]) -> Option<&str> {
    let mark = after_mark(line, b'<').or_else(|| after_mark(line, b'-'))?;
    let (word, name) = mark.split_once(' ').unwrap_or((mark, ""));
    let is_name = name.is_empty() || name.contains('.') && !name.contains(' ');
    (is_one(word, OLD) && is_name).then_some(name)
}

/// Whether a block ends at this line.
pub(super) fn ends_block(line: &[u8]) -> bool {
    [b'>', b'+'].iter().any(|mark| {
        after_mark(line, *mark)
            .is_some_and(|word| is_one(word, NEW) || word.eq_ignore_ascii_case("modified"))
    })
}

/// Whether a line divides the two sides of a block.
pub(super) fn divides_block(line: &[u8]) -> bool {
    after_mark(line, b'=').is_some_and(str::is_empty)
}

// What follows five to nine of the mark.
fn after_mark(line: &[u8], mark: u8) -> Option<&str> {
    let count = line.iter().take_while(|byte| **byte == mark).count();
    let rest = line.get(count..).filter(|_| (5..=9).contains(&count))?;
    Some(std::str::from_utf8(rest).ok()?.trim())
}
