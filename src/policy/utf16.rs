/// The byte order of a text in UTF-16, as its byte order mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Utf16 {
    big_endian: bool,
}

impl Utf16 {
    /// Returns how bytes with a byte order mark of UTF-16 are read; `None` for others.
    #[must_use]
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        let big_endian = match bytes {
            [0xff, 0xfe, ..] => false,
            [0xfe, 0xff, ..] => true,
            _ => return None,
        };
        Some(Self { big_endian })
    }

    /// The text without its byte order mark; what is no character becomes U+FFFD, half a unit at the
    /// end is left out.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> String {
        let units = bytes.get(2..).unwrap_or_default().chunks_exact(2);
        let units = units.map(|pair| match self.big_endian {
            true => u16::from_be_bytes([pair[0], pair[1]]),
            false => u16::from_le_bytes([pair[0], pair[1]]),
        });
        char::decode_utf16(units)
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Utf16;

    #[test]
    fn utf16_is_known_by_its_mark() {
        let text = "ok: größe 世界 🎉\r\nnext line of plain text\n";
        for big_endian in [false, true] {
            let swap = |unit: u16| match big_endian {
                true => unit.to_be_bytes(),
                false => unit.to_le_bytes(),
            };
            let marked = format!("\u{feff}{text}");
            let bytes: Vec<u8> = marked.encode_utf16().flat_map(swap).collect();
            assert_eq!(Utf16::detect(&bytes).unwrap().decode(&bytes), text);
        }
    }

    #[test]
    fn other_bytes_are_not_utf16() {
        for bytes in [
            &b"plain text"[..],
            b"",
            b"\0\0\0\0\0\0\0\0\0\0",
            b"a\0b",
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
        ] {
            assert_eq!(Utf16::detect(bytes), None);
        }
    }
}
