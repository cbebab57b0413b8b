/// The first line of a text with its newline.
pub(super) fn line_of(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1);
    text.get(..end).unwrap_or_default()
}

/// `\ No newline at end of file` in whatever language.
pub(super) fn is_no_newline(line: &[u8]) -> bool {
    line.len() >= 12 && line.starts_with(b"\\ ")
}
