//! Regular expressions of the tables. They are compiled on first use, because there are hundreds.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;

/// A pattern of this module's tables, compiled when it is first asked.
macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::runners::compile_regex($pattern));
    };
}
pub(crate) use pattern;

/// A pattern of a row, compiled when a line may be one of it.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Pattern {
    text: String,
    begins_with_number: bool,
    regex: OnceLock<Regex>,
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self {
            begins_with_number: begins_with_number(&text),
            text,
            regex: OnceLock::new(),
        }
    }
}

/// Tells whether every line that matches begins with a number, below blanks.
fn begins_with_number(pattern: &str) -> bool {
    let Some(rest) = pattern.strip_prefix('^') else {
        return false;
    };
    let blanks = rest.strip_prefix(r"\s").map_or(rest, |many| {
        let many = many.trim_start_matches(['*', '+']);
        many.strip_prefix('{')
            .and_then(|many| many.split_once('}'))
            .map_or(many, |many| many.1)
    });
    let (mut chars, mut groups, mut classes) = (blanks.chars(), 0, 0);
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '[' => classes += 1,
            ']' => classes -= 1,
            '(' if classes == 0 => groups += 1,
            ')' if classes == 0 => groups -= 1,
            '|' if classes == 0 && groups == 0 => return false,
            _ => {}
        }
    }
    blanks.starts_with(r"\d+")
}

impl Pattern {
    pub(crate) fn get(&self) -> &Regex {
        self.regex.get_or_init(|| compile_regex(&self.text))
    }

    /// One pattern that finds what any of these does; their groups follow each other.
    pub(crate) fn any<'p>(patterns: impl Iterator<Item = &'p Self>) -> Regex {
        let texts: Vec<&str> = patterns.map(|pattern| pattern.text.as_str()).collect();
        compile_regex(&texts.join("|"))
    }

    pub(crate) fn finds(&self, text: &str) -> bool {
        // To look costs less than to compile, and most lines are text.
        let number = Some(text).filter(|_| self.begins_with_number);
        number.is_none_or(|text| text.trim_start().starts_with(|c: char| c.is_ascii_digit()))
            && self.get().is_match(text)
    }
}

/// Finds which of some words of two bytes and more are in a text, by the first two bytes of each: most texts are short, and an automaton of
/// hundreds of words takes longer to build than they take to read.
#[derive(Debug)]
pub(crate) struct Cues {
    words: Vec<Cue>,
    // The number of the last word that begins with two bytes, from one on.
    slots: Vec<u16>,
}

/// A word of a row.
#[derive(Debug)]
pub(crate) struct Cue {
    text: Box<str>,
    pub(crate) row: usize,
    // The number of another word that begins alike.
    next: u16,
}

fn slot(first: u8, second: u8) -> usize {
    31 * usize::from(first.to_ascii_lowercase()) + usize::from(second.to_ascii_lowercase())
}

impl<'w> FromIterator<(&'w str, usize)> for Cues {
    fn from_iter<T: IntoIterator<Item = (&'w str, usize)>>(words: T) -> Self {
        let mut cues = Self {
            words: Vec::new(),
            slots: vec![0; slot(u8::MAX, u8::MAX) + 1],
        };
        for (text, row) in words {
            debug_assert!(text.len() > 1, "a word of fewer bytes is never found");
            if let [first, second, ..] = text.as_bytes() {
                let head = &mut cues.slots[slot(*first, *second)];
                let (text, next) = (text.into(), *head);
                cues.words.push(Cue { text, row, next });
                *head = u16::try_from(cues.words.len()).unwrap_or(0);
            }
        }
        cues
    }
}

impl Cues {
    /// Holds the words of rows, each of which has some.
    pub(crate) fn of_rows<'w>(rows: impl Iterator<Item = &'w Vec<String>>) -> Self {
        let numbered = rows.zip(0..);
        numbered
            .flat_map(|(cues, row)| cues.iter().map(move |cue| (cue.as_str(), row)))
            .collect()
    }

    /// Returns the rows whose words are in the text, a row as often as one does.
    pub(crate) fn rows<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        let places = self.places(text.as_bytes());
        let same = places.filter(|(place, cue)| text.get(place.clone()) == Some(&cue.text));
        same.map(|(_, cue)| cue.row)
    }

    /// Returns the places of the words, in capitals or not, by where they begin.
    pub(crate) fn places<'t>(
        &'t self,
        text: &'t [u8],
    ) -> impl Iterator<Item = (Range<usize>, &'t Cue)> + 't {
        let head = |pair: &[u8]| self.slots[slot(pair[0], pair[1])];
        let (mut next_pair, mut next) = (0, 0_u16);
        // A loop, because adapters cost three times as much for each byte of text.
        std::iter::from_fn(move || {
            loop {
                while let Some(cue) =
                    next.checked_sub(1).and_then(|at| self.words.get(usize::from(at)))
                {
                    next = cue.next;
                    let from = next_pair - 1;
                    let place = from..from + cue.text.len();
                    let word = text.get(place.clone());
                    if word.is_some_and(|word| is_same(word, cue.text.as_bytes())) {
                        return Some((place, cue));
                    }
                }
                let rest = text.get(next_pair..)?;
                let step = rest.windows(2).position(|pair| head(pair) != 0)?;
                next = head(&rest[step..step + 2]);
                next_pair += step + 1;
            }
        })
    }
}

// Most words that begin alike end differently.
fn is_same(text: &[u8], word: &[u8]) -> bool {
    let [one, other] = [text, word].map(|text| text.last().map(u8::to_ascii_lowercase));
    one == other && text.eq_ignore_ascii_case(word)
}

/// Compiles a pattern of this module's tables; each is covered by a test. Digits and blanks are those that tools
/// print, and any letter beyond ASCII belongs to words: the classes of all scripts make a pattern slow to compile.
pub(crate) fn compile_regex(pattern: &str) -> Regex {
    #[expect(
        clippy::expect_used,
        reason = "the patterns are constants and a test compiles each"
    )]
    Regex::new(&with_plain_classes(pattern)).expect("a pattern of the tables")
}

/// The same pattern with classes that are quick to compile.
fn with_plain_classes(pattern: &str) -> String {
    let mut plain = String::with_capacity(pattern.len());
    let (mut chars, mut depth) = (pattern.chars(), 0_usize);
    while let Some(c) = chars.next() {
        match if c == '\\' { chars.next() } else { None } {
            None => {
                depth = (depth + usize::from(c == '[')).saturating_sub(usize::from(c == ']'));
                plain.push(c);
            }
            // Letters have no other case to look for, which under `(?i)` takes the longest of all.
            Some('w') if depth == 0 => plain.push_str(r"(?-i:[0-9A-Za-z_\x{80}-\x{10ffff}])"),
            // Inside of a class there is no way to say so.
            Some('w') if pattern.starts_with("(?i)") => plain.push_str("0-9A-Za-z_"),
            Some('d') => plain.push_str("[0-9]"),
            Some('s') => plain.push_str(r"[\t-\r ]"),
            Some('S') => plain.push_str(r"[^\t-\r ]"),
            Some('w') => plain.push_str(r"[0-9A-Za-z_\x{80}-\x{10ffff}]"),
            Some('W') => plain.push_str(r"(?-i:[^0-9A-Za-z_\x{80}-\x{10ffff}])"),
            Some('b') => plain.push_str(r"(?-u:\b)"),
            Some(escaped) => plain.extend([c, escaped]),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{Cues, Pattern, begins_with_number, with_plain_classes};

    #[test]
    fn finds_words_anywhere() {
        let words = ["error", "rror: ", "é", "or", "Error"];
        let cues: Cues = words.into_iter().zip(0..).collect();
        let mut found: Vec<usize> = cues.rows("an error: é").collect();
        found.sort_unstable();
        assert_eq!(found, [0, 1, 2, 3]);
        let places = cues.places(b"Or").map(|(place, cue)| (place, cue.row));
        assert_eq!(places.collect::<Vec<_>>(), [(0..2, 3)]);
        assert_eq!(cues.rows("").count(), 0);
    }

    #[test]
    fn a_number_is_looked_for_where_each_match_begins_with_one() {
        for numbered in [r"^\d+\) (a|b)", r"^\s*\d+ x", r"^\s{0,2}\d+\)"] {
            assert!(begins_with_number(numbered), "{numbered}");
        }
        for other in [
            r"\d+ x", r"^\d* x", r"^a\d+", r"^\d+ a|b", r"^(\d+)?", r"^\d?",
        ] {
            assert!(!begins_with_number(other), "{other}");
        }
        let pattern = Pattern::from(r"^\s*\d+\) (?P<name>.+)$".to_owned());
        assert!(pattern.finds("  1) adds") && !pattern.finds("add(1, 2) == 3"));
    }

    #[test]
    fn only_classes_change() {
        assert_eq!(with_plain_classes(r"^\d+[\d.]\("), "^[0-9]+[[0-9].]\\(");
        assert_eq!(with_plain_classes(r"a\\d"), r"a\\d");
        let word = regex::Regex::new(&with_plain_classes(r"^[^\s:]+ \w+\b$")).unwrap();
        assert!(word.is_match("a.py größe") && !word.is_match("a:b c"));
    }
}
