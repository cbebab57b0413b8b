use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::rules::BUILTIN;

// Words of services and runners beside those of the rules.
const WORDS: &[&str] = &[
    "##[",
    "travis_",
    "section_",
    "exited with",
    "exit code",
    "Finished: ",
    "Job failed",
    "Traceback (most",
    "rror: ",
    "FAILED",
    "FAIL:",
    "FAIL ",
    "ERROR ",
    "not ok ",
    " failing",
    "● ",
    "✖ ",
    "✘ ",
    "❯ ",
    "(fail)",
    " failed",
    "panicked",
    "Failures:",
    "<<< ",
    "=====",
    "_____",
    "fatal: ",
];
// Shorter words stand in every other line.
const SHORTEST: usize = 5;

static CUES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let of_rules = BUILTIN
        .rules()
        .map(|rule| rule.cue.as_str())
        .filter(|cue| cue.len() >= SHORTEST && *cue != "Error" && *cue != "error");
    #[expect(
        clippy::expect_used,
        reason = "a few hundred constants, built by every test"
    )]
    AhoCorasick::builder()
        .kind(Some(aho_corasick::AhoCorasickKind::DFA))
        .build(of_rules.chain(WORDS.iter().copied()))
        .expect("a small automaton")
});

/// Whether a raw line holds a word that a rule, a runner or a service knows.
pub(super) fn is_telling(line: &[u8]) -> bool {
    CUES.is_match(line)
}
