use crate::model::{TestCounts, TestRunner};
use crate::proof::account::TestAccount;
use crate::proof::pattern::{number, patterns};

patterns! {
    TSC r"^\S.*(?:\(\d+,\d+\)|:\d+:\d+)(?::| -) error TS\d+: |^error TS\d+: ";
    ESLINT r"^✖ \d+ problems? \((\d+) errors?, \d+ warnings?\)";
    RUFF r"^(?:(All checks passed!)|Found (\d+) errors?(?: \(\d+ fixed, (\d+) remaining\))?\.)$";
    MYPY r"^(?:Success: no issues found in (\d+) source files?|Found (\d+) errors? in \d+ files? \((?:checked (\d+) source files?|errors prevented further checking)\))$";
    PYRIGHT r"^(\d+) errors?, \d+ warnings?(?:, \d+ (?:informations?|notes?))? ?$";
    PYRIGHT_FILES r"^Found (\d+) source files?$";
}

/// Whether it checks types or style and runs nothing.
pub(in crate::proof) fn is_checker(runner: TestRunner) -> bool {
    matches!(
        runner,
        TestRunner::Tsc
            | TestRunner::Eslint
            | TestRunner::Ruff
            | TestRunner::Mypy
            | TestRunner::Pyright
    )
}

/// What a checker prints: `failed` are its errors, `passed` the files it says it looked at.
pub(in crate::proof) fn checker(text: &str, runner: TestRunner) -> Option<TestAccount> {
    let mut account = TestAccount::new(runner);
    let (mut errors, mut files) = (0, 0);
    for line in text.lines() {
        let line = line.trim_end();
        match runner {
            TestRunner::Tsc if line.contains("error TS") => errors += u64::from(TSC.is_match(line)),
            TestRunner::Eslint => {
                if let Some(found) = ESLINT.captures(line) {
                    account.close(counts(0, number(found.get(1))));
                }
            }
            TestRunner::Ruff => {
                if let Some(found) = RUFF.captures(line) {
                    let left = found.get(3).or(found.get(2));
                    account.close(counts(0, number(left)));
                }
            }
            TestRunner::Mypy => {
                if let Some(found) = MYPY.captures(line) {
                    let files = found.get(1).or(found.get(3));
                    account.close(counts(number(files), number(found.get(2))));
                }
            }
            TestRunner::Pyright => {
                if let Some(found) = PYRIGHT_FILES.captures(line) {
                    files = number(found.get(1));
                } else if let Some(found) = PYRIGHT.captures(line) {
                    account.close(counts(std::mem::take(&mut files), number(found.get(1))));
                }
            }
            _ => {}
        }
    }
    account.counts.failed += errors;
    account.seen()
}

fn counts(files: u64, errors: u64) -> TestCounts {
    TestCounts {
        passed: files,
        failed: errors,
        ..TestCounts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::checker;
    use crate::model::TestRunner as R;

    #[test]
    fn errors_and_files_are_counted() {
        for (runner, text, closings, files, errors) in [
            (
                R::Tsc,
                "src/a.ts(3,7): error TS2551: no\nsrc/a.ts:4:1 - error TS1: x\n",
                0,
                0,
                2,
            ),
            (R::Tsc, "error TS18003: No inputs were found\n", 0, 0, 1),
            (R::Eslint, "✖ 3 problems (2 errors, 1 warning)\n", 1, 0, 2),
            (R::Ruff, "Found 3 errors (1 fixed, 2 remaining).\n", 1, 0, 2),
            (R::Ruff, "Found 1 error.\n[*] 1 fixable\n", 1, 0, 1),
            (
                R::Mypy,
                "Found 2 errors in 1 file (checked 7 source files)\n",
                1,
                7,
                2,
            ),
            (
                R::Mypy,
                "Success: no issues found in 7 source files\n",
                1,
                7,
                0,
            ),
            (
                R::Pyright,
                "1 error, 0 warnings, 0 informations \n",
                1,
                0,
                1,
            ),
            (
                R::Pyright,
                "Found 3 source files\n0 errors, 0 warnings, 0 notes\n",
                1,
                3,
                0,
            ),
        ] {
            let account = checker(text, runner);
            let said = account.map(|it| (it.closings, it.counts.passed, it.counts.failed));
            assert_eq!(said, Some((closings, files, errors)), "{text}");
        }
        assert_eq!(
            checker("All checks passed!\n", R::Ruff).map(|it| it.closings),
            Some(1)
        );
        assert_eq!(checker("nothing\n", R::Tsc), None);
    }
}
