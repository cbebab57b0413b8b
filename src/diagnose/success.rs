//! Recognizes a log of a run that passed.

use super::line::{Line, Mark};
use super::steps::tells_failure;
use crate::runners::{self, pattern};

/// Whether a runner says at the end that all went well, no word of failure follows, and none of a service
/// or of what ran it is anywhere.
pub(super) fn is_success(lines: &[Line<'_>]) -> bool {
    summary_of_success(lines).is_some_and(|at| !denies_success(lines, at + 1))
        && !lines.iter().any(|line| line.mark == Mark::Error || tells_failure(line))
}

/// Whether a word of failure is in a line from here on.
pub(super) fn denies_success(lines: &[Line<'_>], from: usize) -> bool {
    lines.get(from..).unwrap_or_default().iter().any(says_failure)
}

/// Whether a line says that something failed.
pub(super) fn says_failure(line: &Line<'_>) -> bool {
    let denies = ["0", "no ", "No ", "zero", "without", "under"];
    let denies = denies.iter().any(|word| line.text.contains(word));
    let in_words = FAILURE.is_match(&line.text)
        && (!denies || FAILURE.is_match(&NOTHING.replace_all(&line.text, "")));
    line.mark != Mark::Remark && (in_words || tells_failure(line))
}

// A count of zero, or a denial.
pattern!(
    NOTHING,
    r"(?i)\b(?:no|zero|0|without(?: any)?) (?:\w+ )?(?:errors?|fail\w*|exceptions?)|\b(?:errors?|fail\w*):? +0\b|fail_under|fail-under"
);
// Words, and no parts of a path or of a name.
pattern!(
    FAILURE,
    concat!(
        r"(?i)(?:^|[^\w./\\@=-])(?:errors?|fail|fails|failed|failing|failures?|fatal|panic(?:ked)?|exceptions?|traceback|aborted|killed|terminated",
        r"|crash(?:ed)?|elifecycle|segmentation|core dumped|cannot|could not|unable to|(?:does|did|is|are|was|were) not (?:meet|met|reached?|succeed|complete)|not (?:met|reached|found))",
        r"(?:[^\w./\\=-]|[.:](?:\s|$)|$)|[a-z](?:Error|Exception)\b|npm (?:ERR!|error)"
    )
);
/// The line in which the last runner counts passes and no failure.
pub(super) fn summary_of_success(lines: &[Line<'_>]) -> Option<usize> {
    let filled = (0..lines.len()).rev().filter(|at| !lines[*at].text.trim().is_empty());
    // Filled lines at the end of a log in which its last runner counts.
    let from = filled.take(60).last()?;
    let own = lines[from..].iter().map(|line| match line.captured {
        true => "",
        false => line.text.trim_end(),
    });
    let text = own.collect::<Vec<&str>>().join("\n");
    let last = runners::counts(&text).pop().filter(|count| !count.red)?;
    Some(from + text.get(..last.end)?.matches('\n').count())
}

#[cfg(test)]
mod tests {
    use super::{FAILURE, NOTHING, denies_success};
    use crate::diagnose::normalise::lines;

    #[test]
    fn distinguishes_failure_words_from_names() {
        for line in [
            "src/errors.ts | 100 | 100 |",
            "errors.py      10      0   100%",
            "0 errors and 1 warning potentially fixable with the `--fix` option.",
            "ℹ fail 0",
            "no failures",
            "Failed:    0",
            "test-fail.log written",
            "Ran all test suites.",
        ] {
            assert!(!denies_success(&lines(line), 0), "{line}");
        }
        for line in [
            "Error: x",
            "error TS2304: nothing of the name",
            "ValueError: bad",
            "2 failed",
            "FAIL",
            "Traceback (most recent call last):",
            "Threshold for lines was not met.",
            "sh: 1: jest: not found",
            "make: *** [Makefile:2: test] Error 1",
        ] {
            assert!(denies_success(&lines(line), 0), "{line}");
        }
        assert!(!FAILURE.is_match(&NOTHING.replace_all("0 failed", "")));
    }
}
