//! Shows invisible characters, and keeps control characters off the terminal.

use crate::model::{HunkVerdict, PatchVerdict, Severity};

/// Shows what nobody sees in a line: carriage returns, unusual spaces, characters without width, blanks at its end.
pub fn visible(line: &str) -> String {
    escape(line, is_odd)
}

fn escape(line: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let solid = line.trim_end_matches([' ', '\t']);
    let text: String = solid.chars().map(|letter| escape_if(letter, is_escaped(letter))).collect();
    let blanks = line[solid.len()..].replace('\t', "\\t");
    text + &blanks.replace(' ', "\\x20")
}

/// Shows a line as it can be copied, without control characters that a terminal would obey.
pub fn harmless(line: &str) -> String {
    line.chars()
        .map(|letter| escape_if(letter, letter.is_control() && letter != '\t'))
        .collect()
}

/// Returns what to send instead, a sentence for each kind of error, in the order of the patch.
pub fn list_advice(verdict: &PatchVerdict) -> Vec<&'static str> {
    let errors = verdict.problems.iter().filter(|problem| problem.severity == Severity::Error);
    let mut sentences: Vec<&str> = Vec::new();
    for advice in errors.map(|problem| problem.code.advice()) {
        if !advice.is_empty() && !sentences.contains(&advice) {
            sentences.push(advice);
        }
    }
    sentences.truncate(4);
    sentences
}

/// Shows the lines of a file as they are, which a better patch can be made of.
pub fn show_excerpts(path: &str, hunk: &HunkVerdict) -> String {
    let mut text = String::new();
    for excerpt in &hunk.mismatch.excerpts {
        text.push_str(&format!("{} now has:\n", path.escape_debug()));
        for (line, number) in excerpt.lines.iter().zip(excerpt.first..) {
            text.push_str(&format!("{number:>6} | {}\n", harmless(line)));
        }
        text.push('\n');
    }
    text
}

/// Lists numbers of lines, separated by commas.
pub fn join_numbers(numbers: &[u64]) -> String {
    let shown: Vec<String> = numbers.iter().take(20).map(u64::to_string).collect();
    let last = numbers.last().filter(|_| numbers.len() > 20);
    shown.join(", ") + &last.map_or_else(String::new, |last| format!(" … {last}"))
}

/// Two lines as they are shown side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The expected line.
    pub expected: String,
    /// The line that is there.
    pub actual: String,
    /// A sentence about characters that are written with their codes.
    pub unseen: Option<&'static str>,
}

/// Shows how two lines differ; unusual characters that only one of them has are written with their codes.
pub fn difference(expected: &str, actual: &str) -> Difference {
    let coded = |line: &str, other: &str| {
        escape(line, |letter| {
            // Lines that are cut end in `…`.
            (!matches!(letter, ' '..='~' | '…') && !other.contains(letter)) || is_odd(letter)
        })
    };
    let shown = (coded(expected, actual), coded(actual, expected));
    // Blanks at the end are shown in any case.
    let unseen = !shown.0.starts_with(expected.trim_end_matches([' ', '\t']))
        || !shown.1.starts_with(actual.trim_end_matches([' ', '\t']));
    Difference {
        expected: shown.0,
        actual: shown.1,
        unseen: unseen.then_some("unusual characters are written with their codes"),
    }
}

fn is_odd(letter: char) -> bool {
    let is_odd_space = letter.is_whitespace() && !letter.is_ascii();
    is_odd_space || is_unseen(letter) || (letter.is_control() && letter != '\t')
}

// Takes no room, or only turns its neighbors.
fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    )
}

fn escape_if(letter: char, is_escaped: bool) -> String {
    match letter {
        letter if !is_escaped => letter.to_string(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        letter if letter.is_control() => format!("\\x{:02x}", u32::from(letter)),
        letter => letter.escape_unicode().to_string(),
    }
}

#[cfg(feature = "program")]
pub use program::{one_line, printable, printable_in_color, printable_json};

#[cfg(feature = "program")]
mod program {
    use std::borrow::Cow;

    use super::is_unseen;

    /// Replaces characters that would end a line, or that nobody sees.
    pub fn one_line(text: &str) -> String {
        let is_hidden = |letter: char| {
            letter.is_control() || is_unseen(letter) || matches!(letter, '\u{2028}' | '\u{2029}')
        };
        text.replace(is_hidden, "\u{FFFD}")
    }

    /// Escapes characters that steer a terminal or deceive its reader, as `\u{1b}`.
    pub fn printable(text: &str) -> Cow<'_, str> {
        escaped(text, false, |letter| letter.escape_unicode().to_string())
    }

    /// Escapes the same, except for sequences that only choose a color.
    pub fn printable_in_color(text: &str) -> Cow<'_, str> {
        escaped(text, true, |letter| letter.escape_unicode().to_string())
    }

    /// Escapes the same in JSON as `\u001b`, which reads back unchanged.
    pub fn printable_json(json: &str) -> Cow<'_, str> {
        escaped(json, false, |letter| {
            let units = letter.encode_utf16(&mut [0; 2]).to_vec();
            units.iter().map(|unit| format!("\\u{unit:04x}")).collect()
        })
    }

    fn escaped(text: &str, color: bool, escape: impl Fn(char) -> String) -> Cow<'_, str> {
        // Almost every text is plain, and most are long.
        let mut bytes = text.bytes();
        if bytes.all(|byte| matches!(byte, b' '..=b'~' | b'\n')) || !text.contains(steers) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len() + 16);
        let mut rest = text;
        while let Some(found) = rest.find(steers) {
            let (before, after) = rest.split_at(found);
            out.push_str(before);
            let sequence = if color { color_sequence(after) } else { 0 };
            let letter = after.chars().next().unwrap_or_default();
            // A line end of Windows is a line end.
            if sequence == 0 && !after.starts_with("\r\n") {
                out.push_str(&escape(letter));
            }
            out.push_str(&after[..sequence]);
            rest = &after[sequence.max(letter.len_utf8())..];
        }
        out.push_str(rest);
        Cow::Owned(out)
    }

    // The length of a sequence that only chooses a color; 0 for anything else.
    fn color_sequence(text: &str) -> usize {
        let Some(parameters) = text.strip_prefix("\x1b[") else {
            return 0;
        };
        let end = parameters.find(|letter: char| !letter.is_ascii_digit() && letter != ';');
        end.filter(|end| parameters[*end..].starts_with('m'))
            .map_or(0, |end| 2 + end + 1)
    }

    fn steers(letter: char) -> bool {
        let is_steering = letter.is_control() || (is_unseen(letter) && letter != '\u{ad}');
        is_steering && letter != '\n' && letter != '\t'
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn printable_escapes_terminal_sequences() {
            for (text, shown) in [
                ("a\tb\nc é 漢", "a\tb\nc é 漢"),
                ("\x1b]0;own\x07", "\\u{1b}]0;own\\u{7}"),
                ("a\rb\r\n", "a\\u{d}b\n"),
                ("\u{9b}31m", "\\u{9b}31m"),
                ("x\u{202e}y\u{200b}", "x\\u{202e}y\\u{200b}"),
            ] {
                assert_eq!(printable(text), shown, "{text:?}");
            }
            let text = "\x1b[1;31merror\x1b[0m \x1b[2J";
            assert_eq!(
                printable_in_color(text),
                "\x1b[1;31merror\x1b[0m \\u{1b}[2J"
            );
            assert!(!printable(text).contains('\x1b'));
            assert_eq!(one_line("a\x1b[2Jb\u{202E}c"), "a\u{FFFD}[2Jb\u{FFFD}c");
        }

        #[test]
        fn printable_json_reads_back_unchanged() {
            let value = "a\u{9b}\u{202e}\u{e0041}";
            let json = serde_json::to_string(value).unwrap();
            let shown = printable_json(&json);
            assert!(shown.is_ascii());
            assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{difference, harmless, visible};

    #[test]
    fn visible_shows_unseen_characters() {
        assert_eq!(visible("a b\r"), "a b\\r");
        assert_eq!(visible("a\u{a0}b \t"), "a\\u{a0}b\\x20\\t");
        assert_eq!(visible("\tx\u{200b}"), "\tx\\u{200b}");
        assert_eq!(harmless("a\u{1b}[31m b "), "a\\x1b[31m b ");
    }

    #[test]
    fn difference_shows_codes_of_unusual_characters() {
        for (one, other, shown, other_shown) in [
            ("f(): x", "f():\u{a0}x", "f(): x", r"f():\u{a0}x"),
            ("a\tb c", "a  b c", r"a\tb c", "a  b c"),
            (
                "caf\u{e9} x", "cafe\u{301} x", r"caf\u{e9} x", r"cafe\u{301} x",
            ),
            ("\u{440}\u{430}ss", "pass", r"\u{440}\u{430}ss", "pass"),
            ("\u{200b}x = 1", "x = 1", r"\u{200b}x = 1", "x = 1"),
            ("\u{fb01}le", "file", r"\u{fb01}le", "file"),
            ("\u{2018}a\u{2019}", "'a'", r"\u{2018}a\u{2019}", "'a'"),
            ("x\r", "x", r"x\r", "x"),
        ] {
            for (one, other, shown, other_shown) in [
                (one, other, shown, other_shown),
                (other, one, other_shown, shown),
            ] {
                let found = difference(one, other);
                assert_eq!(
                    (found.expected.as_str(), found.actual.as_str()),
                    (shown, other_shown)
                );
                assert!(found.unseen.is_some(), "{one}");
            }
        }
    }

    #[test]
    fn difference_shows_other_lines_unchanged() {
        for (one, other) in [
            ("caf\u{e9} = 1", "caf\u{e9} = 2"),
            ("  x", "    x"),
            ("x", "  x"),
            ("a b", "ab"),
            ("x ", "x"),
            ("", ""),
        ] {
            let found = difference(one, other);
            assert_eq!(found.unseen, None, "{one} {other}");
            assert_eq!(
                (found.expected, found.actual),
                (visible(one), visible(other))
            );
        }
    }
}
