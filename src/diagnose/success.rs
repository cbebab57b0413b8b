use super::line::{Line, Mark};
use super::pattern::pattern;

/// Whether a runner says at the end that all went well, no word of failure follows, and none of a service
/// or of what ran it stands anywhere.
pub(super) fn is_success(lines: &[Line<'_>]) -> bool {
    let ends_badly = |line: &Line<'_>| line.mark == Mark::Error || BAD_END.is_match(&line.text);
    summary_of_success(lines).is_some_and(|at| !denies_success(lines, at + 1))
        && !lines.iter().any(ends_badly)
}

/// Whether a word of failure stands in a line from here on.
pub(super) fn denies_success(lines: &[Line<'_>], from: usize) -> bool {
    let rest = lines.get(from..).unwrap_or_default();
    rest.iter()
        .filter(|line| line.mark != Mark::Remark)
        .any(|line| {
            BAD_END.is_match(&line.text) || FAILURE.is_match(&NOTHING.replace_all(&line.text, ""))
        })
}

// A count of none, or a denial.
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
// How a service, a shell or a program that ran others says that one of them failed.
pattern!(
    BAD_END,
    concat!(
        r"^\s*(?:\S+ )?(?:ERROR: Job failed|Job failed(?: \(|: | with )|(?:Error: )?Process completed with exit code [1-9]",
        r"|(?:error )?Command failed with (?:exit code|signal) |npm (?:ERR!|error) (?:code|Lifecycle|Test failed)|.*\bELIFECYCLE\b|g?make(?:\[\d+\])?: \*\*\* ",
        r"|(?:Exited with|The command exited with|Process exited with)(?: code| status)? (?:exit (?:code|status) )?[1-9]|Finished: (?:FAILURE|UNSTABLE|ABORTED)",
        r"|(?:script )?returned exit code [1-9]|Build failed\b|BUILD FAILED|.*[Ee]xited with (?:code|status) [1-9]\d*\.?$)"
    )
);

/// The line in which the last runner counts passes and no failure.
pub(super) fn summary_of_success(lines: &[Line<'_>]) -> Option<usize> {
    pattern!(
        SUCCESS,
        concat!(
            r"^(?:=+ (?:\d+ \w+, )*\d+ passed\b.* in [\d.]+s.*|\d+ passed(?:, \d+ \w+)* in [\d.]+s.*",
            r"|OK(?: \([\w=, ]+\))?|\s+\d+ passing \(.*\)|Tests:\s+(?:\d+ (?:skipped|todo), )*\d+ passed, \d+ total",
            r"|\s+Tests\s+\d+ passed.*|# fail\s+0|# ok|ℹ fail 0|test result: ok\..*|All checks passed!|Success: no issues found.*",
            r"|BUILD SUCCESS(?:FUL)?.*|\d+ examples?, 0 failures.*|Executed \d+ of \d+ .*SUCCESS.*|\d+ specs?, 0 failures",
            r"| 0 fail|\s+\d+ passed \([\d.]+(?:ms|s|m|h)\)|\s+\d+ tests? passed|\s*Tasks:\s+(\d+) successful, \d+ total",
            r"|✖ \d+ problems? \(0 errors.*|Found 0 errors.*|0 errors, .*|Done\. Your build exited with 0\.|Job succeeded|Finished: SUCCESS)$",
        )
    );
    lines
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, line)| !line.text.trim().is_empty())
        .take(60)
        .find(|(_, line)| {
            let text = line.text.trim_end();
            text.len() < 200
                && text
                    .bytes()
                    .next()
                    .is_some_and(|byte| !byte.is_ascii_lowercase() || byte == b't')
                && SUCCESS.is_match(text)
        })
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::{FAILURE, NOTHING, denies_success};
    use crate::diagnose::normalise::lines;

    #[test]
    fn words_of_failure_are_told_from_names_and_counts_of_none() {
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
