use std::borrow::Cow;

use crate::patch::set::Side;
use crate::patch::timestamp::is_epoch_stamp;

/// Reads a name as git writes it: plain, or in C quotes. `Err` says what is wrong with it.
pub(in crate::patch) fn name(text: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    if text.first() != Some(&b'"') {
        return Ok(Cow::Borrowed(text));
    }
    let (name, rest) = quoted(text)?;
    if rest.iter().any(|byte| !byte.is_ascii_whitespace()) {
        return Err("text follows the closing quote of a file name".to_owned());
    }
    Ok(Cow::Owned(name))
}

/// Reads a C-quoted name at the start of `text`; gives the name and what follows the quote.
pub(in crate::patch) fn quoted(text: &[u8]) -> Result<(Vec<u8>, &[u8]), String> {
    let mut name = Vec::with_capacity(text.len());
    let mut at = 1;
    loop {
        let byte = *text
            .get(at)
            .ok_or("a quoted file name has no closing quote")?;
        at += 1;
        match byte {
            b'"' => break,
            b'\\' => {
                let escape = *text
                    .get(at)
                    .ok_or("a quoted file name ends inside an escape")?;
                at += 1;
                match escape {
                    b'a' => name.push(7),
                    b'b' => name.push(8),
                    b't' => name.push(b'\t'),
                    b'n' => name.push(b'\n'),
                    b'v' => name.push(11),
                    b'f' => name.push(12),
                    b'r' => name.push(b'\r'),
                    b'"' | b'\\' => name.push(escape),
                    b'0'..=b'3' => {
                        let digits = text.get(at..at + 2).unwrap_or_default();
                        let [high @ b'0'..=b'7', low @ b'0'..=b'7'] = digits else {
                            return Err("a quoted file name has a bad octal escape".to_owned());
                        };
                        name.push((escape - b'0') * 64 + (high - b'0') * 8 + (low - b'0'));
                        at += 2;
                    }
                    _ => return Err("a quoted file name has an unknown escape".to_owned()),
                }
            }
            byte => name.push(byte),
        }
    }
    Ok((name, text.get(at..).unwrap_or_default()))
}

/// Reads what follows `--- ` or `+++ `: a name, perhaps quoted, perhaps with a time stamp.
pub(super) fn side(text: &[u8]) -> Result<Side<'_>, String> {
    if text.first() == Some(&b'"') {
        let (name, _) = quoted(text)?;
        return Ok(Side::Name(Cow::Owned(name)));
    }
    let (name, stamp) = match memchr::memchr(b'\t', text) {
        Some(tab) => (
            text.get(..tab).unwrap_or_default(),
            text.get(tab + 1..).unwrap_or_default(),
        ),
        None => split_stamp(text),
    };
    let name = name.strip_suffix(b"\r").unwrap_or(name);
    if name == b"/dev/null" || name.trim_ascii_end() == b"/dev/null" {
        return Ok(Side::Null);
    }
    let name = Cow::Borrowed(name);
    // git takes the epoch for "not there".
    Ok(if is_epoch_stamp(stamp) {
        Side::Epoch(name)
    } else {
        Side::Name(name)
    })
}

// A time stamp after a space: `name 2024-05-01 10:00:00.000000000 +0000`.
fn split_stamp(text: &[u8]) -> (&[u8], &[u8]) {
    let is_stamp = |stamp: &[u8]| {
        let shape: Vec<u8> = stamp
            .iter()
            .take(16)
            .map(|byte| if byte.is_ascii_digit() { b'0' } else { *byte })
            .collect();
        shape == b"0000-00-00 00:00"
    };
    memchr::memchr_iter(b' ', text)
        .take(64)
        .find(|at| text.get(at + 1..).is_some_and(is_stamp))
        .map_or((text, &[][..]), |at| {
            let (name, stamp) = text.split_at(at);
            (name, stamp.get(1..).unwrap_or_default())
        })
}

#[cfg(test)]
mod tests {
    use super::{name, side};
    use crate::patch::set::Side;

    #[test]
    fn decodes_quoted_names() {
        assert_eq!(
            &*name(br#""a/\303\244 \"x\"""#).unwrap(),
            "a/ä \"x\"".as_bytes()
        );
        assert!(name(br#""a/b"#).is_err() && name(br#""a\9""#).is_err());
        assert_eq!(&*name(b"a b").unwrap(), b"a b");
    }

    #[test]
    fn takes_time_stamps_apart() {
        let named = |text| Side::Name(std::borrow::Cow::Borrowed(text));
        assert_eq!(
            side(b"a/x\t2024-05-01 10:00:00 +0000").unwrap(),
            named(b"a/x")
        );
        assert_eq!(side(b"a/x y").unwrap(), named(b"a/x y"));
        assert_eq!(side(b"/dev/null\t1970").unwrap(), Side::Null);
        let epoch = side(b"a/x\t1969-12-31 16:00:00.000000000 -0800").unwrap();
        assert!(matches!(epoch, Side::Epoch(_)));
    }
}
