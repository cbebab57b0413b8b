use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Input};

use super::providers::PROVIDERS;
use super::rules::BUILTIN;

// Shorter words stand in every other line.
const SHORTEST: usize = 5;

static CUES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let of_rules = BUILTIN
        .rules()
        .map(|rule| rule.cue.clone())
        .filter(|cue| cue.len() >= SHORTEST && cue != "Error" && cue != "error");
    let placed = PROVIDERS
        .words
        .placed
        .iter()
        .flat_map(|end| (1..=9).map(move |digit| format!("{end}:{digit}")));
    let words = PROVIDERS.words.telling.iter().cloned();
    #[expect(
        clippy::expect_used,
        reason = "a few hundred constants, built by every test"
    )]
    AhoCorasick::builder()
        .kind(Some(aho_corasick::AhoCorasickKind::DFA))
        .build(of_rules.chain(placed).chain(words))
        .expect("a small automaton")
});

/// Where raw bytes from `from` on hold what a rule, a runner or a service knows.
pub(super) fn word(bytes: &[u8], from: usize) -> Option<usize> {
    if from >= bytes.len() {
        return None;
    }
    CUES.find(Input::new(bytes).range(from..))
        .map(|it| it.start())
}

#[cfg(test)]
mod tests {
    use super::{BUILTIN, word};

    #[test]
    fn the_example_of_every_rule_tells_something() {
        // Ruff's full form names the rule first and the place below it.
        let below = |id: &str| {
            if id.starts_with("ruff-") {
                "\n --> a.py:1:8"
            } else {
                ""
            }
        };
        let silent: Vec<&str> = BUILTIN
            .rules()
            .filter(|rule| {
                let lines = format!("{}{}\n", rule.example, below(&rule.id));
                word(lines.as_bytes(), 0).is_none()
            })
            .map(|rule| rule.example.as_str())
            .collect();
        assert!(silent.is_empty(), "{silent:#?}");
    }

    #[test]
    fn what_runners_say_of_a_failing_test_tells_something() {
        for line in [
            "FAILED tests/a.py::T::test_x[a - b] - assert 1 == 2",
            "____ T.test_x[1.5] ____",
            "ERROR tests/a.py - ModuleNotFoundError: x",
            "FAIL: test_x (a.T.test_x) (i=1)",
            "  \u{1b}[31m●\u{1b}[39m auth › locks",
            "  1 failing",
            "not ok 1 - adds",
            "✖ failing tests:",
            "  \u{1b}[31m✘\u{1b}[39m [fail]: adds",
            "(fail) math > adds [0.52ms]",
            "adds ... FAILED (4ms)",
            "  1) [chromium] › a.spec.ts:3:5 › page › opens ────",
            "--- FAIL: TestA (0.00s)",
            "testA(com.x.NetTest)  Time elapsed: 0.01 sec  <<< FAILURE!",
            "rspec ./spec/a_spec.rb:3 # Net pings",
            "src/a.ts(1,18): error TS2304: Cannot find name 'total'.",
            "  3:5  error  'x' is not defined  no-undef",
            "  3:5  ✖  Unexpected empty block  block-no-empty",
        ] {
            assert!(word(format!("{line}\n").as_bytes(), 0).is_some(), "{line}");
        }
        assert_eq!(word(b"nothing to see here\n", 0), None);
    }
}
