use std::borrow::Cow;

use super::line::Line;
use super::runners::{self, Case};
use super::success::counts;
use crate::model::TestRunner;
use crate::runners::{Count, is_checker, pattern};

// Lines that may stand between the runner's count and the word that the next try begins.
const NEAR: usize = 12;

/// The failing tests of a log in which a command may have been tried several times: what a try said
/// is taken back by the next one that its runner counts to the end, and its lines are emptied.
///
/// A try is over where a wrapper says so (`Attempt 1 failed`, `Retrying, 2 of 3`); of a command that
/// `passed`, also where its runner counts failures and at its last count none.
pub(super) fn last_tries(lines: &mut [Line<'_>], passed: bool) -> Vec<Case> {
    let cases = runners::cases(lines);
    // To find where runners count costs more than a look for such a word.
    if cases.is_empty() || !passed && !lines.iter().any(|line| tells_retry(&line.text)) {
        return cases;
    }
    let is_test = |count: &Count| count.runner.is_none_or(|it| !is_checker(it));
    let mut counts = counts(lines);
    counts.retain(is_test);
    let mut tries: Vec<(usize, usize)> = Vec::new();
    let mut from = 0;
    for (index, red) in counts.iter().enumerate() {
        let later = &counts[index + 1..];
        let mut again = later.iter().filter(|it| it.row == red.row);
        let end = if passed && again.clone().next_back().is_some_and(|it| !it.red) {
            again.next().map(|it| it.end)
        } else {
            retried(red, later, lines).filter(|at| again.any(|it| it.end > *at))
        };
        let first = cases.iter().map(|it| it.at).find(|at| *at >= from);
        if let (true, Some(first), Some(end)) = (red.red, first, end)
            && first < end
        {
            tries.push((first, end));
            from = end;
        }
        from = from.max(red.end);
    }
    if tries.is_empty() {
        return cases;
    }
    for (from, to) in tries {
        for line in lines.get_mut(from..to).unwrap_or_default() {
            line.text = Cow::Borrowed("");
        }
    }
    runners::cases(lines)
}

pattern!(
    RETRY,
    concat!(
        r"(?i)\b(?:attempt #?\d+(?: ?(?:of|/) ?\d+)? (?:has )?(?:failed|exited|ended)|retrying|trying again|will retry",
        r"|(?:attempt|try|retry) ?#?\d+ ?(?:of|/) ?\d+|(?:attempt|try|retry) #?[2-9]$)",
    )
);

fn tells_retry(text: &str) -> bool {
    let words = ["ry", "RY", "ttempt", "TTEMPT"];
    words.iter().any(|word| text.contains(word)) && RETRY.is_match(text)
}

// Where a wrapper says that it tries once more what has just been counted.
fn retried(red: &Count, later: &[Count], lines: &[Line<'_>]) -> Option<usize> {
    let mut since = 0;
    let mut later = later.iter().peekable();
    for (at, line) in lines.iter().enumerate().skip(red.end + 1) {
        if let Some(next) = later.next_if(|it| it.end == at) {
            // cargo and go count each package by itself.
            let by_package = matches!(
                next.runner,
                Some(TestRunner::CargoTest | TestRunner::GoTest)
            );
            if next.row != red.row || !by_package {
                return None;
            }
            since = 0;
        } else if !line.text.trim().is_empty() {
            since += 1;
        }
        if since > NEAR {
            return None;
        }
        if tells_retry(&line.text) {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::diagnose::{LogFacts, diagnose};
    use crate::model::FailureKind as Kind;

    const RED: &str = "==== FAILURES ====\n___ test_f ___\n>   assert 1 == 2\nE   assert 1 == 2\n\n\
                       t/test_f.py:9: AssertionError\n==== short test summary info ====\n\
                       FAILED t/test_f.py::test_f - assert 1 == 2\n1 failed, 24 passed in 0.83s\n";
    const GREEN: &str = ".........................    [100%]\n25 passed in 0.82s\n";
    const LINT: &str = "src/a.py:4:8: F401 [*] `sys` imported but unused\nFound 1 error.\n";

    fn outcome(log: &str, code: Option<i32>) -> (Kind, Vec<String>) {
        let facts = LogFacts {
            exit_code: code,
            ..LogFacts::default()
        };
        let found = diagnose(log, &facts, None);
        (found.kind, found.failing_tests)
    }

    #[test]
    fn a_try_is_taken_back_by_the_next() {
        let f = vec!["t/test_f.py::test_f".to_owned()];
        let again = "Attempt 1 failed. Reason: Child_process exited with error code 1\n";
        let other = RED.replace("test_f", "test_g");
        let jest = |mark: &str, failed: &str| {
            format!(
                "FAIL ./a.test.js\n  ● adds{mark}\n\n    expect(1).toBe(2)\n\nTests:       {failed}3 total\nTime: 1 s\n"
            )
        };
        let jest = format!(
            "{}The command \"npm test\" failed. Retrying, 2 of 3.\nPASS ./a.test.js\nTests:       3 passed, 3 total\n",
            jest("", "1 failed, 2 passed, ")
        );
        for (log, code, expected) in [
            (
                format!("{RED}{again}{GREEN}{LINT}"),
                Some(1),
                (Kind::LintError, vec![]),
            ),
            (
                format!("{LINT}{RED}{again}{GREEN}"),
                Some(1),
                (Kind::LintError, vec![]),
            ),
            (
                format!("{RED}{again}{GREEN}"),
                Some(0),
                (Kind::None, vec![]),
            ),
            (format!("{RED}{GREEN}"), Some(0), (Kind::None, vec![])),
            (
                format!("{other}{RED}{again}{RED}"),
                Some(1),
                (
                    Kind::TestFailure,
                    vec!["t/test_g.py::test_g".to_owned(), f[0].clone()],
                ),
            ),
            (
                format!("{other}{again}{RED}"),
                Some(1),
                (Kind::TestFailure, f.clone()),
            ),
            (jest, Some(0), (Kind::None, vec![])),
            // The same suite under two versions, one command after the other, a try without an end.
            (
                format!("{RED}{GREEN}"),
                Some(1),
                (Kind::TestFailure, f.clone()),
            ),
            (
                format!("{RED}{GREEN}{LINT}"),
                None,
                (Kind::TestFailure, f.clone()),
            ),
            (
                format!("{GREEN}{RED}"),
                Some(0),
                (Kind::TestFailure, f.clone()),
            ),
            (
                format!("{RED}{again}"),
                Some(1),
                (Kind::TestFailure, f.clone()),
            ),
        ] {
            assert_eq!(outcome(&log, code), expected, "{code:?} {log}");
        }
    }
}
