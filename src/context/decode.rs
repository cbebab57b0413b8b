/// A file's bytes as text, and how they were read.
pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) encoding: &'static str,
}

/// Why bytes are not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotText {
    Binary,
    LfsPointer,
}

/// Decodes without loss: UTF-8 with or without a byte order mark, else Latin-1,
/// in which every byte is a character. Bytes with NUL in front are no text.
pub(super) fn decode(bytes: &[u8]) -> Result<Decoded, NotText> {
    if bytes.starts_with(b"version https://git-lfs.github.com/spec/") {
        return Err(NotText::LfsPointer);
    }
    let decoded = |text: String, encoding| Ok(Decoded { text, encoding });
    // git's own rule for binary files.
    if bytes.iter().take(8000).any(|byte| *byte == 0) {
        return Err(NotText::Binary);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF")
        && let Ok(text) = std::str::from_utf8(rest)
    {
        return decoded(text.to_owned(), "utf-8-bom");
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => decoded(text.to_owned(), "utf-8"),
        Err(_) => decoded(
            bytes.iter().map(|byte| char::from(*byte)).collect(),
            "latin-1",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{NotText, decode};

    #[test]
    fn reads_each_encoding_without_loss() {
        for (bytes, text, encoding) in [
            (&b"caf\xc3\xa9"[..], "café", "utf-8"),
            (b"\xef\xbb\xbfx", "x", "utf-8-bom"),
            (b"caf\xe9", "café", "latin-1"),
            (b"", "", "utf-8"),
        ] {
            let decoded = decode(bytes).ok().unwrap();
            assert_eq!((decoded.text.as_str(), decoded.encoding), (text, encoding));
        }
    }

    #[test]
    fn knows_what_is_no_text() {
        assert_eq!(decode(b"\xff\xfea\0").err(), Some(NotText::Binary));
        assert_eq!(decode(b"a\0b").err(), Some(NotText::Binary));
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n";
        assert_eq!(decode(pointer).err(), Some(NotText::LfsPointer));
    }
}
