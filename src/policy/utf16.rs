/// How a text in UTF-16 is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Utf16 {
    big_endian: bool,
    /// Bytes of the byte order mark.
    mark: usize,
}

// Bytes that a text without a byte order mark is judged by.
const SAMPLE: usize = 4096;

impl Utf16 {
    /// Whether bytes are UTF-16: by their byte order mark, or because three of four of their
    /// first units are ASCII.
    #[must_use]
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        let big_endian = match bytes {
            [0xff, 0xfe, ..] => Some(false),
            [0xfe, 0xff, ..] => Some(true),
            _ => None,
        };
        if let Some(big_endian) = big_endian {
            return Some(Self {
                big_endian,
                mark: 2,
            });
        }
        if bytes.len() < 8 || memchr::memchr(0, bytes.get(..SAMPLE).unwrap_or(bytes)).is_none() {
            return None;
        }
        let (mut units, mut little, mut big) = (0, 0, 0);
        let plain =
            |byte: u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        for pair in bytes.chunks_exact(2).take(SAMPLE / 2) {
            units += 1;
            match pair {
                [byte, 0] if plain(*byte) => little += 1,
                [0, byte] if plain(*byte) => big += 1,
                _ => {}
            }
        }
        let most = |count: usize| count * 4 >= units * 3;
        (most(little) || most(big)).then_some(Self {
            big_endian: most(big),
            mark: 0,
        })
    }

    /// The text without its byte order mark; what is no character becomes U+FFFD, half a unit at the
    /// end is left out.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> String {
        let units = bytes.get(self.mark..).unwrap_or_default().chunks_exact(2);
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
    fn utf16_is_known_with_and_without_a_mark() {
        let text = "ok: größe 世界 🎉\r\nnext line of plain text\n";
        for big_endian in [false, true] {
            for mark in ["\u{feff}", ""] {
                let swap = |unit: u16| match big_endian {
                    true => unit.to_be_bytes(),
                    false => unit.to_le_bytes(),
                };
                let text = format!("{mark}{text}");
                let bytes: Vec<u8> = text.encode_utf16().flat_map(swap).collect();
                let wide = Utf16::detect(&bytes).unwrap();
                assert_eq!(wide.decode(&bytes), text.trim_start_matches('\u{feff}'));
            }
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
