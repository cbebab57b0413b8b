use std::sync::LazyLock;

use regex::Regex;

use super::line::Line;
use super::pattern::compile;

/// The line in which the last runner counts passes and no failure.
pub(super) fn summary_of_success(lines: &[Line<'_>]) -> Option<usize> {
    static SUCCESS: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"^(?:=+ (?:\d+ \w+, )*\d+ passed\b.* in [\d.]+s.*|\d+ passed(?:, \d+ \w+)* in [\d.]+s.*",
            r"|OK(?: \([\w=, ]+\))?|\s+\d+ passing \(.*\)|Tests:\s+(?:\d+ (?:skipped|todo), )*\d+ passed, \d+ total",
            r"|\s+Tests\s+\d+ passed.*|# fail\s+0|# ok|ℹ fail 0|test result: ok\..*|All checks passed!|Success: no issues found.*",
            r"|BUILD SUCCESS(?:FUL)?.*|\d+ examples?, 0 failures.*|Executed \d+ of \d+ .*SUCCESS.*|\d+ specs?, 0 failures",
            r"| 0 fail|\s+\d+ passed \([\d.]+(?:ms|s|m|h)\)|\s+\d+ tests? passed|\s*Tasks:\s+(\d+) successful, \d+ total",
            r"|✖ \d+ problems? \(0 errors.*|Found 0 errors.*|0 errors, .*|Done\. Your build exited with 0\.|Job succeeded|Finished: SUCCESS)$",
        ))
    });
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
