use regex::Regex;

/// A pattern of this module's tables, compiled when it is first asked.
macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::diagnose::pattern::compile($pattern));
    };
}
pub(super) use pattern;

/// Compiles a pattern of this module's tables; each is covered by a test. `\d` means the ten digits
/// that tools print: those of all scripts make a pattern slow to compile.
pub(super) fn compile(pattern: &str) -> Regex {
    #[expect(
        clippy::expect_used,
        reason = "the patterns are constants and a test compiles each"
    )]
    Regex::new(&with_plain_digits(pattern)).expect("a pattern of the tables")
}

fn with_plain_digits(pattern: &str) -> String {
    let mut plain = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match if c == '\\' { chars.next() } else { None } {
            None => plain.push(c),
            Some('d') => plain.push_str("[0-9]"),
            Some(escaped) => plain.extend([c, escaped]),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::with_plain_digits;

    #[test]
    fn only_the_class_of_digits_changes() {
        assert_eq!(with_plain_digits(r"^\d+[\d.]\w"), "^[0-9]+[[0-9].]\\w");
        assert_eq!(with_plain_digits(r"a\\d"), r"a\\d");
    }
}
