use std::borrow::Cow;
use std::fmt::Write as _;

/// A text for a terminal: what would steer it (control characters but for line ends and tabs) or
/// deceive its reader (characters that turn the direction of text, or have no width) is written as
/// `\u{1b}`.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    shown(text, false, |out, found| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{}", found.escape_unicode());
    })
}

/// The same for a text that this program coloured: sequences that only choose a colour stay.
#[must_use]
pub fn printable_in_colour(text: &str) -> Cow<'_, str> {
    shown(text, true, |out, found| {
        let _ = write!(out, "{}", found.escape_unicode());
    })
}

/// The same for JSON, in which such characters can only stand in strings: they are written as
/// `\u001b`, which reads back as what it was.
#[must_use]
pub fn printable_json(json: &str) -> Cow<'_, str> {
    shown(json, false, |out, found| {
        for unit in found.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

fn shown(text: &str, colour: bool, escape: impl Fn(&mut String, char)) -> Cow<'_, str> {
    // Almost every text is plain, and most are long.
    let plain = |byte: &u8| (b' '..0x7f).contains(byte) || matches!(byte, b'\n' | b'\t');
    if text.as_bytes().iter().all(plain) || !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(found) = rest.find(steers) {
        let (before, after) = rest.split_at(found);
        out.push_str(before);
        let sequence = if colour { colour_at(after) } else { 0 };
        if sequence > 0 {
            let (kept, left) = after.split_at(sequence);
            out.push_str(kept);
            rest = left;
            continue;
        }
        let mut chars = after.chars();
        // The line end of Windows is a line end.
        if let Some(found) = chars.next().filter(|_| !after.starts_with("\r\n")) {
            escape(&mut out, found);
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

// How long a sequence is that only chooses a colour.
fn colour_at(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\x1b[") else {
        return 0;
    };
    let end = parameters.find(|it: char| !it.is_ascii_digit() && it != ';');
    match end {
        Some(end) if parameters[end..].starts_with('m') => 2 + end + 1,
        _ => 0,
    }
}

fn steers(found: char) -> bool {
    match found {
        '\n' | '\t' => false,
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}' => true,
        found => found.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_made_visible() {
        for (text, shown) in [
            ("a\tb\nc é 漢", "a\tb\nc é 漢"),
            ("\x1b]0;own\x07", "\\u{1b}]0;own\\u{7}"),
            ("a\rb", "a\\u{d}b"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("x\u{202e}y\u{200b}", "x\\u{202e}y\\u{200b}"),
        ] {
            assert_eq!(printable(text), shown, "{text:?}");
        }
    }

    #[test]
    fn our_own_colours_stay() {
        let text = "\x1b[1;31merror\x1b[0m \x1b[2J";
        assert_eq!(
            printable_in_colour(text),
            "\x1b[1;31merror\x1b[0m \\u{1b}[2J"
        );
        assert!(!printable(text).contains('\x1b'));
    }

    #[test]
    fn json_reads_back_as_it_was() {
        let value = "a\u{9b}\u{202e}\u{e0041}";
        let json = serde_json::to_string(value).unwrap();
        let shown = printable_json(&json);
        assert!(shown.is_ascii());
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), value);
    }
}
