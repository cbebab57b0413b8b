use crate::model::{TestCounts, TestEnd, TestRunner};
use crate::proof::account::TestAccount;
use crate::proof::pattern::{number, patterns};

patterns! {
    CLOSING r"^=* ?((?:\d+ [a-z]+(?: [a-z]+)?(?:, )?)+|no tests ran) in [\d.]+ ?s(?:econds)?(?: \([\d:, a-z]+\))? ?=*$";
    PART r"(\d+) ([a-z]+(?: [a-z]+)?)";
    COLLECTED r"^(?:collecting \.\.\. )?collected (\d+) items?(?: / (\d+) errors?)?(?: / (\d+) deselected)?";
    VERBOSE r"^(?:\[gw\d+\] \[ *\d+%\] )?(?:(PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR) )?(\S+\.\w+::.+?|\S+\.py)(?: (PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR)(?: \(.*\))?)?(?:\s+\[ *\d+%\])?$";
    SUMMARY r"^(FAILED|ERROR) (\S+\.\w+(?:::.+?)?)(?: - .*)?$";
}

/// What pytest prints. Ids are as in its own report: `tests.test_a.T.test_f`.
pub(in crate::proof) fn pytest(text: &str) -> Option<TestAccount> {
    let mut account = TestAccount::new(TestRunner::Pytest);
    let mut collected = None;
    let (mut sub_failed, mut teardown) = (0, 0);
    for line in text.lines() {
        let line = line.trim_end();
        if line.contains("::") && VERBOSE.is_match(line) || line.starts_with("ERROR ") {
            verbose(line, &mut account);
        }
        if line.starts_with("SUBFAIL") {
            sub_failed += 1;
        } else if line.starts_with('_') && line.contains(" ERROR at teardown of ") {
            teardown += 1;
        } else if let Some(found) = COLLECTED.captures(line) {
            collected = Some(number(found.get(1)).saturating_sub(number(found.get(3))));
        } else if let Some(found) = CLOSING.captures(line) {
            let Some(counts) = closing(&found[1]) else {
                continue;
            };
            let known = TestCounts {
                failed: counts
                    .failed
                    .saturating_sub(std::mem::take(&mut sub_failed)),
                errors: counts.errors.saturating_sub(std::mem::take(&mut teardown)),
                ..counts
            };
            // What was collected and not run was stopped before it.
            if let Some(all) = collected
                .take()
                .filter(|_| known.failed + known.errors == 0)
                && all > known.total()
            {
                account.wrong.push(format!(
                    "pytest collected {all} tests and ended {} of them",
                    known.total()
                ));
            }
            account.close(known);
        }
    }
    account.seen()
}

// Parts of a closing summary; `None` when none of its words is about tests.
fn closing(text: &str) -> Option<TestCounts> {
    if text == "no tests ran" {
        return Some(TestCounts::default());
    }
    let mut counts = TestCounts::default();
    let mut known = false;
    for part in PART.captures_iter(text) {
        let count = number(part.get(1));
        let into = match &part[2] {
            "passed" | "xpassed" => &mut counts.passed,
            "failed" => &mut counts.failed,
            "error" | "errors" => &mut counts.errors,
            "skipped" | "xfailed" => &mut counts.skipped,
            "deselected" => &mut counts.deselected,
            _ => continue,
        };
        *into += count;
        known = true;
    }
    known.then_some(counts)
}

fn verbose(line: &str, account: &mut TestAccount) {
    if let Some(found) = SUMMARY.captures(line) {
        let id = dotted(&found[2]);
        if !found[2].contains("::") {
            account.unloaded.insert(id.clone());
        }
        account.note(id, TestEnd::Failed);
    } else if let Some(found) = VERBOSE.captures(line) {
        let Some(word) = found.get(3).or(found.get(1)) else {
            return;
        };
        let end = match word.as_str() {
            "PASSED" | "XPASS" => TestEnd::Passed,
            "SKIPPED" => TestEnd::Skipped,
            "XFAIL" => TestEnd::ExpectedFailure,
            _ => TestEnd::Failed,
        };
        account.note(dotted(&found[2]), end);
    }
}

/// `tests/test_a.py::T::test_f[a/b]` as reports spell it: `tests.test_a.T.test_f[a/b]`.
pub(in crate::proof) fn dotted(id: &str) -> String {
    let (name, parameters) = id.find('[').map_or((id, ""), |at| id.split_at(at));
    let (path, rest) = name
        .split_once("::")
        .map_or((name, ""), |(path, rest)| (path, rest));
    let path = path
        .strip_suffix(".py")
        .unwrap_or(path)
        .replace(['/', '\\'], ".");
    let mut dotted = path;
    for part in rest.split("::").filter(|it| !it.is_empty()) {
        dotted.push('.');
        dotted.push_str(part);
    }
    dotted + parameters
}

#[cfg(test)]
mod tests {
    use super::{dotted, pytest};
    use crate::model::TestCounts;

    #[test]
    fn closing_summaries_are_counted() {
        let counts = |passed, failed, skipped, deselected, errors| TestCounts {
            passed,
            failed,
            skipped,
            deselected,
            errors,
        };
        for (text, expected) in [
            (
                "===== 7 passed, 2 skipped, 2 xfailed in 0.04s =====",
                counts(7, 0, 4, 0, 0),
            ),
            (
                "7 passed, 1 warning, 2 subtests passed in 0.05s",
                counts(7, 0, 0, 0, 0),
            ),
            (
                "SUBFAILED(i=1) tests/test_u.py::T::test_f - AssertionError\n=== 2 failed, 5 passed in 61.04s (0:01:01) ===",
                counts(5, 1, 0, 0, 0),
            ),
            (
                "=== 3 passed, 2 deselected in 0.1s ===",
                counts(3, 0, 0, 2, 0),
            ),
            ("=== 2 errors in 0.12s ===", counts(0, 0, 0, 0, 2)),
            (
                "___ ERROR at teardown of test_x ___\n=== 1 passed, 1 error in 0.12s ===",
                counts(1, 0, 0, 0, 0),
            ),
            ("1 failed, 2 passed in 0.03 seconds", counts(2, 1, 0, 0, 0)),
            ("=== no tests ran in 0.00s ===", counts(0, 0, 0, 0, 0)),
        ] {
            let account = pytest(text).unwrap();
            assert_eq!((account.closings, account.counts), (1, expected), "{text}");
        }
        for text in ["3 tests collected in 0.01s", "done in 2s", "4 files in 3s"] {
            assert_eq!(pytest(text), None, "{text}");
        }
    }

    #[test]
    fn tests_are_listed() {
        let account = pytest(
            "tests/test_a.py::T::test_f FAILED   [ 12%]\n\
             tests/test_a.py::test_p[a b] PASSED  [ 37%]\n\
             [gw0] [ 50%] PASSED tests/test_a.py::test_x \n\
             tests/test_a.py::test_sk SKIPPED (not now) [ 37%]\n\
             ERROR tests/test_u.py - ImportError: no\n\
             FAILED tests/test_a.py::T::test_f - assert 1 == 2\n",
        )
        .unwrap();
        let listed: Vec<&str> = account.tests.keys().map(String::as_str).collect();
        assert_eq!(
            listed,
            [
                "tests.test_a.T.test_f",
                "tests.test_a.test_p[a b]",
                "tests.test_a.test_sk",
                "tests.test_a.test_x",
                "tests.test_u"
            ]
        );
        assert_eq!(account.listed, 2);
        assert!(account.unloaded.contains("tests.test_u"));
        assert_eq!(dotted("a/b.py::T::t[x/y::z]"), "a.b.T.t[x/y::z]");
    }

    #[test]
    fn tests_that_were_collected_and_did_not_end_are_missed() {
        let account = pytest("collected 3 items\n\n=== 2 passed in 0.04s ===").unwrap();
        assert_eq!(account.wrong.len(), 1);
        let fine = pytest(
            "collected 5 items / 2 deselected / 3 selected\n=== 3 passed, 2 deselected in 1s ===",
        );
        assert!(fine.unwrap().wrong.is_empty());
    }
}
