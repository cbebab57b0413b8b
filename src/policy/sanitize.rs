//! Makes plain text of the raw output of programs.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::invisible;
use super::utf16::Utf16;

/// Longest line of a sanitised log, in bytes.
const MAX_LINE: usize = 2048;
const HEAD: usize = 1500;
const TAIL: usize = 400;

/// Turns the raw output of programs into plain text that a person sees the same way.
///
/// UTF-16 is decoded, other bytes are taken as UTF-8, lossily. Terminal sequences (CSI, OSC and the
/// other strings, C1 forms included), control and invisible characters are removed; a carriage return
/// keeps the text written last, a backspace takes a character back. Lines over 2 KB lose their middle
/// to a marker. The number of lines stays as it is, so line numbers stay true; sanitizing twice
/// changes nothing more.
#[must_use]
pub fn sanitize_log(bytes: &[u8]) -> String {
    let text = decode_log(bytes);
    let mut out = String::with_capacity(text.len());
    let mut line = Line::default();
    for (index, raw) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        push_line(&mut out, raw, &mut line);
    }
    out
}

/// Decodes bytes: anything but UTF-16 is taken as UTF-8, lossily; a byte order mark goes.
#[must_use]
pub fn decode_log(bytes: &[u8]) -> Cow<'_, str> {
    match (Utf16::detect(bytes), bytes) {
        (Some(wide), _) => Cow::Owned(wide.decode(bytes)),
        (None, [0xef, 0xbb, 0xbf, rest @ ..]) => String::from_utf8_lossy(rest),
        (None, bytes) => String::from_utf8_lossy(bytes),
    }
}

#[derive(Default)]
struct Line {
    text: String,
    // A carriage return came: the next character starts the line anew.
    restart: bool,
}

fn push_line(out: &mut String, raw: &str, line: &mut Line) {
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t');
    if raw.len() <= MAX_LINE && raw.bytes().all(plain) {
        out.push_str(raw);
        return;
    }
    line.text.clear();
    line.restart = false;
    let mut chars = raw.chars().peekable();
    while let Some(character) = chars.next() {
        match character {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_csi(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut chars),
            '\r' => line.restart = true,
            '\u{8}' => {
                line.text.pop();
            }
            '\t' => line.push('\t'),
            '\u{c}' | '\u{b}' | '\u{2028}' | '\u{2029}' => line.push(' '),
            character if invisible::kind_of(character).is_some() => {}
            character => line.push(character),
        }
    }
    push_capped(out, &line.text);
}

impl Line {
    fn push(&mut self, character: char) {
        if self.restart {
            self.text.clear();
            self.restart = false;
        }
        self.text.push(character);
    }
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

// What follows ESC, by ECMA-48: a CSI, a string, or intermediates and one final character.
fn skip_escape(chars: &mut Chars<'_>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_csi(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_string(chars);
        }
        _ => {
            while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            chars.next_if(|c| matches!(c, '0'..='~'));
        }
    }
}

fn skip_csi(chars: &mut Chars<'_>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

// An unfinished string would swallow the rest of the line and hide it: then only its opening goes.
fn skip_string(chars: &mut Chars<'_>) {
    let mut ahead = chars.clone();
    while let Some(character) = ahead.peek().copied() {
        match character {
            '\u{1b}' => {
                *chars = ahead.clone();
                if ahead.nth(1) == Some('\\') {
                    *chars = ahead;
                }
                return;
            }
            '\u{7}' | '\u{9c}' => {
                ahead.next();
                *chars = ahead;
                return;
            }
            '\u{90}'..='\u{9f}' => return,
            _ => ahead.next(),
        };
    }
}

// A cut moves outward to the next place between two words, so no secret is cut in two and then
// missed by its rule.
fn push_capped(out: &mut String, line: &str) {
    if line.len() <= MAX_LINE {
        out.push_str(line);
        return;
    }
    let between = |c: char| !c.is_alphanumeric() && !"_-.+/=~%:@".contains(c);
    let head = line.floor_char_boundary(HEAD);
    let head = line[..head].rfind(between).unwrap_or(head);
    let tail = line.ceil_char_boundary(line.len() - TAIL);
    let tail = line[tail..].find(between).map_or(tail, |at| tail + at);
    out.push_str(&line[..head]);
    // Writing to a String cannot fail.
    let _ = write!(out, " [... {} bytes left out ...]", tail - head);
    out.push_str(&line[tail..]);
}

#[cfg(test)]
mod tests {
    use super::sanitize_log;
    use proptest::prelude::*;

    #[test]
    fn terminal_sequences_go_and_text_stays() {
        let log = b"\x1b]0;own\x07\x1b[2J\x1b[1mFAIL\x1b[0m test\n\x1b(B\xc2\x9b31mred\x1b]8;;http://x\x1b\\link\n";
        assert_eq!(sanitize_log(log), "FAIL test\nredlink\n");
        assert_eq!(sanitize_log(b"\x1b]0;title\x1b[31mred\x1b[0m"), "red");
    }

    #[test]
    fn an_unfinished_string_hides_nothing() {
        assert_eq!(
            sanitize_log(b"a\x1b]0;evil error here\nb"),
            "a0;evil error here\nb"
        );
    }

    #[test]
    fn carriage_returns_show_what_was_written_last() {
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
    fn a_secret_at_the_cut_is_left_out_whole() {
        let token = "k".repeat(60);
        for lead in 1430..1510 {
            let log = format!("{}\"{token}\":{}", "x,".repeat(lead / 2), "y,".repeat(1500));
            let out = sanitize_log(log.as_bytes());
            assert!(!out.contains('k') || out.contains(&token), "{lead}");
        }
    }

    proptest! {
        #[test]
        fn lines_are_kept_and_twice_is_once(bytes in prop::collection::vec(prop_oneof![
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
}
