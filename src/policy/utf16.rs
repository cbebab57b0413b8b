/// Reads UTF-16 with a byte order mark, which goes; `None` for other bytes. What is no character becomes
/// U+FFFD, half a unit at the end is left out.
#[must_use]
pub fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let read: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let pairs = bytes.get(2..).unwrap_or_default().chunks_exact(2);
    let units = char::decode_utf16(pairs.map(|pair| read([pair[0], pair[1]])));
    Some(
        units
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::decode_utf16;

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
            assert_eq!(decode_utf16(&bytes).unwrap(), text);
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
            assert_eq!(decode_utf16(bytes), None);
        }
    }
}
