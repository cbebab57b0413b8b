use std::collections::BTreeSet;

use super::outline::{OutlineLine, outline};
use crate::model::{TestCounts, TestEnd, TestRunner};
use crate::proof::account::TestAccount;
use crate::proof::pattern::{number, patterns};

patterns! {
    TESTS r"^Tests: +((?:\d+ \w+(?:, )?)+)$";
    PART r"(\d+) (\w+)";
    SUITE r"^\s*(PASS|FAIL) +(?:\S+ )??(?:\./)?(\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?$";
    MARKED r"^([✓✔✕×○✎]) (?:skipped |todo )?(.+?)(?: \([\d.]+ m?s\))?$";
    BULLET r"^\s{0,3}● (.+)$";
    WRITTEN r"^Snapshots: .*?(\d+) written";
}

/// What jest prints. Ids are titles with ` › ` between them.
pub(in crate::proof) fn jest(text: &str) -> Option<TestAccount> {
    let mut account = TestAccount::new(TestRunner::Jest);
    let mut broken: BTreeSet<&str> = BTreeSet::new();
    let mut suite = None;
    for line in text.lines() {
        let line = line.trim_end();
        if let Some(found) = SUITE.captures(line) {
            let (path, state) = (found.get(2).map_or("", |it| it.as_str()), &found[1]);
            let end = if state == "PASS" {
                TestEnd::Passed
            } else {
                TestEnd::Failed
            };
            account.note_file(path, end);
            suite = Some(path);
        } else if let Some(found) = BULLET.captures(line) {
            if &found[1] == "Test suite failed to run" {
                broken.extend(suite);
            } else if found[1].contains(" › ") {
                account.note(&found[1], TestEnd::Failed);
            }
        } else if let Some(found) = TESTS.captures(line) {
            let mut counts = TestCounts {
                errors: std::mem::take(&mut broken).len() as u64,
                ..TestCounts::default()
            };
            for part in PART.captures_iter(&found[1]) {
                let count = number(part.get(1));
                match &part[2] {
                    "passed" => counts.passed = count,
                    "failed" => counts.failed = count,
                    "skipped" | "todo" | "pending" => counts.skipped += count,
                    _ => {}
                }
            }
            account.close(counts);
        } else if let Some(found) = WRITTEN.captures(line) {
            account.snapshots_written += number(found.get(1));
        }
    }
    for (path, end) in outline(text.lines().map(str::trim_end), 1, row) {
        let id = path.join(" › ");
        account.note(id, end);
    }
    account.seen()
}

fn row(bare: &str) -> OutlineLine<'_, TestEnd> {
    let Some(found) = bare
        .starts_with(['✓', '✔', '✕', '×', '○', '✎'])
        .then(|| MARKED.captures(bare))
        .flatten()
    else {
        let plain = !bare.is_empty() && !bare.starts_with(['●', '›']) && !SUITE.is_match(bare);
        return if plain {
            OutlineLine::Heading(bare)
        } else {
            OutlineLine::Other
        };
    };
    let end = match &found[1] {
        "✓" | "✔" => TestEnd::Passed,
        "✕" | "×" => TestEnd::Failed,
        _ => TestEnd::Skipped,
    };
    OutlineLine::Test(found.get(2).map_or("", |it| it.as_str()), end)
}

#[cfg(test)]
mod tests {
    use super::jest;
    use crate::model::TestEnd;

    #[test]
    fn a_summary_and_its_suites_are_read() {
        let account = jest(
            "FAIL jest/a.test.js\n  ● grp › f gives 2\n\n    expect(received)\n\nPASS jest/b.test.js (5.1 s)\n\
             FAIL ./c.test.js\n  ● Test suite failed to run\n\n    Cannot find module\n\n\
             Test Suites: 2 failed, 1 passed, 3 total\n\
             Tests:       1 failed, 1 skipped, 1 todo, 2 passed, 5 total\nSnapshots:   1 written, 1 total\n",
        )
        .unwrap();
        assert_eq!(
            account.counts.to_string(),
            "2 passed, 1 failed, 1 errors, 2 skipped"
        );
        assert_eq!(account.files["jest/b.test.js"], TestEnd::Passed);
        assert_eq!(account.files["c.test.js"], TestEnd::Failed);
        assert_eq!(account.tests["grp › f gives 2"], TestEnd::Failed);
        assert_eq!(account.snapshots_written, 1);
    }

    #[test]
    fn verbose_tests_are_listed() {
        let account = jest(
            "PASS ./a.test.js\n  grp\n    ✓ f gives 2 (2 ms)\n    ✓ ok\n    ○ skipped sk\n    ✎ todo later\n\n\
             Tests:       1 skipped, 1 todo, 2 passed, 4 total\n",
        )
        .unwrap();
        assert_eq!(account.tests["grp › f gives 2"], TestEnd::Passed);
        assert_eq!(account.tests["grp › sk"], TestEnd::Skipped);
        assert_eq!(account.listed, 2);
    }

    #[test]
    fn other_programs_are_not_taken_for_it() {
        assert_eq!(jest("Tests: all of them\nhello\n  world\n"), None);
    }
}
