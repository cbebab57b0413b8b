use std::collections::BTreeSet;

use super::outline::{OutlineLine, outline};
use crate::model::{TestCounts, TestEnd, TestRunner};
use crate::proof::account::TestAccount;
use crate::proof::pattern::{number, patterns};

patterns! {
    COUNT r"^(?:ℹ|#) (tests|pass|fail|cancelled|skipped|skip|todo|suites|duration_ms|ok)(?: +([\d.]+))?$";
    MARKED r"^([✔✖﹣⚠]) (.+?)(?: \([\d.]+ms\))?( # (?:SKIP|TODO|EXPECTED FAILURE).*)?$";
    POINT r"^(not ok|ok) \d+(?: -)? (.*?)( # (?:SKIP|skip|TODO|todo|EXPECTED FAILURE).*)?$";
    TOTAL r"^# \{ total: (\d+)(?:, (.+))? \}$";
    PART r"(pass|fail|skip|todo): (\d+)";
    TIME r"^(.*?)(?: # time=[\d.]+m?s)?(?: \{)?$";
}

/// What node's own runner prints, as `spec` or as TAP, and what other producers of TAP print that
/// close with counts. Ids are titles with ` > ` between them. `holds_tests` says of a file whether
/// it has tests: of such a one the runner must have seen some.
pub(in crate::proof) fn node_test(
    text: &str,
    holds_tests: &dyn Fn(&str) -> bool,
) -> Option<TestAccount> {
    let mut account = TestAccount::new(TestRunner::Tap);
    let mut counts: Option<TestCounts> = None;
    let mut body: Vec<&str> = Vec::new();
    let mut leaves = 0;
    for line in text.lines() {
        let line = line.trim_end();
        if let Some(found) = TOTAL.captures(line) {
            subtests(&mut account, &std::mem::take(&mut body), &found[0]);
            continue;
        }
        let Some(found) = COUNT.captures(line) else {
            body.push(line);
            continue;
        };
        if line.starts_with('ℹ') || ["suites", "cancelled", "duration_ms"].contains(&&found[1]) {
            account.runner = TestRunner::NodeTest;
        }
        let count = number(found.get(2));
        match &found[1] {
            // Of the counts that stand first, which opens the summary.
            "tests" if found.get(2).is_some() => {
                finish(&mut account, &mut counts);
                // What a program prints in the other form is not the runner's.
                let is_tap = line.starts_with('#');
                leaves += list(&mut account, &std::mem::take(&mut body), is_tap);
                counts = Some(TestCounts::default());
            }
            word => {
                if let Some(counts) = &mut counts {
                    match word {
                        "pass" => counts.passed = count,
                        "fail" | "cancelled" => counts.failed += count,
                        "skipped" | "skip" | "todo" => counts.skipped += count,
                        _ => {}
                    }
                }
            }
        }
    }
    finish(&mut account, &mut counts);
    if account.closings == 0 {
        return None;
    }
    if leaves > account.counts.passed {
        account.wrong.push(format!(
            "{leaves} tests are listed as passed and {} counted",
            account.counts.passed
        ));
    }
    // A file that is listed itself is one in which no test was seen.
    for (id, end) in &account.tests {
        let inside = format!("{id} > ");
        let mut after = account.tests.range(inside.clone()..);
        let holds = after.next().is_some_and(|it| it.0.starts_with(&inside));
        if !is_script(id) || holds {
            continue;
        }
        if *end == TestEnd::Passed && holds_tests(id) {
            account.hollow.insert(id.clone());
        }
        if *end == TestEnd::Failed {
            account.unloaded.insert(id.clone());
        }
    }
    account.seen()
}

// What node-tap prints: points are assertions, and tests those that a line `# Subtest: TITLE` opens.
// Counted are tests without tests of their own.
fn subtests(account: &mut TestAccount, lines: &[&str], total: &str) {
    let opened: BTreeSet<(usize, &str)> = lines
        .iter()
        .filter_map(|line| {
            let bare = line.trim_start();
            Some((line.len() - bare.len(), bare.strip_prefix("# Subtest: ")?))
        })
        .collect();
    let rows = tap(lines).into_iter().filter_map(|(path, end)| {
        let path: Vec<&str> = path
            .iter()
            .map(|title| {
                TIME.captures(title)
                    .and_then(|it| it.get(1))
                    .map_or(*title, |it| it.as_str())
            })
            .collect();
        let test = opened.contains(&((path.len() - 1) * 4, *path.last()?));
        test.then(|| (path.join(" > "), path.len(), end))
    });
    let mut counts = TestCounts::default();
    let mut last = 0;
    for (id, depth, end) in rows {
        // Those inside stand right above.
        match end {
            _ if last > depth => {}
            TestEnd::Passed => counts.passed += 1,
            TestEnd::Failed => counts.failed += 1,
            _ => counts.skipped += 1,
        }
        last = depth;
        account.note(id, end);
    }
    let mut parts = PART.captures_iter(total);
    let failed = parts.any(|it| &it[1] == "fail" && number(it.get(2)) > 0);
    if failed != (counts.failed > 0) {
        account.wrong.push(format!(
            "`{total}` and {} tests listed as failed",
            counts.failed
        ));
    }
    account.close(counts);
}

fn finish(account: &mut TestAccount, counts: &mut Option<TestCounts>) {
    if let Some(counts) = counts.take() {
        account.close(counts);
    }
}

fn is_script(id: &str) -> bool {
    [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"]
        .iter()
        .any(|extension| id.ends_with(extension))
}

// Notes what is listed; gives how many tests without tests of their own passed.
fn list(account: &mut TestAccount, lines: &[&str], is_tap: bool) -> u64 {
    let mut leaves = 0;
    let mut last: Option<(usize, TestEnd)> = None;
    let rows: Vec<(Vec<&str>, TestEnd)> = if is_tap {
        tap(lines)
    } else {
        outline(lines.iter().copied(), 0, spec)
    };
    for (path, end) in rows {
        // A suite or test with others in it follows them, one level up.
        let holds = matches!(last, Some((depth, _)) if depth > path.len());
        if end == TestEnd::Passed && !holds {
            leaves += 1;
        }
        last = Some((path.len(), end));
        account.note(path.join(" > "), end);
    }
    leaves
}

fn spec(bare: &str) -> OutlineLine<'_, TestEnd> {
    if let Some(title) = bare.strip_prefix("▶ ") {
        return OutlineLine::Heading(title);
    }
    let Some(found) = bare
        .starts_with(['✔', '✖', '﹣', '⚠'])
        .then(|| MARKED.captures(bare))
        .flatten()
    else {
        return OutlineLine::Other;
    };
    let end = match (&found[1], found.get(3)) {
        ("✔" | "✖" | "⚠", Some(_)) | ("﹣", _) => TestEnd::Skipped,
        ("✔", None) => TestEnd::Passed,
        _ => TestEnd::Failed,
    };
    OutlineLine::Test(found.get(2).map_or("", |it| it.as_str()), end)
}

// A point stands below the tests in it, which are indented by four.
fn tap<'l>(lines: &[&'l str]) -> Vec<(Vec<&'l str>, TestEnd)> {
    let points = lines.iter().rev().filter_map(|line| {
        let bare = line.trim_start();
        let found = POINT.captures(bare)?;
        let end = match (&found[1], found.get(3)) {
            (_, Some(_)) => TestEnd::Skipped,
            ("ok", None) => TestEnd::Passed,
            _ => TestEnd::Failed,
        };
        Some((line.len() - bare.len(), found.get(2)?.as_str(), end))
    });
    let mut above: Vec<(usize, &str)> = Vec::new();
    let mut found = Vec::new();
    for (depth, title, end) in points {
        above.retain(|(at, _)| *at < depth);
        let mut path: Vec<&str> = above.iter().map(|(_, title)| *title).collect();
        path.push(title);
        above.push((depth, title));
        found.push((path, end));
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::node_test;
    use crate::model::{TestEnd, TestRunner};

    const SPEC: &str = "▶ grp\n  ✖ f gives 2 (3.0ms)\n    AssertionError\n\n  ✔ ok (0.2ms)\n  ﹣ sk (0.1ms) # SKIP\n  ✔ later (0.1ms) # TODO\n✖ grp (17.9ms)\n▶ outer\n  ✔ inner (0.2ms)\n✔ outer (0.5ms)\nℹ tests 6\nℹ suites 1\nℹ pass 3\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 1\nℹ duration_ms 453.0\n\n✖ failing tests:\n\ntest at nt/a.test.js:2:22\n✖ f gives 2 (3.0ms)\n";
    const TAP: &str = "TAP version 13\n# Subtest: grp\n    # Subtest: f gives 2\n    not ok 1 - f gives 2\n      ---\n      ...\n    ok 2 - ok\n    ok 3 - sk # SKIP\n    ok 4 - later # TODO\n    1..4\nnot ok 1 - grp\n    ok 1 - inner\n    1..1\nok 2 - outer\n1..2\n# tests 6\n# suites 1\n# pass 3\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 1\n";

    #[test]
    fn both_forms_are_read() {
        for text in [SPEC, TAP] {
            let account = node_test(text, &|_| true).unwrap();
            assert_eq!(account.runner, TestRunner::NodeTest);
            assert_eq!(account.counts.to_string(), "3 passed, 1 failed, 2 skipped");
            assert_eq!(account.tests["grp > f gives 2"], TestEnd::Failed, "{text}");
            assert_eq!(account.tests["outer > inner"], TestEnd::Passed);
            assert_eq!(account.tests["grp > sk"], TestEnd::Skipped);
            assert!(account.wrong.is_empty(), "{:?}", account.wrong);
            assert!(account.hollow.is_empty());
        }
    }

    #[test]
    fn a_file_without_a_test_that_was_seen_is_hollow() {
        let text = "✔ tests/a.test.js (30.1ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1\nℹ fail 0\n";
        assert!(
            node_test(text, &|_| true)
                .unwrap()
                .hollow
                .contains("tests/a.test.js")
        );
        assert!(node_test(text, &|_| false).unwrap().hollow.is_empty());
    }

    #[test]
    fn more_tests_than_are_counted_are_a_contradiction() {
        let text = "✔ f gives 2 (3.0ms)\n✔ tests/a.test.js (30.1ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1\nℹ fail 0\n";
        assert_eq!(node_test(text, &|_| false).unwrap().wrong.len(), 1);
        let forged = "TAP version 13\nok 1 - f\n# tests 1\n# pass 1\n# fail 0\n✔ tests/a.test.js (30.1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n";
        assert_eq!(node_test(forged, &|_| true).unwrap().hollow.len(), 1);
    }

    #[test]
    fn the_tests_of_node_tap_are_its_subtests() {
        let run = |end: &str, point: &str, total: &str| {
            format!(
                "TAP version 14\n1..1\n# Subtest: test/a.test.js\n    # Subtest: bytes\n        {point}\n          ---\n          ...\n        1..1\n    {end} 1 - bytes # time=13.7ms\n    # Subtest: table\n        ok 1 - should be equal\n        ok 2 - should be equal\n        1..2\n    ok 2 - table # time=1.2ms\n    1..2\n{end} 1 - test/a.test.js # time=48.1ms\n\n# {{ {total} }}\n# time=487.5ms\n"
            )
        };
        let red = run(
            "not ok",
            "not ok 1 - round is not defined",
            "total: 3, pass: 2, fail: 1",
        );
        let red = node_test(&red, &|_| true).unwrap();
        assert_eq!(red.runner, TestRunner::Tap);
        assert_eq!(red.counts.to_string(), "1 passed, 1 failed");
        let failed: Vec<&str> = red.failing().collect();
        assert_eq!(failed, ["test/a.test.js", "test/a.test.js > bytes"]);
        assert!(
            red.unloaded.is_empty() && red.wrong.is_empty(),
            "{:?}",
            red.wrong
        );
        let green = run("ok", "ok 1 - should be equal", "total: 3, pass: 3");
        let green = node_test(&green, &|_| true).unwrap();
        assert_eq!(green.counts.to_string(), "2 passed, 0 failed");
        assert!(green.hollow.is_empty());
        let unloaded = "TAP version 14\n1..1\n# Subtest: test/a.test.js\n    1..0 # no tests found\nnot ok 1 - test/a.test.js # time=46.1ms\n# { total: 1, pass: 0, fail: 1 }\n";
        let unloaded = node_test(unloaded, &|_| true).unwrap();
        assert!(unloaded.unloaded.contains("test/a.test.js"));
        let forged = run("ok", "ok 1 - x", "total: 3, pass: 2, fail: 1");
        assert_eq!(node_test(&forged, &|_| true).unwrap().wrong.len(), 1);
    }

    #[test]
    fn counts_of_tape_are_read() {
        let account = node_test(
            "TAP version 13\n# adds\nok 1 should be 2\n\n1..1\n# tests 1\n# pass  1\n\n# ok\n",
            &|_| false,
        )
        .unwrap();
        assert_eq!(
            (account.runner, account.counts.passed),
            (TestRunner::Tap, 1)
        );
    }
}
