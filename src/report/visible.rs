use std::fmt::Write as _;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// A line with what is not seen made visible: carriage returns, unusual spaces, characters without
/// width, and blanks at its end.
#[must_use]
pub fn visible(line: &str) -> String {
    let solid = line.trim_end_matches([' ', '\t']);
    let mut text = String::with_capacity(line.len());
    for letter in solid.chars() {
        put(&mut text, letter);
    }
    for letter in line.get(solid.len()..).unwrap_or_default().chars() {
        text.push_str(if letter == '\t' { "\\t" } else { "\\x20" });
    }
    text
}

/// A line as it can be copied, without control characters that a terminal would obey.
#[must_use]
pub fn harmless(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for letter in line.chars() {
        if letter.is_control() && letter != '\t' {
            escape(&mut text, letter);
        } else {
            text.push(letter);
        }
    }
    text
}

/// Two lines side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What was expected, as it is shown.
    pub expected: String,
    /// What is there, as it is shown.
    pub actual: String,
    /// Of lines that look alike: what their difference is made of, as a sentence.
    pub unseen: Option<String>,
}

/// Shows how two lines differ: when they look alike, what differs is written with its code on both
/// sides.
#[must_use]
pub fn difference(expected: &str, actual: &str) -> Difference {
    let (mut one, mut other) = (String::new(), String::new());
    let mut names: Vec<String> = Vec::new();
    for pair in look_alikes(expected, actual).unwrap_or_default() {
        for (side, text) in [(&mut one, pair.0), (&mut other, pair.1)] {
            // How many spaces there are is seen.
            if pair.0 == pair.1 || (is_spaces(pair.0) && is_spaces(pair.1)) {
                text.chars().for_each(|letter| put(side, letter));
                continue;
            }
            for letter in text.chars() {
                escape(side, letter);
                let name = named(letter).filter(|name| !names.contains(name));
                names.extend(name);
            }
        }
    }
    if names.is_empty() {
        return Difference {
            expected: visible(expected),
            actual: visible(actual),
            unseen: None,
        };
    }
    let more = if names.len() > MOST_NAMES {
        ", ..."
    } else {
        ""
    };
    names.truncate(MOST_NAMES);
    Difference {
        expected: one,
        actual: other,
        unseen: Some(format!(
            "the two lines look alike; what differs is written with its code: {}{more}",
            names.join(", ")
        )),
    }
}

const MOST_NAMES: usize = 5;

fn is_spaces(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte == b' ')
}

// The texts of two lines in pairs that look alike; `None` when the lines do not.
fn look_alikes<'a>(one: &'a str, other: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    let (mut one, mut other) = (Signs::new(one), Signs::new(other));
    let mut pairs = Vec::new();
    loop {
        let starts = (one.at, other.at);
        let mut looks = one.take().unwrap_or_default();
        let mut other_looks = other.take().unwrap_or_default();
        while looks != other_looks {
            if looks.len() < other_looks.len() {
                looks.push_str(&one.take()?);
            } else {
                other_looks.push_str(&other.take()?);
            }
        }
        let text = one.line.get(starts.0..one.at)?;
        let other_text = other.line.get(starts.1..other.at)?;
        if text.is_empty() && other_text.is_empty() {
            return Some(pairs);
        }
        pairs.push((text, other_text));
    }
}

// A line, read sign by sign: what a reader takes for one.
struct Signs<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Signs<'a> {
    fn new(line: &'a str) -> Self {
        Self { line, at: 0 }
    }

    // What the next sign looks like: blanks as one, and as none at the end of the line.
    fn take(&mut self) -> Option<String> {
        let rest = self.line.get(self.at..)?;
        let is_blank = rest.chars().next()?.is_whitespace();
        let belongs = |letter: char| {
            if is_blank {
                letter.is_whitespace()
            } else {
                is_combining_mark(letter) || is_unseen(letter)
            }
        };
        let mut letters = rest.char_indices().skip(1);
        let end = letters.find(|(_, letter)| !belongs(*letter));
        let (sign, after) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        self.at += sign.len();
        Some(match (is_blank, after.is_empty()) {
            (true, true) => String::new(),
            (true, false) => " ".to_owned(),
            _ => {
                let seen = sign.nfkc().filter(|it| !is_unseen(*it));
                seen.map(look_alike).collect()
            }
        })
    }
}

// The ASCII character that a letter of another script or a sign of typography looks like.
fn look_alike(letter: char) -> char {
    if letter.is_ascii() {
        return letter;
    }
    let mut pairs = LOOK_ALIKES
        .iter()
        .flat_map(|(odd, plain)| odd.chars().zip(plain.chars()));
    let found = pairs.find(|(odd, _)| *odd == letter);
    found.map_or(letter, |(_, plain)| plain)
}

const LOOK_ALIKES: &[(&str, &str)] = &[
    ("авсԁеһіјкмопрԛѕтухѵԝ", "abcdehijkmonpqstyxvw"),
    ("АВСЕНІЈКМОРԚЅТУХԜ", "ABCEHIJKMOPQSTYXW"),
    ("αικνορυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aikvopuABEZHIKMNOPTYX"),
    ("‘’‚“”„‐‑‒–—―−⁄∕∶", "'''\"\"\"-------//:"),
];

// What is said of a character that its look does not tell.
fn named(letter: char) -> Option<String> {
    let what = match letter {
        '\t' => return Some("a tab".to_owned()),
        ' '..='~' => return None,
        '\u{a0}' | '\u{202f}' => "no-break space",
        _ if letter.is_whitespace() => "another space",
        _ if is_unseen(letter) => "not seen",
        _ if is_combining_mark(letter) => "a mark on the letter before",
        '\u{370}'..='\u{3ff}' => "Greek",
        '\u{400}'..='\u{52f}' => "Cyrillic",
        _ if letter.is_alphabetic() => "a letter",
        _ => "a sign",
    };
    Some(format!("U+{:04X} ({what})", u32::from(letter)))
}

// Takes no room, or only turns what stands beside it.
fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}

fn put(text: &mut String, letter: char) {
    let is_odd_space = letter.is_whitespace() && !letter.is_ascii();
    if is_odd_space || is_unseen(letter) || (letter.is_control() && letter != '\t') {
        escape(text, letter);
    } else {
        text.push(letter);
    }
}

fn escape(text: &mut String, letter: char) {
    // Writing to a String cannot fail.
    let _ = match letter {
        '\r' => write!(text, "\\r"),
        '\t' => write!(text, "\\t"),
        ' ' => write!(text, "\\x20"),
        '!'..='~' => write!(text, "{letter}"),
        letter if letter.is_control() => write!(text, "\\x{:02x}", u32::from(letter)),
        letter => write!(text, "\\u{{{:x}}}", u32::from(letter)),
    };
}

#[cfg(test)]
mod tests {
    use super::{difference, harmless, visible};

    #[test]
    fn what_is_not_seen_is_shown() {
        assert_eq!(visible("a b\r"), "a b\\r");
        assert_eq!(visible("a\u{a0}b \t"), "a\\u{a0}b\\x20\\t");
        assert_eq!(visible("\tx\u{200b}"), "\tx\\u{200b}");
        assert_eq!(harmless("a\u{1b}[31m b "), "a\\x1b[31m b ");
    }

    #[test]
    fn lines_that_look_alike_show_where_they_differ() {
        for (one, other, shown, other_shown, name) in [
            (
                "f(): x",
                "f():\u{a0}x",
                r"f():\x20x",
                r"f():\u{a0}x",
                "no-break",
            ),
            ("a\tb c", "a  b c", r"a\tb c", r"a\x20\x20b c", "a tab"),
            (
                "caf\u{e9} x",
                "cafe\u{301} x",
                r"caf\u{e9} x",
                r"cafe\u{301} x",
                "a mark",
            ),
            (
                "\u{440}\u{430}ss",
                "pass",
                r"\u{440}\u{430}ss",
                "pass",
                "Cyrillic",
            ),
            (
                "\u{200b}x = 1",
                "x = 1",
                r"\u{200b}x = 1",
                "x = 1",
                "not seen",
            ),
            ("x\u{200b}y", "xy", r"x\u{200b}y", "xy", "not seen"),
            ("\u{fb01}le", "file", r"\u{fb01}le", "file", "a letter"),
            (
                "\u{2018}a\u{2019}",
                "'a'",
                r"\u{2018}a\u{2019}",
                "'a'",
                "U+2018",
            ),
            ("x\r", "x", r"x\r", "x", "U+000D"),
        ] {
            let found = difference(one, other);
            assert_eq!(
                (found.expected.as_str(), found.actual.as_str()),
                (shown, other_shown)
            );
            let unseen = found.unseen.unwrap();
            assert!(unseen.contains(name), "{unseen}");
            let turned = difference(other, one);
            assert_eq!(
                (turned.expected, turned.actual),
                (found.actual, found.expected)
            );
        }
    }

    #[test]
    fn lines_that_look_different_are_shown_as_they_are() {
        for (one, other) in [
            ("caf\u{e9} = 1", "caf\u{e9} = 2"),
            ("  x", "    x"),
            ("x", "  x"),
            ("a b", "ab"),
            ("x ", "x"),
            ("", ""),
            ("\u{430}", ""),
            ("", "\u{440}\u{430}"),
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
