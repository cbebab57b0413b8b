use super::outline::{OutlineLine, outline};
use crate::model::{TestCounts, TestEnd, TestRunner};
use crate::proof::account::TestAccount;
use crate::proof::pattern::{number, patterns};

patterns! {
    COUNT r"^  (\d+) (passing|pending|failing)(?: \([\d.]+m?s?[a-z]*\))?$";
    PASSED r"^[✓✔√] (.+?)(?: \(\d+ms\))?$";
    FAILED r"^\d+\) (.+)$";
    AFTER_HOOK r#"^\d+\) "after (?:each|all)" hook"#;
}

/// What mocha prints. Ids are titles with blanks between them, as mocha's own.
pub(in crate::proof) fn mocha(text: &str) -> Option<TestAccount> {
    let mut account = TestAccount::new(TestRunner::Mocha);
    let mut counts: Option<TestCounts> = None;
    let (mut before_hooks, mut after_hooks) = (0, 0);
    let mut tree: Vec<&str> = Vec::new();
    for line in text.lines() {
        let line = line.trim_end();
        let Some(found) = COUNT.captures(line) else {
            let bare = line.trim_start();
            if counts.is_none() {
                tree.push(line);
                after_hooks += u64::from(AFTER_HOOK.is_match(bare));
                before_hooks += u64::from(is_numbered(bare) && bare.contains(") \"before "));
            }
            continue;
        };
        let count = number(found.get(1));
        // The number that passed stands first; a second one belongs to another run.
        if &found[2] == "passing" {
            finish(&mut account, &mut counts);
            note(&mut account, &std::mem::take(&mut tree));
            counts = Some(TestCounts {
                passed: count,
                ..TestCounts::default()
            });
        } else if let Some(counts) = &mut counts {
            if &found[2] == "pending" {
                counts.skipped = count;
            } else {
                counts.errors = std::mem::take(&mut before_hooks);
                let hooks = std::mem::take(&mut after_hooks) + counts.errors;
                counts.failed = count.saturating_sub(hooks);
            }
        }
    }
    finish(&mut account, &mut counts);
    if account.closings == 0 {
        return None;
    }
    account.seen()
}

fn finish(account: &mut TestAccount, counts: &mut Option<TestCounts>) {
    if let Some(counts) = counts.take() {
        account.close(counts);
    }
}

fn note(account: &mut TestAccount, tree: &[&str]) {
    for (path, end) in outline(tree.iter().copied(), 1, row) {
        let is_hook = path.last().is_some_and(|it| it.starts_with('"'));
        if !is_hook {
            account.note(path.join(" "), end);
        }
    }
}

fn is_numbered(bare: &str) -> bool {
    bare.starts_with(|it: char| it.is_ascii_digit()) && FAILED.is_match(bare)
}

fn row(bare: &str) -> OutlineLine<'_, TestEnd> {
    let title = |found: regex::Captures<'_>| {
        let title = found.get(1).map_or(0..0, |it| it.range());
        bare.get(title).unwrap_or_default()
    };
    if let Some(found) = PASSED.captures(bare) {
        OutlineLine::Test(title(found), TestEnd::Passed)
    } else if is_numbered(bare)
        && let Some(found) = FAILED.captures(bare)
    {
        OutlineLine::Test(title(found), TestEnd::Failed)
    } else if let Some(title) = bare.strip_prefix("- ") {
        OutlineLine::Test(title, TestEnd::Skipped)
    } else if bare.is_empty() {
        OutlineLine::Other
    } else {
        OutlineLine::Heading(bare)
    }
}

#[cfg(test)]
mod tests {
    use super::mocha;
    use crate::model::TestEnd;

    #[test]
    fn a_run_is_read() {
        let account = mocha(
            "\n\n  grp\n    1) f gives 2\n    ✔ ok\n    - sk\n    2) \"after each\" hook for \"ok\"\n\n\n  1 passing (17ms)\n  1 pending\n  2 failing\n\n  1) grp\n       f gives 2:\n     Error\n",
        )
        .unwrap();
        assert_eq!(account.counts.to_string(), "1 passed, 1 failed, 1 skipped");
        assert_eq!(account.tests["grp f gives 2"], TestEnd::Failed);
        assert_eq!(account.tests["grp ok"], TestEnd::Passed);
        assert_eq!(account.listed, 1);
    }

    #[test]
    fn runs_are_added() {
        let account = mocha("  2 passing (1s)\n\n  3 passing (20ms)\n  1 pending\n").unwrap();
        assert_eq!(
            (
                account.closings,
                account.counts.passed,
                account.counts.skipped
            ),
            (2, 5, 1)
        );
        assert_eq!(mocha("  grp\n    ✔ ok\n"), None);
    }
}
