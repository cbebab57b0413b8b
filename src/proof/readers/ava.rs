use crate::model::{TestCounts, TestEnd, TestRunner};
use crate::proof::account::TestAccount;
use crate::proof::pattern::{number, patterns};

patterns! {
    COUNT r"^  (\d+) (tests? passed|tests? failed|tests? skipped|tests? todo|known failures?|unhandled rejections?|uncaught exceptions?|tests? (?:remained|were) .*)(?: .*)?$";
    MARKED r"^\s*(?:(✔|✘|✖) (?:\[(?:fail|unexpected known failure)\]: )?|- \[(skip|todo)\] )(.+?)(?: \([\d.]+m?s\))?$";
}

/// What ava prints. Ids are titles, with the file before them where there are several.
pub(in crate::proof) fn ava(text: &str) -> Option<TestAccount> {
    let mut account = TestAccount::new(TestRunner::Ava);
    let mut counts: Option<TestCounts> = None;
    let mut ruled = false;
    for line in text.lines() {
        let line = line.trim_end();
        if line == "  ─" {
            ruled = true;
        } else if let Some(found) = COUNT.captures(line).filter(|_| ruled) {
            let counts = counts.get_or_insert_with(TestCounts::default);
            let count = number(found.get(1));
            let word = &found[2];
            if word.ends_with("passed") {
                counts.passed = count;
            } else if word.ends_with("failed") {
                counts.failed = count;
            } else if word.starts_with("un") || word.contains("remained") || word.contains("were") {
                counts.errors += count;
            } else {
                counts.skipped += count;
            }
        } else if !ruled && let Some(found) = MARKED.captures(line) {
            let end = match found.get(1).map(|it| it.as_str()) {
                Some("✔") => TestEnd::Passed,
                Some(_) => TestEnd::Failed,
                None => TestEnd::Skipped,
            };
            account.note(&found[3], end);
        }
    }
    account.close(counts?);
    Some(account)
}

#[cfg(test)]
mod tests {
    use super::ava;
    use crate::model::TestEnd;

    #[test]
    fn a_run_is_read() {
        let account = ava(
            "\n  - [skip] sk\n  - [todo] later\n  ✘ [fail]: f gives 2\n  ✔ ok (12ms)\n  ─\n\n  f gives 2\n\n  ─\n\n  1 test failed\n  3 tests passed\n  1 test skipped\n  1 test todo\n",
        )
        .unwrap();
        assert_eq!(account.counts.to_string(), "3 passed, 1 failed, 2 skipped");
        assert_eq!(account.tests["f gives 2"], TestEnd::Failed);
        assert_eq!(account.tests["ok"], TestEnd::Passed);
        assert_eq!(ava("  2 tests passed\n"), None);
    }
}
