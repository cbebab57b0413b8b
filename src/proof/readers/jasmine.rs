use crate::model::{TestCounts, TestEnd, TestRunner};
use crate::proof::account::TestAccount;
use crate::proof::pattern::{number, patterns};

patterns! {
    COUNT r"^(\d+) specs?, (\d+) failures?(?:, (\d+) pending specs?)?$";
    FAILED r"^\d+\) (\S.*)$";
}

/// What jasmine prints: its summary, above `Finished in`, and full names of tests that failed.
pub(in crate::proof) fn jasmine(text: &str) -> Option<TestAccount> {
    let mut account = TestAccount::new(TestRunner::Jasmine);
    let mut failures = false;
    let mut lines = text.lines().map(str::trim_end).peekable();
    while let Some(line) = lines.next() {
        let ends = lines
            .peek()
            .is_some_and(|it| it.starts_with("Finished in "));
        if let Some(found) = COUNT.captures(line).filter(|_| ends) {
            let [all, failed, skipped] = [1, 2, 3].map(|at| number(found.get(at)));
            account.close(TestCounts {
                passed: all.saturating_sub(failed + skipped),
                failed,
                skipped,
                ..TestCounts::default()
            });
            failures = false;
        } else if line == "Failures:" {
            failures = true;
        } else if let Some(found) = FAILED.captures(line).filter(|_| failures) {
            account.note(&found[1], TestEnd::Failed);
        }
    }
    (account.closings > 0).then_some(account)
}

#[cfg(test)]
mod tests {
    use super::jasmine;
    use crate::model::TestEnd;

    #[test]
    fn counts_and_names_of_failures_are_read() {
        let red = "Started\nF..*\n\nFailures:\n1) units bytes\n  Message:\n    Expected 1 to be 2.\n\n\
                   4 specs, 1 failure, 1 pending spec\nFinished in 0.06 seconds\n";
        let found = jasmine(red).unwrap();
        let counts = found.counts;
        assert_eq!((counts.passed, counts.failed, counts.skipped), (2, 1, 1));
        assert_eq!(found.tests.get("units bytes"), Some(&TestEnd::Failed));
        assert!(!found.names_all());
        let green = jasmine("1 spec, 0 failures\nFinished in 0.01 seconds\n").unwrap();
        assert_eq!((green.counts.passed, green.counts.failed), (1, 0));
        assert!(jasmine("it says: 7 specs, 0 failures\n").is_none());
        assert!(jasmine("7 specs, 0 failures\nand more\n").is_none());
    }
}
