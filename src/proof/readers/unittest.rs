use std::collections::BTreeSet;

use crate::model::{TestCounts, TestEnd, TestRunner};
use crate::proof::account::TestAccount;
use crate::proof::pattern::{number, patterns};

patterns! {
    RAN r"^Ran (\d+) tests? in [\d.]+s$";
    END r"^(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$";
    PART r"([a-zA-Z ]+)=(\d+)";
    HEADING r"^(FAIL|ERROR): (\w+) \(([\w.<>]+)\)";
    LISTED r"^(\w+) \(([\w.<>]+)\)(.*?)(?: \.\.\. (ok|FAIL|ERROR|skipped .*|expected failure|unexpected success))?$";
    STATE r" \.\.\. (ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$";
}

// A module that did not load stands there as a test of its own.
fn is_unloaded(owner: &str) -> bool {
    owner.contains("loader._FailedTest") || owner.contains("ModuleImportFailure")
}

/// What unittest, nose and Django's runner print. Ids are `package.module.Class.method`.
pub(in crate::proof) fn unittest(text: &str, runner: TestRunner) -> Option<TestAccount> {
    let mut account = TestAccount::new(runner);
    let mut failing: BTreeSet<String> = BTreeSet::new();
    let (mut unloaded, mut fixtures) = (0, 0);
    let mut ran = None;
    // The name of a test stands above its docstring, which its end follows.
    let mut named: Option<String> = None;
    for line in text.lines() {
        let line = line.trim_end();
        if let Some(found) = HEADING.captures(line) {
            let (method, owner) = (&found[2], &found[3]);
            if is_unloaded(owner) {
                account.unloaded.insert(method.to_owned());
                account.note(method, TestEnd::Failed);
                unloaded += 1;
            } else if ["setUpClass", "setUpModule"].contains(&method) {
                fixtures += 1;
            } else if !["tearDownClass", "tearDownModule"].contains(&method) {
                let id = id(method, owner);
                account.note(id.clone(), TestEnd::Failed);
                failing.insert(id);
            }
        } else if let Some(found) = LISTED.captures(line).filter(|it| is_unloaded(&it[2])) {
            account.unloaded.insert(found[1].to_owned());
            account.note(&found[1], TestEnd::Failed);
        } else if let Some(found) = LISTED.captures(line) {
            let id = id(&found[1], &found[2]);
            match found.get(4) {
                Some(state) => note(&mut account, id, state.as_str()),
                None => named = Some(id),
            }
        } else if let (Some(_), Some(found)) = (&named, STATE.captures(line)) {
            if let Some(id) = named.take() {
                note(&mut account, id, &found[1]);
            }
        } else if let Some(found) = RAN.captures(line) {
            if ran.is_some() {
                account.wrong.push(half(runner));
            }
            ran = Some(number(found.get(1)));
        } else if let Some((found, all)) = END.captures(line).zip(ran) {
            ran = None;
            let count = |words: &[&str]| {
                let parts = found.get(2).map_or("", |it| it.as_str());
                let parts = PART.captures_iter(parts);
                let known = parts.filter(|part| words.contains(&part[1].trim()));
                known.map(|part| number(part.get(2))).sum::<u64>()
            };
            let said = count(&["failures", "errors", "unexpected successes"]);
            let own = std::mem::take(&mut failing).len() as u64;
            let (lost, fixed) = (std::mem::take(&mut unloaded), std::mem::take(&mut fixtures));
            let failed = if own + lost + fixed == 0 { said } else { own };
            let skipped = count(&["skipped", "SKIP", "expected failures"]);
            account.close(TestCounts {
                passed: all.saturating_sub(failed + lost + skipped),
                failed,
                skipped,
                deselected: 0,
                errors: lost + fixed,
            });
            if &found[1] == "OK" && said > 0 {
                account
                    .wrong
                    .push(format!("{runner} says OK and counts {said} failures"));
            }
        }
    }
    if ran.is_some() {
        account.wrong.push(half(runner));
    }
    account.seen()
}

fn half(runner: TestRunner) -> String {
    format!("{runner} printed half of its closing summary")
}

fn note(account: &mut TestAccount, id: String, state: &str) {
    let end = match state {
        "ok" => TestEnd::Passed,
        "expected failure" => TestEnd::ExpectedFailure,
        state if state.starts_with("skipped") => TestEnd::Skipped,
        _ => TestEnd::Failed,
    };
    account.note(id, end);
}

// Since Python 3.11 the owner ends with the method.
fn id(method: &str, owner: &str) -> String {
    if owner.rsplit('.').next() == Some(method) {
        owner.to_owned()
    } else {
        format!("{owner}.{method}")
    }
}

#[cfg(test)]
mod tests {
    use super::unittest;
    use crate::model::{TestCounts, TestEnd, TestRunner};

    const RULE: &str = "----------------------------------------------------------------------";

    #[test]
    fn closing_summaries_are_counted() {
        let counts = |passed, failed, skipped, errors| TestCounts {
            passed,
            failed,
            skipped,
            deselected: 0,
            errors,
        };
        for (above, closing, expected) in [
            (
                "..s",
                "Ran 3 tests in 0.000s\n\nOK (skipped=1)",
                counts(2, 0, 1, 0),
            ),
            (
                "FAIL: test_f (t.T.test_f) (i=1)\nFAIL: test_f (t.T.test_f) (i=2)",
                "Ran 3 tests in 0.001s\n\nFAILED (failures=2, skipped=1)",
                counts(1, 1, 1, 0),
            ),
            (
                "ERROR: test_u (unittest.loader._FailedTest.test_u)",
                "Ran 1 test in 0.000s\n\nFAILED (errors=1)",
                counts(0, 0, 0, 1),
            ),
            (
                "ERROR: setUpClass (t.T)",
                "Ran 2 tests in 0.000s\n\nFAILED (errors=1)",
                counts(2, 0, 0, 1),
            ),
            (
                "x",
                "Ran 2 tests in 0.000s\n\nOK (expected failures=1)",
                counts(1, 0, 1, 0),
            ),
            (
                "",
                "Ran 0 tests in 0.000s\n\nNO TESTS RAN",
                counts(0, 0, 0, 0),
            ),
            (
                "",
                "Ran 2 tests in 0.002s\n\nOK (SKIP=1)",
                counts(1, 0, 1, 0),
            ),
        ] {
            let text = format!("{above}\n{RULE}\n{closing}\n");
            let account = unittest(&text, TestRunner::Unittest).unwrap();
            assert_eq!((account.closings, account.counts), (1, expected), "{text}");
            assert!(account.wrong.is_empty(), "{:?}", account.wrong);
        }
    }

    #[test]
    fn tests_are_listed() {
        let text = "test_f (tests.test_u.T.test_f) ... ok\ntest_g (tests.test_u.T)\nSays what. ... FAIL\n\
                    test_s (tests.test_u.T.test_s) ... skipped 'x'\n";
        let account = unittest(text, TestRunner::Unittest).unwrap();
        assert_eq!(account.tests["tests.test_u.T.test_f"], TestEnd::Passed);
        assert_eq!(account.tests["tests.test_u.T.test_g"], TestEnd::Failed);
        assert_eq!(account.tests["tests.test_u.T.test_s"], TestEnd::Skipped);
        assert_eq!((account.closings, account.listed), (0, 1));
    }

    #[test]
    fn half_a_summary_and_a_contradiction_are_said() {
        for text in [
            "Ran 3 tests in 0.000s\n",
            "Ran 3 tests in 0.000s\n\nOK (failures=1)\n",
        ] {
            let account = unittest(text, TestRunner::Unittest).unwrap();
            assert_eq!(account.wrong.len(), 1, "{text}");
        }
    }
}
