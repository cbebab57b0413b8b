//! Decodes file content without loss, so that an agent's edit can be mapped back to the bytes.

use crate::model::Code;

/// Decodes without loss, and says how: UTF-8 with or without a byte order mark, else Latin-1, in
/// which every byte is a character. Bytes with NUL in front are no text.
pub(super) fn decode(bytes: &[u8]) -> Result<(String, &'static str), (Code, &'static str)> {
    if bytes.starts_with(b"version https://git-lfs.github.com/spec/") {
        let reason = "it is a Git LFS pointer, not the file itself";
        return Err((Code::C305, reason));
    }
    // git's own rule for binary files.
    if bytes.iter().take(8000).any(|byte| *byte == 0) {
        return Err((Code::C307, "it is a binary file"));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF")
        && let Ok(text) = std::str::from_utf8(rest)
    {
        return Ok((text.to_owned(), "utf-8-bom"));
    }
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), "utf-8"),
        Err(_) => (bytes.iter().copied().map(char::from).collect(), "latin-1"),
    })
}

#[cfg(test)]
mod tests {
    use super::decode;
    use crate::model::Code;

    #[test]
    fn reads_each_encoding_without_loss() {
        for (bytes, text, encoding) in [
            (&b"caf\xc3\xa9"[..], "café", "utf-8"),
            (b"\xef\xbb\xbfx", "x", "utf-8-bom"),
            (b"caf\xe9", "café", "latin-1"),
            (b"", "", "utf-8"),
        ] {
            let decoded = decode(bytes).ok().unwrap();
            assert_eq!(decoded, (text.to_owned(), encoding));
        }
    }

    #[test]
    fn knows_what_is_no_text() {
        let code = |bytes: &[u8]| decode(bytes).err().map(|(code, _)| code);
        assert_eq!(code(b"\xff\xfea\0"), Some(Code::C307));
        assert_eq!(code(b"a\0b"), Some(Code::C307));
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n";
        assert_eq!(code(pointer), Some(Code::C305));
    }
}
