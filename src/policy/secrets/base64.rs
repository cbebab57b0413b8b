//! Base64: written without padding, read in both alphabets and padded or not.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes bytes with `+` and `/`.
pub fn to_base64(bytes: &[u8]) -> String {
    let digits = bytes.chunks(3).flat_map(|group| {
        let [a, b, c] = [0, 1, 2].map(|at| group.get(at).copied().unwrap_or_default());
        let bits = u32::from_be_bytes([0, a, b, c]);
        (0..=group.len()).map(move |at| char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]))
    });
    digits.collect()
}

/// Writes bytes with `-` and `_`.
pub fn to_base64_url(bytes: &[u8]) -> String {
    to_base64(bytes).replace('+', "-").replace('/', "_")
}

/// Reads text of either kind; bits and digits that make no byte are left out.
pub(super) fn from_base64(text: &[u8]) -> Option<Vec<u8>> {
    let length = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    let mut bytes = Vec::with_capacity(length);
    for group in text[..length].chunks(4) {
        let mut bits = 0;
        for (at, digit) in group.iter().enumerate() {
            let digit = if *digit == b'-' { b'+' } else { *digit };
            let digit = if digit == b'_' { b'/' } else { digit };
            bits |= (memchr::memchr(digit, DIGITS)? as u32) << (26 - 6 * at);
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[..group.len() - 1]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{from_base64, to_base64, to_base64_url};

    #[test]
    fn reads_own_output() {
        for (text, written) in [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foobar?>", "Zm9vYmFyPz4"),
        ] {
            assert_eq!(to_base64(text.as_bytes()), written);
            assert_eq!(
                from_base64(written.as_bytes()).as_deref(),
                Some(text.as_bytes())
            );
        }
        assert_eq!(to_base64_url(b"\xfb\xff"), "-_8");
        assert_eq!(from_base64(b"-_8=").as_deref(), Some(&b"\xfb\xff"[..]));
        assert_eq!(from_base64(b"+/8A=A"), None);
        assert_eq!(from_base64(b"Zm9vY").as_deref(), Some(&b"foo"[..]));
    }
}
