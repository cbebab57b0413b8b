use regex::Regex;

/// Compiles a pattern of a table; each is covered by a test.
pub(crate) fn compile(pattern: &str) -> Regex {
    #[expect(
        clippy::expect_used,
        reason = "the patterns are constants and a test compiles each"
    )]
    Regex::new(pattern).expect("a pattern of the tables")
}

macro_rules! patterns {
    ($($name:ident $pattern:literal;)*) => {
        $(static $name: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::proof::pattern::compile($pattern));)*

        #[cfg(test)]
        #[test]
        fn patterns_compile() {
            $(assert!(!$name.as_str().is_empty());)*
        }
    };
}
pub(crate) use patterns;

/// A captured number; 0 when it is none.
pub(super) fn number(found: Option<regex::Match<'_>>) -> u64 {
    found.and_then(|it| it.as_str().parse().ok()).unwrap_or(0)
}
