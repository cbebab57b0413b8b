use regex::Regex;

/// Compiles a pattern of this module's tables; each is covered by a test.
pub(super) fn compile(pattern: &str) -> Regex {
    #[expect(
        clippy::expect_used,
        reason = "the patterns are constants and a test compiles each"
    )]
    Regex::new(pattern).expect("a pattern of the tables")
}
