use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::line::{Line, Mark};
use super::pattern::pattern;

/// Marks the lines that tell nothing of a failure: passed, skipped and expected tests, sections of
/// warnings, times and coverage, echoed scripts, what a program under test wrote to its console.
pub(super) fn mark(lines: &mut [Line<'_>]) {
    let mut section = Section::None;
    for line in lines.iter_mut() {
        let text = line.text.as_ref();
        section = section.after(text, &line.mark);
        line.quiet = section != Section::None
            || matches!(line.mark, Mark::Command | Mark::Remark)
            || is_of_no_failure(text);
    }
    pending(lines);
}

// Mocha lists a test that is yet to be written with a dash, among those that passed.
fn pending(lines: &mut [Line<'_>]) {
    let marked = |line: &Line<'_>| line.text.trim_start().starts_with(['✓', '✔', '√']);
    for at in 0..lines.len() {
        if !lines[at].text.trim_start().starts_with("- ") || !lines[at].text.starts_with(' ') {
            continue;
        }
        let near = &lines[at.saturating_sub(3)..(at + 4).min(lines.len())];
        let tree = near.iter().any(marked)
            || lines[at..]
                .iter()
                .take(12)
                .any(|line| line.text.contains(" pending"));
        lines[at].quiet |= tree;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    /// The script of a step and its environment, until the group ends.
    Script,
    /// Warnings and times of pytest, until the next ruled heading.
    Ruled,
    /// A table of coverage, until a line without a column.
    Coverage,
    /// What a test wrote to jest's console, until the next heading.
    Console,
    /// What a test wrote, in vitest's words, until an empty line.
    Stream,
}

impl Section {
    fn after(self, text: &str, mark: &Mark) -> Self {
        match mark {
            Mark::Open(name) if name.starts_with("Run ") => return Self::Script,
            Mark::Close(_) if self == Self::Script => return Self::None,
            _ => {}
        }
        if self == Self::Script {
            return self;
        }
        let bare = text.trim_start();
        let over = match self {
            Self::Ruled => text.starts_with("====") || text.starts_with("____"),
            Self::Coverage => !text.contains('|') && !text.starts_with("---"),
            Self::Console => {
                bare.starts_with('●')
                    || bare.starts_with("FAIL ")
                    || bare.starts_with("PASS ")
                    || (!text.is_empty() && bare.len() == text.len())
            }
            Self::Stream => bare.is_empty(),
            Self::None | Self::Script => false,
        };
        let begun = Self::begins(text, bare);
        if begun != Self::None {
            begun
        } else if over {
            Self::None
        } else {
            self
        }
    }

    fn begins(text: &str, bare: &str) -> Self {
        if text.starts_with("====")
            && [
                "warnings summary",
                "slowest ",
                "test durations",
                " PASSES ",
                "rerun test summary",
            ]
            .iter()
            .any(|word| text.contains(word))
        {
            return Self::Ruled;
        }
        if bare.starts_with("console.") && CONSOLE.is_match(bare) {
            return Self::Console;
        }
        if (bare.starts_with("stderr | ") || bare.starts_with("stdout | ")) && text.contains('.') {
            return Self::Stream;
        }
        if bare.starts_with("File") && COVERAGE.is_match(bare) {
            return Self::Coverage;
        }
        Self::None
    }
}

pattern!(
    CONSOLE,
    r"^console\.(?:log|error|warn|info|debug|trace|dir|assert)(?:$| \S+:\d+$)"
);
pattern!(COVERAGE, r"^File\s+\|\s+% ");

static CUES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let cues = [
        "ok",
        "PASS",
        "✓",
        "✔",
        "√",
        "SKIP",
        "skip",
        "XFAIL",
        "xfail",
        "XPASS",
        "arn",
        "WARN",
        "npm notice",
        "(node:",
        "# ",
        "expected failure",
        "+ ",
        "$ ",
        "allowed",
        "etry",
        "etrie",
        "✅",
        "ASSED",
        "⚠",
        "○",
        "↓",
    ];
    #[expect(clippy::expect_used, reason = "a few constants, built by every test")]
    AhoCorasick::new(cues).expect("a small automaton")
});

pattern!(
    NO_FAILURE,
    concat!(
        r"^\s*(?:",
        // Marks of passed tests.
        r"(?:\[\s*\d+%\] )?[✓✔√✅○↓]",
        r"|ok \d+\b|ok\s+\S+\s+(?:[\d.]+s|\(cached\))|PASS(?:ED)?\b|--- (?:PASS|SKIP):|SKIP(?:PED)?\b|XFAIL|XPASS",
        r"|test \S+ \.\.\. (?:ok|ignored)",
        r"|\[(?:gw\d+)\] \[\s*\d+%\] (?:PASSED|SKIPPED|XFAIL|XPASS)",
        // Pytest, unittest and nose name the test first.
        r"|\S.*(?:::|\.py).* (?:PASSED|SKIPPED|XFAIL|XPASS)\b.*",
        r"|\S.* \.\.\. (?:ok|skipped\b.*|expected failure|SKIP\b.*)$",
        r"|not ok \d+ .*# (?i:to-?do|skip)\b",
        // Warnings of package managers and interpreters, and of pip's retries.
        r"|npm (?:warn|WARN)|npm notice|warning[: ]|WARN(?:ING)?\b[: ]?|\[WARN(?:ING)?\]|\(node:\d+\) (?:\[\w+\] )?(?:\w*Deprecation\w*|\w*Experimental\w*|Warning)",
        r"|\S*DeprecationWarning|\S+:\d+: \w*Warning: ",
        // Findings of linters that are warnings.
        r"|\d+:\d+\s+(?:warning|⚠)\s",
        // Scripts as a shell echoes them.
        r"|\+{1,3} [\w./(\[{':]|\$ \S",
        r")",
    )
);

fn is_of_no_failure(text: &str) -> bool {
    CUES.is_match(text) && NO_FAILURE.is_match(text) && !text.contains("UnhandledPromiseRejection")
}

#[cfg(test)]
mod tests {
    use crate::diagnose::normalise::lines;

    #[test]
    fn lines_of_no_failure_are_quiet() {
        for (text, quiet) in [
            (
                "  ✓ should display error on Invalid JSON-RPC response",
                true,
            ),
            ("tests/a.py::test_x[command not found] PASSED [ 3%]", true),
            ("test_x (a.B) ... skipped 'PYMONGO is not set'", true),
            ("ok 3 - handles ENOSPC", true),
            ("npm warn deprecated x", true),
            ("+ cat missing.txt", true),
            ("--- PASS: TestX (0.01s)", true),
            ("E   AssertionError: assert 'ok'", false),
            ("not ok 3 - handles it", false),
            ("  1) should skip", false),
            ("cat: ok: No such file or directory", false),
        ] {
            assert_eq!(lines(text)[0].quiet, quiet, "{text}");
        }
    }

    #[test]
    fn a_script_is_quiet_until_its_group_ends() {
        let log = "##[group]Run x\n  echo 'ERROR: no'\n##[endgroup]\nERROR: yes";
        let quiet: Vec<bool> = lines(log).iter().map(|line| line.quiet).collect();
        assert_eq!(quiet, [true, true, false, false]);
    }
}
