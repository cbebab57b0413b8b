use crate::model::{TestCounts, TestEnd, TestRunner};
use crate::proof::account::TestAccount;
use crate::proof::pattern::{number, patterns};

patterns! {
    TESTS r"^\s+Tests  (no tests|.*\(\d+\))$";
    FILES r"^ ?Test Files  (.*\(\d+\)|no tests)$";
    PART r"(\d+) (passed|failed|skipped|todo|expected fail)";
    FILE r"^\s*([✓❯×↓✗]) (?:\|[^|]+\| )?(\S+\.[cm]?[jt]sx?) (?:\(\d+ tests?|\[ | ?\()";
    TEST r"^\s*([✓×↓✗□]) (?:\|[^|]+\| )?(\S+\.[cm]?[jt]sx?(?::\d+:\d+)? > .+?)(?: \d+m?s)?(?: \[.*\])?$";
    FAIL r"^\s*FAIL\s+(?:\|[^|]+\| )?(\S+\.[cm]?[jt]sx?)(?: > (.+?))?(?: \[ .+ \])?$";
    WRITTEN r"^\s+Snapshots  (\d+) written";
}

/// What vitest prints. Ids are the file and the titles with ` > ` between them.
pub(in crate::proof) fn vitest(text: &str) -> Option<TestAccount> {
    let mut account = TestAccount::new(TestRunner::Vitest);
    let mut errors = 0;
    let mut files = false;
    for line in text.lines() {
        let line = line.trim_end();
        if line.contains("Test Files  ") && FILES.is_match(line) {
            files = true;
        } else if let Some(found) = files.then(|| TESTS.captures(line)).flatten() {
            files = false;
            let mut counts = TestCounts {
                errors: std::mem::take(&mut errors),
                ..TestCounts::default()
            };
            for part in PART.captures_iter(&found[1]) {
                let count = number(part.get(1));
                match &part[2] {
                    "passed" => counts.passed = count,
                    "failed" => counts.failed = count,
                    _ => counts.skipped += count,
                }
            }
            account.close(counts);
        } else if let Some(found) = WRITTEN.captures(line) {
            account.snapshots_written += number(found.get(1));
        } else if let Some(found) = TEST.captures(line) {
            account.note(&found[2], end(&found[1]));
        } else if let Some(found) = FILE.captures(line) {
            account.note_file(&found[2], end(&found[1]));
        } else if line.trim_start().starts_with("FAIL ")
            && let Some(found) = FAIL.captures(line)
        {
            let path = &found[1];
            if let Some(titles) = found.get(2) {
                account.note(format!("{path} > {}", titles.as_str()), TestEnd::Failed);
            } else if account.unloaded.insert(path.to_owned()) {
                errors += 1;
                account.note(path, TestEnd::Failed);
            }
        }
    }
    account.seen()
}

fn end(mark: &str) -> TestEnd {
    match mark {
        "✓" => TestEnd::Passed,
        "↓" | "□" => TestEnd::Skipped,
        _ => TestEnd::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::vitest;
    use crate::model::TestEnd;

    #[test]
    fn a_failed_run_is_read() {
        let account = vitest(
            " RUN v4.1.12 /r\n\n ❯ vt/a.test.mjs (4 tests | 1 failed | 1 skipped | 1 todo)\n     × f gives 2 19ms\n     ✓ ok 0ms\n \
             ✓ vt/b.test.mjs (1 test) 10ms\n\n⎯⎯ Failed Suites 1 ⎯⎯\n\n FAIL  vt/c.test.mjs [ vt/c.test.mjs ]\nError: x\n\n\
             ⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯\n\n FAIL  vt/a.test.mjs > grp > f gives 2\nAssertionError: x\n\n\
             \x20Test Files  2 failed | 1 passed (3)\n      Tests  1 failed | 2 passed | 1 skipped | 1 todo (5)\n",
        )
        .unwrap();
        assert_eq!(
            account.counts.to_string(),
            "2 passed, 1 failed, 1 errors, 2 skipped"
        );
        assert_eq!(
            account.tests["vt/a.test.mjs > grp > f gives 2"],
            TestEnd::Failed
        );
        assert_eq!(account.files["vt/b.test.mjs"], TestEnd::Passed);
        assert!(account.unloaded.contains("vt/c.test.mjs"));
    }

    #[test]
    fn a_green_run_is_read() {
        let account = vitest(
            " ✓ vt/a.test.mjs > grp > f gives 2 1ms\n ✓ vt/a.test.mjs > ok\n ↓ vt/a.test.mjs > sk\n\n\
             \x20Test Files  1 passed (1)\n      Tests  2 passed | 1 skipped (3)\n",
        )
        .unwrap();
        assert_eq!((account.counts.passed, account.listed), (2, 2));
        assert_eq!(
            account.tests["vt/a.test.mjs > grp > f gives 2"],
            TestEnd::Passed
        );
        assert_eq!(vitest("      Tests  2 passed (2)\n"), None);
    }
}
