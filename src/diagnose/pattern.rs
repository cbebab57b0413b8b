use regex::Regex;

/// A pattern of this module's tables, compiled when it is first asked.
macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::diagnose::pattern::compile($pattern));
    };
}
pub(super) use pattern;

/// Compiles a pattern of this module's tables; each is covered by a test. Digits and blanks are those that tools
/// print, and any letter beyond ASCII belongs to words: the classes of all scripts make a pattern slow to compile.
pub(super) fn compile(pattern: &str) -> Regex {
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
    use super::with_plain_classes;

    #[test]
    fn only_classes_change() {
        assert_eq!(with_plain_classes(r"^\d+[\d.]\("), "^[0-9]+[[0-9].]\\(");
        assert_eq!(with_plain_classes(r"a\\d"), r"a\\d");
        let word = regex::Regex::new(&with_plain_classes(r"^[^\s:]+ \w+\b$")).unwrap();
        assert!(word.is_match("a.py größe") && !word.is_match("a:b c"));
    }
}
