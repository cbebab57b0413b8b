use crate::model::{TestCounts, TestEnd, TestRunner};
use crate::proof::account::TestAccount;
use crate::proof::pattern::{number, patterns};

patterns! {
    COUNT r"^  (\d+) (tests? passed|tests? failed|tests? skipped|tests? todo|known failures?|unhandled rejections?|uncaught exceptions?|tests? (?:remained|were) .*)(?: .*)?$";
    MARKED r"^\s*(?:(✔|✘|✖) (?:\[(?:fail|unexpected known failure)\]: )?|- \[(skip|todo)\] )(.+?)(?: \([\d.]+m?s\))?$";
    UNLOADED r"^  ✘ (\S+) (?:exited with a non-zero exit code: \d+|exited due to \S+|timed out.*)$";
    HEADING r"^  (\S.*)$";
}

/// What ava prints. Ids are titles, with the file before them where there are several.
pub(in crate::proof) fn ava(text: &str) -> Option<TestAccount> {
    let mut account = TestAccount::new(TestRunner::Ava);
    let mut counts: Option<TestCounts> = None;
    let mut ruled = false;
    let mut failed: Vec<&str> = Vec::new();
    let mut headings: Vec<&str> = Vec::new();
    for line in text.lines() {
        let line = line.trim_end();
        if let Some(found) = UNLOADED.captures(line).and_then(|it| it.get(1)) {
            account.note(found.as_str(), TestEnd::Failed);
            account.unloaded.insert(found.as_str().to_owned());
        } else if line == "  ─" {
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
            let title = found.get(3).map_or("", |it| it.as_str());
            match found.get(1).map(|it| it.as_str()) {
                Some("✔") => account.note(title, TestEnd::Passed),
                Some(_) => failed.push(title),
                None => account.note(title, TestEnd::Skipped),
            }
        } else if let Some(found) = HEADING.captures(line).filter(|_| ruled) {
            headings.extend(found.get(1).map(|it| it.as_str()));
        }
    }
    for line in failed {
        account.note(title(line, &headings), TestEnd::Failed);
    }
    account.close(counts?);
    Some(account)
}

// Behind the title of a failed test stands why; the title alone heads its block below.
fn title<'l>(line: &'l str, headings: &[&'l str]) -> &'l str {
    let mut found = "";
    for heading in headings {
        let rest = line.strip_prefix(heading);
        if rest.is_some_and(|it| it.is_empty() || it.starts_with(' '))
            && heading.len() > found.len()
        {
            found = heading;
        }
    }
    if found.is_empty() { line } else { found }
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

    #[test]
    fn why_a_test_failed_is_no_part_of_its_title() {
        let account = ava(
            "  ✘ [fail]: bytes Error thrown in test\n  ✘ [fail]: bytes small Error thrown in test\n  ─\n\n  bytes\n\n  Error thrown in test:\n\n  bytes small\n\n  Error thrown in test:\n\n  ─\n\n  2 tests failed\n",
        )
        .unwrap();
        let failed: Vec<&String> = account.tests.keys().collect();
        assert_eq!(failed, ["bytes", "bytes small"]);
        let account = ava(
            "  Uncaught exception in test/a.js\n\n  ✘ test/a.js exited with a non-zero exit code: 1\n  ─\n\n  1 uncaught exception\n",
        )
        .unwrap();
        assert!(account.unloaded.contains("test/a.js"));
    }
}
