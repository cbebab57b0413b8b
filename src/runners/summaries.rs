//! Reads the closing summaries of test runners.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Captures;
use serde::Deserialize;

use super::pattern::Pattern;
use crate::model::{TestCounts, TestRunner, parse_rows};

/// What the closing summaries of one runner say together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closing {
    /// Whose they are.
    pub runner: TestRunner,
    /// How many there are.
    pub count: u32,
    /// Their counts, added.
    pub counts: TestCounts,
    /// Snapshots that were written, and so compared with nothing.
    pub snapshots_written: u64,
}

/// The closing summaries that a text holds, by runner in the order of the table. Lines end with a line feed.
/// Where several runners close alike it is the one that `named` has, else the first.
pub fn find_closings(text: &str, named: &[TestRunner]) -> Vec<Closing> {
    let mut found: Vec<Closing> = Vec::new();
    for row in ROWS.iter() {
        let Some(own) = row.runner else { continue };
        let all = row.read_counts(text);
        if all.is_empty() {
            continue;
        }
        let mut runners = std::iter::once(own).chain(row.also.iter().copied());
        let mut closing = Closing {
            runner: runners.find(|runner| named.contains(runner)).unwrap_or(own),
            count: u32::try_from(all.len()).unwrap_or(u32::MAX),
            counts: TestCounts::default(),
            snapshots_written: sum_matches(row.written.as_ref(), text),
        };
        for (_, counts) in &all {
            add_counts(&mut closing.counts, counts);
        }
        match found.iter_mut().find(|k| k.runner == closing.runner) {
            Some(earlier) => earlier.add(&closing),
            None => found.push(closing),
        }
    }
    found
}

/// Whether a program checks types or style and runs nothing.
pub fn is_checker(runner: TestRunner) -> bool {
    matches!(
        runner,
        TestRunner::Tsc
            | TestRunner::Eslint
            | TestRunner::Ruff
            | TestRunner::Mypy
            | TestRunner::Pyright
    )
}

/// A closing summary in a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Count {
    /// The byte at which it ends.
    pub(crate) end: usize,
    /// Whether it counts a failure.
    pub(crate) red: bool,
    /// The tests that it counts.
    pub(crate) tests: u64,
}

/// The closing summaries of a text in its order.
pub(crate) fn counts(text: &str) -> Vec<Count> {
    let all = ROWS.iter().flat_map(|row| row.read_counts(text));
    let mut found: Vec<Count> = all
        .map(|(end, counts)| Count {
            end,
            red: counts.failed + counts.errors > 0,
            tests: counts.total() + counts.errors,
        })
        .collect();
    found.sort_by_key(|count| count.end);
    found
}

impl Closing {
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        add_counts(&mut self.counts, &other.counts);
        self.snapshots_written += other.snapshots_written;
    }
}

fn add_counts(counts: &mut TestCounts, other: &TestCounts) {
    counts.passed += other.passed;
    counts.failed += other.failed;
    counts.skipped += other.skipped;
    counts.deselected += other.deselected;
    counts.errors += other.errors;
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    runner: Option<TestRunner>,
    #[serde(default)]
    cue: String,
    #[serde(default)]
    also: Vec<TestRunner>,
    summary: Pattern,
    part: Option<Pattern>,
    #[serde(default)]
    words: BTreeMap<String, String>,
    files: Option<Pattern>,
    #[serde(default)]
    less: BTreeMap<String, Pattern>,
    written: Option<Pattern>,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| parse_rows(embedded!("runners/summaries.toml")));

impl Row {
    // Where each summary ends, with what it counts.
    fn read_counts(&'static self, text: &str) -> Vec<(usize, TestCounts)> {
        if !text.contains(&self.cue) {
            return Vec::new();
        }
        let found: Vec<Captures<'_>> = self.summary.get().captures_iter(text).collect();
        let start = |at: usize| found.get(at).map_or(text.len(), |n| n.get_match().start());
        let mut all = Vec::new();
        for (at, summary) in found.iter().enumerate() {
            let end = summary.get_match().end();
            let before = at.checked_sub(1).map_or(0, start);
            let above = text.get(before..end).unwrap_or_default();
            let mut numbers = Numbers::new();
            let mut add = |word: &'static str, number: u64| {
                let sum = numbers.entry(word).or_default();
                *sum = sum.saturating_add(number);
            };
            let groups = self.summary.get().capture_names().flatten();
            for word in groups.filter(|word| *word != "parts") {
                if let Some(group) = summary.name(word) {
                    add(word, group.as_str().parse().unwrap_or(1));
                }
            }
            let mut names = self.summary.get().capture_names().flatten();
            let parts = match summary.name("parts") {
                Some(parts) => parts.as_str(),
                None if names.any(|name| name == "parts") => "",
                None => text.get(start(at)..start(at + 1)).unwrap_or_default(),
            };
            for part in self.part.iter().flat_map(|part| part.get().captures_iter(parts)) {
                if let Some(word) = self.words.get(&part["word"]) {
                    add(word, part["n"].parse().unwrap_or(0));
                }
            }
            // Some open alike and close later, and words of no test say nothing.
            if self.part.is_some() && numbers.is_empty() {
                continue;
            }
            for (word, pattern) in &self.less {
                let number = numbers.entry(word).or_default();
                *number = number.saturating_sub(pattern.get().find_iter(above).count() as u64);
            }
            let mut counts = test_counts(&numbers);
            if counts.failed == 0 && counts.errors == 0 {
                counts.errors = sum_matches(self.files.as_ref(), above).min(1);
            }
            all.push((end, counts));
        }
        all
    }
}

// What one summary counts, as far as it does.
type Numbers = BTreeMap<&'static str, u64>;

// A test of several parts may be counted once in all and more than once among those that failed; what
// fails where no test ran is no test.
fn test_counts(numbers: &Numbers) -> TestCounts {
    let of = |word: &str| numbers.get(word).copied();
    let total = of("total");
    let skipped = of("skipped").unwrap_or(0);
    let found = of("failed").unwrap_or(0);
    let of_none = if total == Some(0) { found } else { 0 };
    let most = total.map_or(u64::MAX, |total| total.saturating_sub(skipped));
    let failed = (found - of_none).min(most);
    let rest = total.map_or(0, |_| most - failed);
    TestCounts {
        passed: of("passed").unwrap_or(rest),
        failed,
        skipped,
        deselected: of("deselected").unwrap_or(0),
        errors: of("errors").unwrap_or(0) + of_none,
    }
}

fn sum_matches(pattern: Option<&Pattern>, text: &str) -> u64 {
    let found = pattern.into_iter().flat_map(|pattern| pattern.get().captures_iter(text));
    found.map(|found| found["n"].parse().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::find_closings;
    use crate::model::TestRunner as R;

    // What is printed, whose it is, how often it closes, and its counts.
    type Row = (&'static str, R, u32, &'static str);

    #[rustfmt::skip]
    const ROWS: &[Row] = &[
        ("===== 7 passed, 2 skipped, 2 xfailed in 0.04s =====", R::Pytest, 1, "7 passed, 0 failed, 4 skipped"),
        ("7 passed, 1 warning, 2 subtests passed in 0.05s", R::Pytest, 1, "7 passed, 0 failed"),
        ("SUBFAILED(i=1) tests/test_u.py::T::test_f - AssertionError\n=== 2 failed, 5 passed in 61.04s (0:01:01) ===", R::Pytest, 1, "5 passed, 1 failed"),
        ("=== 3 passed, 2 deselected in 0.1s ===\n=== 1 passed in 0.1s ===", R::Pytest, 2, "4 passed, 0 failed, 2 deselected"),
        ("___ ERROR at teardown of test_x ___\n=== 1 passed, 1 error in 0.12s ===", R::Pytest, 1, "1 passed, 0 failed"),
        ("=== 2 errors in 0.12s ===", R::Pytest, 1, "0 passed, 0 failed, 2 errors"),
        ("1 failed, 2 passed in 0.03 seconds", R::Pytest, 1, "2 passed, 1 failed"),
        ("=== no tests ran in 0.00s ===", R::Pytest, 1, "0 passed, 0 failed"),
        ("Ran 3 tests in 0.000s\n\nOK (skipped=1)", R::Unittest, 1, "2 passed, 0 failed, 1 skipped"),
        ("Ran 3 tests in 0.001s\n\nFAILED (failures=5, skipped=1)", R::Unittest, 1, "0 passed, 2 failed, 1 skipped"),
        ("Ran 0 tests in 0.000s\n\nFAILED (errors=1)", R::Unittest, 1, "0 passed, 0 failed, 1 errors"),
        ("Ran 2 tests in 0.000s\n\nOK (expected failures=1)", R::Unittest, 1, "1 passed, 0 failed, 1 skipped"),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", R::Unittest, 1, "0 passed, 0 failed"),
        ("Ran 2 tests in 0.002s\n\nOK (SKIP=1)", R::Unittest, 1, "1 passed, 0 failed, 1 skipped"),
        ("Test Suites: 2 failed, 1 passed, 3 total\nTests:       1 failed, 1 skipped, 1 todo, 2 passed, 5 total", R::Jest, 1, "2 passed, 1 failed, 2 skipped"),
        ("Test Suites: 2 failed, 2 total\nTests:       0 total", R::Jest, 1, "0 passed, 0 failed, 1 errors"),
        (" Test Files  2 failed | 1 passed (3)\n      Tests  1 failed | 2 passed | 1 skipped | 1 todo (5)", R::Vitest, 1, "2 passed, 1 failed, 2 skipped"),
        (" Test Files  1 failed (1)\n      Tests  no tests", R::Vitest, 1, "0 passed, 0 failed, 1 errors"),
        ("  grp\n    1) f\n    2) \"after each\" hook for \"ok\"\n\n  1 passing (17ms)\n  1 pending\n  2 failing\n\n  1) grp\n       f:\n", R::Mocha, 1, "1 passed, 1 failed, 1 skipped"),
        ("  2 passing (1s)\n\n  3 passing (20ms)\n  1 pending", R::Mocha, 2, "5 passed, 0 failed, 1 skipped"),
        ("ℹ tests 4\nℹ suites 1\nℹ pass 1\nℹ fail 1\nℹ cancelled 1\nℹ skipped 0\nℹ todo 1", R::NodeTest, 1, "1 passed, 2 failed, 1 skipped"),
        ("# tests 2\n# pass 1\n# fail 1", R::NodeTest, 1, "1 passed, 1 failed"),
        ("# { total: 3, pass: 2, fail: 1 }", R::Tap, 1, "2 passed, 1 failed"),
        ("  ✘ [fail]: f\n  ─\n\n  f\n\n  ─\n\n  1 test failed\n  3 tests passed\n  1 test skipped\n  1 test todo", R::Ava, 1, "3 passed, 1 failed, 2 skipped"),
        ("4 specs, 1 failure, 1 pending spec\nFinished in 0.06 seconds", R::Jasmine, 1, "2 passed, 1 failed, 1 skipped"),
        ("Running 3 tests using 2 workers\n\n  1 failed\n    a.spec.ts:9:5 › closes ───\n  1 skipped\n  1 passed (2.0s)", R::Playwright, 1, "1 passed, 1 failed, 1 skipped"),
        ("test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 3 filtered out\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out", R::CargoTest, 2, "3 passed, 1 failed, 1 skipped, 3 deselected"),
        ("     Summary [   0.010s] 3 tests run: 2 passed, 1 failed, 4 skipped", R::CargoTest, 1, "2 passed, 1 failed, 4 deselected"),
        ("ok  \ta\t0.1s\nok  \tb\t0.1s [no tests to run]\nFAIL\tc [build failed]\nok  \td\t(cached)\nFAIL", R::GoTest, 4, "2 passed, 1 failed, 1 skipped"),
        ("src/a.ts(3,7): error TS2551: no\nsrc/a.ts:4:1 - error TS1: x\nerror TS18003: none", R::Tsc, 3, "0 passed, 3 failed"),
        ("✖ 3 problems (2 errors, 1 warning)", R::Eslint, 1, "0 passed, 2 failed"),
        ("Found 3 errors (1 fixed, 2 remaining).", R::Ruff, 1, "0 passed, 2 failed"),
        ("Found 1 error.\nAll checks passed!", R::Ruff, 2, "0 passed, 1 failed"),
        ("Found 2 errors in 1 file (checked 7 source files)", R::Mypy, 1, "7 passed, 2 failed"),
        ("Success: no issues found in 7 source files", R::Mypy, 1, "7 passed, 0 failed"),
        ("1 error, 0 warnings, 0 informations ", R::Pyright, 1, "0 passed, 1 failed"),
    ];

    #[test]
    fn summaries_are_counted() {
        for (text, runner, count, counts) in ROWS {
            let found = find_closings(&format!("a line\n{text}\n"), &[]);
            let [one] = found.as_slice() else {
                panic!("{text}: {found:?}");
            };
            let closing = (one.runner, one.count, one.counts.to_string());
            assert_eq!(closing, (*runner, *count, (*counts).to_owned()), "{text}");
        }
        let written = find_closings(
            "Test Suites: 1 passed, 1 total\nTests: 2 passed, 2 total\nSnapshots:   1 written, 1 total\n",
            &[],
        );
        assert_eq!(written[0].snapshots_written, 1);
        let tap = find_closings("# tests 2\n# pass 2\n", &[R::Tap]);
        assert_eq!(tap[0].runner, R::Tap);
        for text in [
            "3 tests collected in 0.01s",
            "done in 2s",
            "4 files in 3s",
            "      Tests  2 passed (2)",
            "  2 tests passed",
            "Ran 3 tests in 0.1s",
            "7 specs, 0 failures\nand more",
        ] {
            assert_eq!(find_closings(text, &[]), [], "{text}");
        }
    }
}
