use crate::model::{TestCounts, TestEnd, TestRunner};
use crate::proof::account::TestAccount;
use crate::proof::pattern::{number, patterns};

patterns! {
    CARGO r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; \d+ measured; (\d+) filtered out";
    CARGO_TEST r"^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:, .*)?$";
    NEXTEST r"^\s+Summary \[ *[\d.]+s\] \d+(?:/\d+)? tests? run: (.+)$";
    PART r"(\d+) (passed|failed|skipped|timed out)";
    NEXTEST_TEST r"^\s+(PASS|FAIL) \[ *[\d.]+s\](?: \(.*?\))? +(\S+ \S.*)$";
    GO r"^(ok|FAIL|---)\s+(\S+)\s+(?:[\d.]+s|\(cached\)|\[(?:build|setup) failed\])(.*)$";
    GO_TEST r"^\s*--- (PASS|FAIL|SKIP): (\S+) \([\d.]+s\)$";
}

/// What `cargo test` and `cargo nextest` print.
pub(in crate::proof) fn cargo_test(text: &str) -> Option<TestAccount> {
    let mut account = TestAccount::new(TestRunner::CargoTest);
    for line in text.lines() {
        let line = line.trim_end();
        if let Some(found) = CARGO.captures(line) {
            account.close(TestCounts {
                passed: number(found.get(1)),
                failed: number(found.get(2)),
                skipped: number(found.get(3)),
                deselected: number(found.get(4)),
                errors: 0,
            });
        } else if let Some(found) = NEXTEST.captures(line) {
            let mut counts = TestCounts::default();
            for part in PART.captures_iter(&found[1]) {
                let into = match &part[2] {
                    "passed" => &mut counts.passed,
                    "skipped" => &mut counts.deselected,
                    _ => &mut counts.failed,
                };
                *into += number(part.get(1));
            }
            account.close(counts);
        } else if let Some(found) = CARGO_TEST.captures(line) {
            let end = match &found[2] {
                "ok" => TestEnd::Passed,
                "FAILED" => TestEnd::Failed,
                _ => TestEnd::Skipped,
            };
            account.note(&found[1], end);
        } else if let Some(found) = NEXTEST_TEST.captures(line) {
            let end = if &found[1] == "PASS" {
                TestEnd::Passed
            } else {
                TestEnd::Failed
            };
            account.note(&found[2], end);
        }
    }
    account.seen()
}

/// What `go test` prints. Packages are counted, since tests that pass are listed with `-v` alone.
pub(in crate::proof) fn go_test(text: &str) -> Option<TestAccount> {
    let mut account = TestAccount::new(TestRunner::GoTest);
    for line in text.lines() {
        let line = line.trim_end();
        if let Some(found) = GO.captures(line) {
            let package = &found[2];
            let end = match &found[1] {
                "ok" if found[3].contains("no tests to run") => TestEnd::Skipped,
                "ok" => TestEnd::Passed,
                _ => TestEnd::Failed,
            };
            account.note_file(package, end);
            let one = |is: TestEnd| u64::from(end == is);
            account.close(TestCounts {
                passed: one(TestEnd::Passed),
                failed: one(TestEnd::Failed),
                skipped: one(TestEnd::Skipped),
                ..TestCounts::default()
            });
        } else if let Some(found) = GO_TEST.captures(line) {
            let end = match &found[1] {
                "PASS" => TestEnd::Passed,
                "FAIL" => TestEnd::Failed,
                _ => TestEnd::Skipped,
            };
            account.note(&found[2], end);
        }
    }
    account.seen()
}

#[cfg(test)]
mod tests {
    use super::{cargo_test, go_test};
    use crate::model::TestEnd;

    #[test]
    fn results_of_cargo_are_added() {
        let account = cargo_test(
            "test net::pings ... FAILED\ntest net::a ... ok\ntest net::b ... ignored, slow\n\
             test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n",
        )
        .unwrap();
        let counts = account.counts;
        assert_eq!((account.closings, counts.passed, counts.failed), (2, 3, 1));
        assert_eq!((counts.skipped, counts.deselected), (1, 3));
        assert_eq!(account.tests["net::pings"], TestEnd::Failed);
        let next = cargo_test(
            "        PASS [   0.004s] (1/3) mendit net::a\n     Summary [   0.010s] 3 tests run: 2 passed, 1 failed, 4 skipped\n",
        )
        .unwrap();
        assert_eq!(
            (
                next.counts.passed,
                next.counts.failed,
                next.counts.deselected
            ),
            (2, 1, 4)
        );
        assert_eq!(next.tests["mendit net::a"], TestEnd::Passed);
    }

    #[test]
    fn packages_of_go_are_counted() {
        let account = go_test(
            "--- FAIL: TestA (0.00s)\n    a_test.go:9: no\nFAIL\nFAIL\texample.com/a\t0.003s\nok  \texample.com/b\t0.002s\n\
             ok  \texample.com/c\t0.001s [no tests to run]\n?   \texample.com/d\t[no test files]\nFAIL\texample.com/e [build failed]\nFAIL\n",
        )
        .unwrap();
        assert_eq!((account.counts.passed, account.counts.failed), (1, 2));
        assert_eq!(account.counts.skipped, 1);
        assert_eq!(account.tests["TestA"], TestEnd::Failed);
        assert_eq!(account.files["example.com/b"], TestEnd::Passed);
    }
}
