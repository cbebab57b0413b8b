//! Makes plain text of the raw output of programs.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

use super::invisible;
use crate::source::undo_code_page;

/// Longest line of a sanitised log, in bytes.
const MAX_LINE: usize = 2048;

/// Turns the raw output of programs into plain text that a person sees the same way.
///
/// UTF-16 is decoded, other bytes are taken as UTF-8, lossily. Terminal sequences (CSI, OSC and the
/// other strings, C1 forms included), control and invisible characters are removed; a carriage return
/// keeps the text written last, a backspace takes a character back. Lines over 2 KB lose their middle
/// to a marker. The number of lines stays as it is, so line numbers stay true; sanitizing twice
/// changes nothing more.
pub fn sanitize_log(bytes: &[u8]) -> String {
    let text = decode_log(bytes);
    let mut out = String::with_capacity(text.len());
    for (index, raw) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        push_line(&mut out, raw);
    }
    out
}

/// Decodes bytes: anything but UTF-16 is taken as UTF-8, lossily; a byte order mark goes. Lines of UTF-8 that
/// were read in a code page of Windows are read again.
pub fn decode_log(bytes: &[u8]) -> Cow<'_, str> {
    let text = match (decode_utf16(bytes), bytes) {
        (Some(wide), _) => Cow::Owned(wide),
        (None, [0xef, 0xbb, 0xbf, rest @ ..]) => String::from_utf8_lossy(rest),
        (None, bytes) => String::from_utf8_lossy(bytes),
    };
    // What the first bytes of check marks, crosses and accented letters become.
    if !text.contains(['Γ', 'â', '├', 'Ã', '┬', 'Â']) {
        return text;
    }
    let lines = text.split_inclusive('\n').map(undo_code_page);
    Cow::Owned(lines.collect())
}

/// Terminal sequences by ECMA-48: strings up to their end, control sequences, other escapes. Of a
/// string that does not end only the opening goes: it would hide the rest of the line.
static SEQUENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r"(?x)
        (?:\x1b[\]PX^_]|[\u{90}\u{98}\u{9d}-\u{9f}])[^\x07\x1b\u{80}-\u{9f}]*
            (?:\x07|\u{9c}|\x1b\\|\x1b\[[\x20-?]*[@-~])
        |(?:\x1b\[|\u{9b})[\x20-?]*[@-~]?
        |\x1b[\x20-/]*[0-~]?";
    Regex::new(pattern).ok()
});

fn push_line(out: &mut String, raw: &str) {
    if raw.len() <= MAX_LINE && raw.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        out.push_str(raw);
        return;
    }
    let has_escape = raw.contains(|c: char| matches!(c, '\x1b' | '\u{80}'..='\u{9f}'));
    let sequence = has_escape.then(|| SEQUENCE.as_ref()).flatten();
    let stripped = sequence.map_or(Cow::Borrowed(raw), |sequence| sequence.replace_all(raw, ""));
    let mut text = String::with_capacity(stripped.len());
    // A carriage return came: the next character starts the line anew.
    let mut restart = false;
    for character in stripped.chars() {
        let shown = match character {
            '\r' => {
                restart = true;
                continue;
            }
            '\u{8}' => {
                text.pop();
                continue;
            }
            '\t' => '\t',
            '\u{c}' | '\u{b}' | '\u{2028}' | '\u{2029}' => ' ',
            character if invisible::kind_of(character).is_some() => continue,
            character => character,
        };
        if std::mem::take(&mut restart) {
            text.clear();
        }
        text.push(shown);
    }
    push_capped(out, &text);
}

// A cut moves outward to the next place between two words, so no secret is cut in two and then
// missed by its rule.
fn push_capped(out: &mut String, line: &str) {
    if line.len() <= MAX_LINE {
        out.push_str(line);
        return;
    }
    // The head of a long line says the most, so more of it is kept.
    let head = line.floor_char_boundary(1500);
    let head = line[..head].rfind(is_between_words).unwrap_or(head);
    let tail = line.ceil_char_boundary(line.len() - 400);
    let tail = line[tail..].find(is_between_words).map_or(tail, |at| tail + at);
    out.push_str(&line[..head]);
    // Writing to a String cannot fail.
    let _ = write!(out, " [... {} bytes left out ...]", tail - head);
    out.push_str(&line[tail..]);
}

fn is_between_words(c: char) -> bool {
    !c.is_alphanumeric() && !"_-.+/=~%:@".contains(c)
}

/// Reads UTF-16 with a byte order mark, which goes; `None` for other bytes. What is no character becomes
/// U+FFFD, half a unit at the end is left out.
pub(super) fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let read: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let pairs = bytes.get(2..).unwrap_or_default().chunks_exact(2);
    let units = char::decode_utf16(pairs.map(|pair| read([pair[0], pair[1]])));
    Some(units.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

#[cfg(test)]
mod tests {
    use super::{decode_utf16, sanitize_log};
    use proptest::prelude::*;

    #[test]
    fn strips_terminal_sequences() {
        let log = b"\x1b]0;own\x07\x1b[2J\x1b[1mFAIL\x1b[0m test\n\x1b(B\xc2\x9b31mred\x1b]8;;http://x\x1b\\link\n";
        assert_eq!(sanitize_log(log), "FAIL test\nredlink\n");
        assert_eq!(sanitize_log(b"\x1b]0;title\x1b[31mred\x1b[0m"), "red");
    }

    #[test]
    fn unfinished_string_hides_nothing() {
        assert_eq!(
            sanitize_log(b"a\x1b]0;evil error here\nb"),
            "a0;evil error here\nb"
        );
    }

    #[test]
    fn carriage_return_keeps_last_text() {
        assert_eq!(
            sanitize_log(b"10%\r50%\r100% done\r\nnext\r\n"),
            "100% done\nnext\n"
        );
        assert_eq!(sanitize_log(b"abc\x08\x08x\n"), "ax\n");
    }

    #[test]
    fn utf16_and_broken_utf8_are_decoded() {
        assert_eq!(sanitize_log(b"\xff\xfea\0\n\0b\0"), "a\nb");
        assert_eq!(sanitize_log(b"\xfe\xff\0a"), "a");
        assert_eq!(sanitize_log(b"\xef\xbb\xbfok \xff"), "ok \u{fffd}");
    }

    #[test]
    fn long_lines_lose_their_middle_between_words() {
        let log = format!("{} {} end\nnext", "a".repeat(1000), "b".repeat(4000));
        let out = sanitize_log(log.as_bytes());
        assert!(out.starts_with(&"a".repeat(1000)) && out.ends_with(" end\nnext"));
        assert!(
            out.contains("bytes left out") && !out.contains('b'.to_string().repeat(9).as_str())
        );
    }

    #[test]
    fn drops_secret_at_cut() {
        let token = "k".repeat(60);
        for lead in 1430..1510 {
            let log = format!("{}\"{token}\":{}", "x,".repeat(lead / 2), "y,".repeat(1500));
            let out = sanitize_log(log.as_bytes());
            assert!(!out.contains('k') || out.contains(&token), "{lead}");
        }
    }

    proptest! {
        #[test]
        fn keeps_lines_and_is_idempotent(bytes in prop::collection::vec(prop_oneof![
            Just(b'\n'), Just(b'\r'), Just(0x1b), Just(b'['), Just(b']'), Just(7), Just(8), Just(b'm'), any::<u8>()], 0..4000)) {
            let body: Vec<u8> = [b"x".as_slice(), &bytes].concat();
            let once = sanitize_log(&body);
            prop_assert_eq!(once.matches('\n').count(), memchr::memchr_iter(b'\n', &body).count());
            let control = once.contains(['\u{1b}', '\r', '\u{7}']);
            prop_assert!(!control);
            prop_assert!(once.lines().all(|line| line.len() <= 2048));
            prop_assert_eq!(&sanitize_log(once.as_bytes()), &once);
        }
    }

    #[test]
    fn detects_utf16_by_mark() {
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
