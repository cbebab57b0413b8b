use crate::model::{TestCounts, TestEnd, TestRunner};
use crate::proof::account::TestAccount;
use crate::proof::pattern::{number, patterns};

patterns! {
    START r"^Running (\d+) tests? using \d+ workers?";
    COUNT r"^  (\d+) (passed|failed|flaky|skipped|interrupted|did not run)(?: \(.*\))?$";
    ENTRY r"^    ((?:\[[^\]]+\] › )?\S+:\d+:\d+ › .+?)\s*─*$";
    LISTED r"^\s+(✓|✘|-|ok|x)\s+\d+ ((?:\[[^\]]+\] › )?\S+:\d+:\d+ › .+?)(?: \([\d.]+m?s\))?$";
}

/// What playwright prints. Ids are its own, with project, place and titles.
pub(in crate::proof) fn playwright(text: &str) -> Option<TestAccount> {
    let mut account = TestAccount::new(TestRunner::Playwright);
    let mut counts: Option<TestCounts> = None;
    let mut started = false;
    let mut listing = false;
    for line in text.lines() {
        let line = line.trim_end();
        if START.is_match(line) {
            started = true;
        } else if let Some(found) = COUNT.captures(line).filter(|_| started) {
            let counts = counts.get_or_insert_with(TestCounts::default);
            let count = number(found.get(1));
            listing = false;
            match &found[2] {
                "passed" | "flaky" => counts.passed += count,
                "failed" => {
                    counts.failed = count;
                    listing = true;
                }
                "skipped" => counts.skipped = count,
                _ => counts.errors += count,
            }
        } else if let Some(found) = ENTRY.captures(line).filter(|_| listing) {
            account.note(&found[1], TestEnd::Failed);
        } else if let Some(found) = LISTED.captures(line) {
            let end = match &found[1] {
                "✓" | "ok" => TestEnd::Passed,
                "-" => TestEnd::Skipped,
                _ => TestEnd::Failed,
            };
            account.note(&found[2], end);
        }
    }
    account.close(counts?);
    Some(account)
}

#[cfg(test)]
mod tests {
    use super::playwright;
    use crate::model::TestEnd;

    #[test]
    fn a_run_is_read() {
        let account = playwright(
            "\nRunning 3 tests using 2 workers\n\n  ✓  1 [chromium] › a.spec.ts:3:5 › page › opens (1.2s)\n  ✘  2 [chromium] › a.spec.ts:9:5 › page › closes (1.2s)\n\n  1) [chromium] › a.spec.ts:9:5 › page › closes ───\n\n  1 failed\n    [chromium] › a.spec.ts:9:5 › page › closes ────────\n  1 skipped\n  1 passed (2.0s)\n",
        )
        .unwrap();
        assert_eq!(account.counts.to_string(), "1 passed, 1 failed, 1 skipped");
        let failing = "[chromium] › a.spec.ts:9:5 › page › closes";
        assert_eq!(account.tests[failing], TestEnd::Failed);
        assert_eq!(account.listed, 1);
        assert_eq!(playwright("  3 passed (2.0s)\n"), None);
    }
}
