//! Regular expressions of the tables. They are compiled on first use, because there are hundreds.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
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
pub(crate) struct Pattern(String, OnceLock<Regex>);

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self(text, OnceLock::new())
    }
}

impl Pattern {
    pub(crate) fn get(&self) -> &Regex {
        self.1.get_or_init(|| compile_regex(&self.0))
    }

    /// One pattern that finds what any of these does; their groups follow each other.
    pub(crate) fn any<'p>(patterns: impl Iterator<Item = &'p Self>) -> Regex {
        let texts: Vec<&str> = patterns.map(|pattern| pattern.0.as_str()).collect();
        compile_regex(&texts.join("|"))
    }

    pub(crate) fn finds(&self, text: &str) -> bool {
        self.get().is_match(text)
    }
}

/// Finds which of some words are in a text.
#[derive(Debug)]
pub(crate) struct Cues {
    words: AhoCorasick,
    rows: Vec<usize>,
}

impl<'w> FromIterator<(&'w str, usize)> for Cues {
    fn from_iter<T: IntoIterator<Item = (&'w str, usize)>>(words: T) -> Self {
        let (words, rows): (Vec<&str>, Vec<usize>) = words.into_iter().unzip();
        // Of all kinds this is built soonest, in half the time of others; most logs are short.
        let kind = Some(AhoCorasickKind::NoncontiguousNFA);
        #[expect(
            clippy::expect_used,
            reason = "a few hundred constants, built by every test"
        )]
        let words = AhoCorasick::builder().kind(kind).build(words).expect("a small automaton");
        Self { words, rows }
    }
}

impl Cues {
    /// Returns the rows whose words are in the text, a row as often as one does.
    pub(crate) fn rows<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        let found = self.words.find_overlapping_iter(text);
        found.filter_map(|found| self.rows.get(found.pattern().as_usize()).copied())
    }
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
    use super::{Cues, with_plain_classes};

    #[test]
    fn words_are_found_wherever_they_stand() {
        let words = ["error", "rror: ", "é", "or"];
        let cues: Cues = words.into_iter().zip(0..).collect();
        let mut found: Vec<usize> = cues.rows("an error: é").collect();
        found.sort_unstable();
        assert_eq!(found, [0, 1, 2, 3]);
        assert_eq!(cues.rows("").count(), 0);
    }

    #[test]
    fn only_classes_change() {
        assert_eq!(with_plain_classes(r"^\d+[\d.]\("), "^[0-9]+[[0-9].]\\(");
        assert_eq!(with_plain_classes(r"a\\d"), r"a\\d");
        let word = regex::Regex::new(&with_plain_classes(r"^[^\s:]+ \w+\b$")).unwrap();
        assert!(word.is_match("a.py größe") && !word.is_match("a:b c"));
    }
}
