use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;

/// A pattern of this module's tables, compiled when it is first asked.
macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::runners::compile($pattern));
    };
}
pub(crate) use pattern;

/// The rows of a table of the sources.
pub(crate) fn rows<R: serde::de::DeserializeOwned>(table: &str) -> Vec<R> {
    #[expect(clippy::expect_used, reason = "embedded and tested")]
    let parts: BTreeMap<String, Vec<R>> = crate::model::read_table(table).expect("a table");
    parts.into_values().next().unwrap_or_default()
}

/// A pattern of a row, compiled when a line may be one of it.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Pattern(String, OnceLock<Regex>);

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self(text, OnceLock::new())
    }
}

impl Pattern {
    pub(crate) fn get(&self) -> &Regex {
        self.1.get_or_init(|| compile(&self.0))
    }

    /// One pattern that finds what any of these does; their groups follow each other.
    pub(crate) fn any<'p>(patterns: impl Iterator<Item = &'p Self>) -> Regex {
        let texts: Vec<&str> = patterns.map(|it| it.0.as_str()).collect();
        compile(&texts.join("|"))
    }

    pub(crate) fn finds(&self, text: &str) -> bool {
        self.get().is_match(text)
    }
}

/// Which of some words stand in a text. Quicker to build than an automaton, and most logs are short.
#[derive(Debug)]
pub(crate) struct Cues {
    // By the first two bytes of a word, one more than its place in `words`.
    by_pair: Vec<u16>,
    words: Vec<Vec<(Vec<u8>, usize)>>,
    // Words of one byte or none are taken to stand everywhere.
    always: Vec<usize>,
}

impl<'w> FromIterator<(&'w str, usize)> for Cues {
    fn from_iter<T: IntoIterator<Item = (&'w str, usize)>>(words: T) -> Self {
        let mut cues = Self {
            by_pair: vec![0; 1 << 16],
            words: Vec::new(),
            always: Vec::new(),
        };
        for (word, row) in words {
            let Some(&pair) = word.as_bytes().first_chunk() else {
                cues.always.push(row);
                continue;
            };
            let at = &mut cues.by_pair[usize::from(u16::from_ne_bytes(pair))];
            if *at == 0 {
                cues.words.push(Vec::new());
                *at = u16::try_from(cues.words.len()).unwrap_or(0);
            }
            if let Some(row_words) = cues.words.get_mut(usize::from(*at).wrapping_sub(1)) {
                row_words.push((word.into(), row));
            }
        }
        cues
    }
}

impl Cues {
    /// The rows whose words stand in the text, a row as often as one does.
    pub(crate) fn rows<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        let bytes = text.as_bytes();
        let pairs = bytes.windows(2).enumerate();
        let found = pairs.flat_map(move |(at, pair)| {
            let pair = u16::from_ne_bytes([pair[0], pair[1]]);
            let words = usize::from(self.by_pair[usize::from(pair)]).checked_sub(1);
            let words = words.map_or(&[][..], |it| self.words[it].as_slice());
            let stands = move |(word, _): &&(Vec<u8>, usize)| bytes[at..].starts_with(word);
            words.iter().filter(stands).map(|it| it.1)
        });
        self.always.iter().copied().chain(found)
    }
}

/// Compiles a pattern of this module's tables; each is covered by a test. Digits and blanks are those that tools
/// print, and any letter beyond ASCII belongs to words: the classes of all scripts make a pattern slow to compile.
pub(crate) fn compile(pattern: &str) -> Regex {
    #[expect(
        clippy::expect_used,
        reason = "the patterns are constants and a test compiles each"
    )]
    Regex::new(&with_plain_classes(pattern)).expect("a pattern of the tables")
}

// The blocks of letters, without those of signs, arrows and frames between them.
const LETTERS: &str = r"[A-Za-z\x{c0}-\x{1fff}\x{2c00}-\x{2dff}\x{3005}-\x{3006}\x{3040}-\x{d7ff}\x{f900}-\x{fdff}\x{10000}-\x{1efff}\x{20000}-\x{3ffff}]";

/// The same pattern with classes that are quick to compile.
fn with_plain_classes(pattern: &str) -> String {
    let mut plain = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match if c == '\\' { chars.next() } else { None } {
            None => plain.push(c),
            Some('d') => plain.push_str("[0-9]"),
            Some('s') => plain.push_str(r"[\t-\r ]"),
            Some('S') => plain.push_str(r"[^\t-\r ]"),
            Some('w') => plain.push_str(r"[0-9A-Za-z_\x{80}-\x{10ffff}]"),
            Some('W') => plain.push_str(r"[^0-9A-Za-z_\x{80}-\x{10ffff}]"),
            Some('p') if chars.as_str().starts_with("{L}") => {
                plain.push_str(LETTERS);
                chars = chars.as_str()[3..].chars();
            }
            Some('p') if chars.as_str().starts_with("{N}") => {
                plain.push_str("[0-9]");
                chars = chars.as_str()[3..].chars();
            }
            Some('b') => plain.push_str(r"(?-u:\b)"),
            Some(escaped) => plain.extend([c, escaped]),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{Cues, with_plain_classes};

    #[test]
    fn words_are_found_wherever_they_stand() {
        let words = ["error", "rror: ", "e", "é", "or"];
        let cues: Cues = words.into_iter().zip(0..).collect();
        let found = |text| cues.rows(text).collect::<Vec<usize>>();
        assert_eq!(found("an error: é"), [2, 0, 1, 4, 3]);
        assert_eq!(found(""), [2]);
    }

    #[test]
    fn only_classes_change() {
        assert_eq!(with_plain_classes(r"^\d+[\d.]\("), "^[0-9]+[[0-9].]\\(");
        assert_eq!(with_plain_classes(r"a\\d"), r"a\\d");
        let word = regex::Regex::new(&with_plain_classes(r"^[^\s:]+ \w+\b$")).unwrap();
        assert!(word.is_match("a.py größe") && !word.is_match("a:b c"));
    }
}
