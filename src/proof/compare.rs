use std::collections::{BTreeMap, BTreeSet};

use super::account::TestAccount;
use super::evidence::{CommandEvidence, Evidence};
use super::readers::{dotted, is_checker};
use crate::model::{Proof, ProofSource, ProvenTest, RunnerProof, TestEnd, TestRunner};

/// What stands behind a green run, beside the runs before it: the first is the one without any
/// change, others are of states that were kept since. `failing` are the tests that failed, as a
/// diagnosis spells them. How often it was run is for the caller to add.
#[must_use]
pub fn compare(before: &[Evidence], after: &Evidence, failing: &[String]) -> Proof {
    let mut missing: Vec<String> = Vec::new();
    let mut runners: Vec<(usize, RunnerProof)> = Vec::new();
    for (at, now) in after.iter().enumerate() {
        let then: Vec<&CommandEvidence> = before.iter().filter_map(|it| it.get(at)).collect();
        for runner in runners_of(&then, now) {
            let then: Vec<&TestAccount> = then.iter().filter_map(|it| it.account(runner)).collect();
            let now = now.account(runner);
            let proof = if is_checker(runner) {
                check(runner, &then, now, &mut missing)
            } else {
                compare_runner(runner, &then, now, failing, &mut missing)
            };
            runners.push((at, proof));
        }
    }
    let failed = before.first().map_or(0, |it| it.len().saturating_sub(1));
    let mut seen = BTreeSet::new();
    missing.retain(|said| seen.insert(said.clone()));
    let decisive = decisive(&runners, failed);
    let decisive = decisive.map_or_else(RunnerProof::default, |at| runners.remove(at).1);
    Proof {
        proven: missing.is_empty(),
        missing,
        decisive,
        also: runners.into_iter().map(|(_, proof)| proof).collect(),
        ..Proof::default()
    }
}

// Those that the words name first, in their order.
fn runners_of(then: &[&CommandEvidence], now: &CommandEvidence) -> Vec<TestRunner> {
    let seen = then
        .iter()
        .copied()
        .chain([now])
        .flat_map(|it| it.accounts.iter().map(|it| it.runner));
    let mut runners: Vec<TestRunner> = Vec::new();
    for runner in now.named.iter().copied().chain(seen) {
        if !runners.contains(&runner) {
            runners.push(runner);
        }
    }
    runners
}

// The one that failed, of the command that failed; else one that runs tests.
fn decisive(runners: &[(usize, RunnerProof)], failed: usize) -> Option<usize> {
    let find = |is: &dyn Fn(&(usize, RunnerProof)) -> bool| runners.iter().position(is);
    let red = |proof: &RunnerProof| proof.before.is_some_and(|it| it.failed + it.errors > 0);
    let tests = |proof: &RunnerProof| proof.runner.is_some_and(|it| !is_checker(it));
    find(&|(at, proof)| *at == failed && red(proof))
        .or_else(|| find(&|(_, proof)| red(proof)))
        .or_else(|| find(&|(at, proof)| *at == failed && tests(proof)))
        .or_else(|| find(&|(_, proof)| tests(proof)))
        .or_else(|| find(&|_| true))
}

// Of a checker nothing runs: what it looked at and what it says decide.
fn check(
    runner: TestRunner,
    then: &[&TestAccount],
    now: Option<&TestAccount>,
    missing: &mut Vec<String>,
) -> RunnerProof {
    let counts = now.map(|it| it.counts).unwrap_or_default();
    let closed = now.is_some_and(|it| it.closings > 0);
    if counts.failed > 0 {
        missing.push(format!(
            "the exit code is 0, and {runner} counts {} errors",
            counts.failed
        ));
    }
    let closes = !matches!(runner, TestRunner::Tsc | TestRunner::Eslint);
    if closes && !closed && then.iter().any(|it| it.closings > 0) {
        missing.push(format!("{runner} did not print its closing summary"));
    }
    let files = then.iter().map(|it| it.counts.passed).max().unwrap_or(0);
    if closed && counts.passed < files {
        missing.push(format!(
            "{runner} checked {files} files before and {} now",
            counts.passed
        ));
    }
    RunnerProof {
        runner: Some(runner),
        source: if closed {
            ProofSource::Text
        } else {
            ProofSource::ExitCode
        },
        before: then.first().map(|it| it.counts),
        after: Some(counts),
        tests: Vec::new(),
    }
}

fn compare_runner(
    runner: TestRunner,
    then: &[&TestAccount],
    now: Option<&TestAccount>,
    failing: &[String],
    missing: &mut Vec<String>,
) -> RunnerProof {
    let before = then.iter().find(|it| it.closings > 0).map(|it| it.counts);
    let spelling = Spelling::of(runner, failing);
    let Some(now) = now.filter(|it| it.closings > 0) else {
        missing.push(format!("{runner} did not print its closing summary"));
        return RunnerProof {
            runner: Some(runner),
            source: ProofSource::ExitCode,
            before,
            after: None,
            tests: not_seen(then, &spelling),
        };
    };
    missing.extend(now.wrong.iter().cloned());
    let counts = now.counts;
    if counts.failed + counts.errors > 0 {
        missing.push(format!("the exit code is 0, and {runner} counts {counts}"));
    }
    if counts.passed == 0 {
        missing.push(format!("no test of {runner} passed"));
    }
    for file in &now.hollow {
        missing.push(format!("`{file}` has tests, and {runner} saw none of them"));
    }
    let mut tests: Vec<ProvenTest> = Vec::new();
    let mut told = BTreeSet::new();
    for then in then {
        if then.printed && !now.printed {
            missing.push(format!("{runner} did not print its closing summary"));
        }
        if then.source == ProofSource::Report && now.source != ProofSource::Report {
            missing.push(format!(
                "{runner} did not write the report that it was asked for"
            ));
        }
        // Not some of them: a test may print into the middle of its own line.
        if then.names_all() && now.whole && now.listed == 0 && counts.passed > 0 {
            missing.push(format!(
                "{runner} named the tests that passed before and does not name them now"
            ));
        }
        counted(runner, then, now, missing);
        for (id, ended) in ends(then, now) {
            let id = spelling.say(id);
            if let Some(why) = failed_still(ended) {
                missing.push(format!("`{id}`, which failed, {why}"));
            }
            if told.insert(id.clone()) {
                tests.push(ProvenTest { id, ended });
            }
        }
        unpassed_files(runner, then, now, missing);
        newly_skipped(then, now, &spelling, missing);
        if now.snapshots_written > then.snapshots_written {
            missing.push(format!(
                "{} snapshots were written in the green run and compared with nothing",
                now.snapshots_written
            ));
        }
    }
    if tests.is_empty() {
        tests = failing
            .iter()
            .map(|id| ProvenTest {
                id: id.clone(),
                ended: end_of(now, &canonical(runner, id)),
            })
            .collect();
    }
    tests.truncate(MAX_TESTS);
    shorten(missing);
    RunnerProof {
        runner: Some(runner),
        source: now.source,
        before,
        after: Some(counts),
        tests,
    }
}

/// Tests that are named; a proof is for people too.
const MAX_TESTS: usize = 200;
/// Sentences about what is missing.
const MAX_MISSING: usize = 12;

fn shorten(missing: &mut Vec<String>) {
    let more = missing.len().saturating_sub(MAX_MISSING);
    if more > 0 {
        missing.truncate(MAX_MISSING);
        missing.push(format!("and {more} more of the kind"));
    }
}

// The numbers alone: no test fewer, and as many passed as ran before.
fn counted(runner: TestRunner, then: &TestAccount, now: &TestAccount, missing: &mut Vec<String>) {
    if then.closings == 0 {
        return;
    }
    let (then, now) = (then.counts, now.counts);
    let what = if runner == TestRunner::GoTest {
        "packages"
    } else {
        "tests"
    };
    if now.total() < then.total() {
        missing.push(format!(
            "{runner} had {} {what} before and {} now",
            then.total(),
            now.total()
        ));
        return;
    }
    // A file that could not be loaded hides a test at least.
    let ran = then.passed + then.failed + then.errors;
    if now.passed < ran {
        missing.push(format!(
            "{ran} {what} of {runner} ran before and {} pass now: the others are skipped or left out",
            now.passed
        ));
    }
}

fn ends<'t>(then: &'t TestAccount, now: &TestAccount) -> Vec<(&'t str, TestEnd)> {
    then.failing()
        .map(|id| {
            let end = if then.unloaded.contains(id) {
                end_of_suite(now, id)
            } else {
                end_of(now, id)
            };
            (id, end)
        })
        .collect()
}

// By its name; else by its title alone, which another reporter may show without those above it.
fn end_of(now: &TestAccount, id: &str) -> TestEnd {
    if let Some(end) = now.tests.get(id) {
        return *end;
    }
    let title = title(now.runner, id);
    let alike = now
        .tests
        .iter()
        .filter(|(other, _)| title_is(now.runner, other, title));
    let ends: Vec<TestEnd> = alike.map(|(_, end)| *end).collect();
    if ends.contains(&TestEnd::Passed) {
        TestEnd::Passed
    } else if let Some(end) = ends.first() {
        *end
    } else if now.names_all() {
        TestEnd::NotSeen
    } else {
        TestEnd::Counted
    }
}

fn title(runner: TestRunner, id: &str) -> &str {
    match runner {
        // The name of a test with parameters may hold what differs from run to run.
        TestRunner::Pytest => id.split('[').next().unwrap_or(id),
        TestRunner::Jest => id.rsplit(" › ").next().unwrap_or(id),
        TestRunner::NodeTest | TestRunner::Tap | TestRunner::Vitest => {
            id.rsplit(" > ").next().unwrap_or(id)
        }
        _ => id,
    }
}

fn title_is(runner: TestRunner, id: &str, wanted: &str) -> bool {
    match runner {
        TestRunner::Mocha => wanted.ends_with(id) || id.ends_with(wanted),
        _ => title(runner, id) == wanted,
    }
}

fn end_of_suite(now: &TestAccount, id: &str) -> TestEnd {
    if now.hollow.contains(id) {
        return TestEnd::NotSeen;
    }
    if let Some(end) = now.files.get(id).or(now.tests.get(id)) {
        return *end;
    }
    let inside = [format!("{id}."), format!("{id} > ")];
    let within = format!(".{id}.");
    let mut ends = now
        .tests
        .iter()
        .filter(|(test, _)| inside.iter().any(|it| test.starts_with(it)) || test.contains(&within));
    let by_name = matches!(
        now.runner,
        TestRunner::Pytest | TestRunner::Unittest | TestRunner::Nose | TestRunner::Vitest
    );
    if ends.any(|(_, end)| *end == TestEnd::Passed) {
        TestEnd::Passed
    } else if now.names_all() && by_name {
        TestEnd::NotSeen
    } else {
        TestEnd::Counted
    }
}

fn failed_still(end: TestEnd) -> Option<&'static str> {
    match end {
        TestEnd::Failed => Some("fails still"),
        TestEnd::Skipped => Some("is skipped now"),
        TestEnd::ExpectedFailure => Some("is expected to fail now"),
        TestEnd::NotSeen => Some("is not among the tests that passed"),
        _ => None,
    }
}

fn unpassed_files(
    runner: TestRunner,
    then: &TestAccount,
    now: &TestAccount,
    missing: &mut Vec<String>,
) {
    if now.files.is_empty() {
        return;
    }
    let failed = then
        .files
        .iter()
        .filter(|(_, end)| **end == TestEnd::Failed);
    for (path, _) in failed {
        if now.files.get(path) != Some(&TestEnd::Passed) {
            missing.push(format!("`{path}` is not among what {runner} says passed"));
        }
    }
}

fn newly_skipped(
    then: &TestAccount,
    now: &TestAccount,
    spelling: &Spelling<'_>,
    missing: &mut Vec<String>,
) {
    let passed = then
        .tests
        .iter()
        .filter(|(_, end)| **end == TestEnd::Passed);
    for (id, _) in passed {
        let end = now.tests.get(id);
        if matches!(end, Some(TestEnd::Skipped | TestEnd::ExpectedFailure)) {
            let id = spelling.say(id);
            missing.push(format!("`{id}` passed before and is skipped now"));
        }
    }
}

fn not_seen(then: &[&TestAccount], spelling: &Spelling<'_>) -> Vec<ProvenTest> {
    let mut told = BTreeSet::new();
    let known = then.iter().flat_map(|it| it.failing());
    let known = known.map(|id| spelling.say(id));
    let known = known.filter(|id| told.insert(id.clone())).take(MAX_TESTS);
    let ended = TestEnd::NotSeen;
    known.map(|id| ProvenTest { id, ended }).collect()
}

fn canonical(runner: TestRunner, id: &str) -> String {
    match runner {
        TestRunner::Pytest => dotted(id),
        _ => id.to_owned(),
    }
}

// Tests as the diagnosis spells them, which is how the user knows them, by the runner's own names.
struct Spelling<'f>(BTreeMap<String, &'f String>);

impl<'f> Spelling<'f> {
    fn of(runner: TestRunner, failing: &'f [String]) -> Self {
        // Of several the first counts.
        let names = failing.iter().rev();
        Self(names.map(|id| (canonical(runner, id), id)).collect())
    }

    fn say(&self, id: &str) -> String {
        let known = self.0.get(id);
        known.map_or_else(|| id.to_owned(), |it| (*it).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::compare;
    use crate::model::{Proof, ProofSource, TestEnd, TestRunner as R};
    use crate::proof::{CommandEvidence, CommandOutput, command_evidence};

    fn said(text: &str, named: &[R], passed: bool) -> CommandEvidence {
        command_evidence(&CommandOutput {
            text,
            passed,
            whole: true,
            named: named.to_vec(),
            report: None,
            holds_tests: &|path| path.contains("test"),
        })
    }

    fn proof(named: &[R], red: &str, green: &str) -> Proof {
        let before = [vec![said(red, named, false)]];
        compare(&before, &vec![said(green, named, true)], &[])
    }

    const RULE: &str = "\n----------------------------------------------------------------------\n";

    // Runner, red run, green run, a word of each thing that is missing.
    type Row = (R, &'static str, &'static str, &'static [&'static str]);

    #[rustfmt::skip]
    const ROWS: &[Row] = &[
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 2 tests in 0.0s\n\nFAILED (failures=1)", "..\nRan 2 tests in 0.0s\n\nOK", &[]),
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 2 tests in 0.0s\n\nFAILED (failures=1)", "", &["closing summary"]),
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 2 tests in 0.0s\n\nFAILED (failures=1)", "Ran 2 tests in 0.0s\n\nFAILED (failures=1)", &["counts 1 passed, 1 failed", "pass now"]),
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 2 tests in 0.0s\n\nFAILED (failures=1)", "Ran 2 tests in 0.0s\n\nOK (skipped=1)", &["2 tests of unittest ran before and 1 pass now"]),
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 2 tests in 0.0s\n\nFAILED (failures=1)", "Ran 2 tests in 0.0s\n\nOK (expected failures=1)", &["pass now"]),
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 2 tests in 0.0s\n\nFAILED (failures=1)", "Ran 1 test in 0.0s\n\nOK", &["2 tests before and 1 now"]),
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 1 test in 0.0s\n\nFAILED (failures=1)", "Ran 0 tests in 0.0s\n\nOK", &["no test of unittest passed", "1 tests before and 0 now"]),
        (R::Unittest, "ERROR: t (unittest.loader._FailedTest.t)\nRan 1 test in 0.0s\n\nFAILED (errors=1)", "Ran 4 tests in 0.0s\n\nOK (skipped=1)", &[]),
        (R::Unittest, "t (unittest.loader._FailedTest.t) ... ERROR\nERROR: t (unittest.loader._FailedTest.t)\nRan 1 test in 0.0s\n\nFAILED (errors=1)", "test_f (t.T.test_f) ... ok\nRan 1 test in 0.0s\n\nOK", &[]),
        (R::Unittest, "ERROR: t (unittest.loader._FailedTest.t)\nRan 3 tests in 0.0s\n\nFAILED (errors=1)", "Ran 3 tests in 0.0s\n\nOK (skipped=1)", &["pass now"]),
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 1 test in 0.0s\n\nFAILED (failures=1)", "test_f (t.T.test_f) ... skipped 'no'\ntest_g (t.T.test_g) ... ok\nRan 2 tests in 0.0s\n\nOK (skipped=1)", &["`t.T.test_f`, which failed, is skipped now"]),
        (R::Unittest, "", "Ran 3 tests in 0.0s\n\nOK", &[]),
        (R::Pytest, "FAILED t.py::test_f - x\n=== 1 failed, 2 passed in 0.1s ===", "=== 3 passed in 0.1s ===", &[]),
        (R::Pytest, "FAILED t.py::test_f - x\n=== 1 failed, 2 passed in 0.1s ===", "=== 2 passed, 1 xfailed in 0.1s ===", &["pass now"]),
        (R::Pytest, "FAILED t.py::test_f - x\n=== 1 failed, 2 passed in 0.1s ===", "=== 2 passed, 1 deselected in 0.1s ===", &["3 tests before and 2 now"]),
        (R::Pytest, "FAILED t.py::test_f - x\n=== 1 failed, 2 passed in 0.1s ===", "collected 3 items\n\n<Module t.py>\n  <Function test_f>\n\n=== 3 tests collected in 0.01s ===", &["closing summary"]),
        (R::Pytest, "ERROR t.py - ImportError\n!!! Interrupted: 1 error during collection !!!\n=== 1 error in 0.1s ===", "=== 3 passed, 1 skipped in 0.1s ===", &[]),
        (R::Pytest, "ERROR t.py - ImportError\n!!! Interrupted: 1 error during collection !!!\n=== 1 error in 0.1s ===", "=== 1 skipped in 0.1s ===", &["no test of pytest passed", "pass now"]),
        (R::Pytest, "t.py::test_f FAILED\nt.py::test_g PASSED\n=== 1 failed, 1 passed in 0.1s ===", "t.py::test_h PASSED\nt.py::test_g PASSED\n=== 2 passed in 0.1s ===", &["`t.test_f`, which failed, is not among"]),
        (R::Jest, "FAIL a.test.js\n  ● g › f\nTests:       1 failed, 1 passed, 2 total", "PASS a.test.js\nTests:       2 passed, 2 total", &[]),
        (R::Jest, "FAIL a.test.js\n  ● g › f\nTests:       1 failed, 1 passed, 2 total", "PASS b.test.js\nTests:       2 passed, 2 total", &["`a.test.js` is not among"]),
        (R::Jest, "FAIL a.test.js\n  ● g › f\nTests:       1 failed, 1 passed, 2 total", "PASS a.test.js\nTests:       1 todo, 1 passed, 2 total", &["pass now"]),
        (R::Jest, "FAIL a.test.js\n  ● g › f\nTests:       1 failed, 1 passed, 2 total", "PASS a.test.js\nTests:       2 passed, 2 total\nSnapshots:   1 written, 1 total", &["snapshots were written"]),
        (R::Jest, "FAIL a.test.js\n  ● Test suite failed to run\nTests:       0 total", "PASS a.test.js\nTests:       2 passed, 2 total", &[]),
        (R::Vitest, " FAIL  a.test.ts > g > f\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)", " ✓ a.test.ts (2 tests) 3ms\n Test Files  1 passed (1)\n      Tests  2 passed (2)", &[]),
        (R::Vitest, " FAIL  a.test.ts > g > f\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)", "process.exit", &["closing summary"]),
        (R::Vitest, " FAIL  a.test.ts > g > f\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)", " ✓ a.test.ts (2 tests | 1 skipped) 3ms\n Test Files  1 passed (1)\n      Tests  1 passed | 1 skipped (2)", &["pass now"]),
        (R::Mocha, "  g\n    1) f\n\n  1 passing (3ms)\n  1 failing\n", "  g\n    ✔ f\n    ✔ h\n\n  2 passing (3ms)\n", &[]),
        (R::Mocha, "  g\n    1) f\n\n  0 passing (3ms)\n  1 failing\n", "\n  1 passing (1ms)\n", &["does not name them now"]),
        (R::Mocha, "  g\n    1) f\n\n  1 passing (3ms)\n  1 failing\n", "  g\n    ✔ h\n    ✔ i\n\n  2 passing (3ms)\n", &["`g f`, which failed, is not among"]),
        (R::Mocha, "  g\n    1) f\n\n  1 passing (3ms)\n  1 failing\n", "  g\n    - f\n    ✔ h\n\n  1 passing (3ms)\n  1 pending\n", &["pass now", "is skipped now"]),
        (R::Mocha, "  g\n    1) f\n\n  1 passing (3ms)\n  1 failing\n", "  g\n    1) f\n\n  1 passing (3ms)\n  1 failing\n", &["the exit code is 0", "pass now", "fails still"]),
        (R::NodeTest, "✖ f (1ms)\nℹ tests 1\nℹ pass 0\nℹ fail 1\n", "✔ f (1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n", &[]),
        (R::NodeTest, "✖ f (1ms)\nℹ tests 1\nℹ pass 0\nℹ fail 1\n", "✔ a.test.js (1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n", &["`a.test.js` has tests", "`f`, which failed, is not among"]),
        (R::NodeTest, "✖ a.test.js (1ms)\nℹ tests 1\nℹ pass 0\nℹ fail 1\n", "✔ a.test.js (1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n", &["`a.test.js` has tests", "is not among"]),
        (R::NodeTest, "✖ a.test.js (1ms)\nℹ tests 1\nℹ pass 0\nℹ fail 1\n", "✔ f (1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n", &[]),
        (R::NodeTest, "✖ a.js (1ms)\nℹ tests 1\nℹ pass 0\nℹ fail 1\n", "✔ a.js (1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n", &[]),
        (R::Tsc, "a.ts(1,2): error TS1: x\n", "", &[]),
        (R::Tsc, "a.ts(1,2): error TS1: x\n", "a.ts(1,2): error TS1: x\n", &["counts 1 errors"]),
        (R::Mypy, "Found 1 error in 1 file (checked 3 source files)\n", "Success: no issues found in 3 source files\n", &[]),
        (R::Mypy, "Found 1 error in 1 file (checked 3 source files)\n", "Success: no issues found in 2 source files\n", &["3 files before and 2 now"]),
        (R::Mypy, "Found 1 error in 1 file (checked 3 source files)\n", "", &["closing summary"]),
        (R::Ruff, "Found 1 error.\n", "All checks passed!\n", &[]),
        (R::GoTest, "FAIL\ta\t0.1s\n", "ok  \ta\t0.1s\n", &[]),
        (R::GoTest, "FAIL\ta\t0.1s\n", "ok  \ta\t0.1s [no tests to run]\n", &["no test of go test passed", "pass now", "`a` is not among"]),
        (R::CargoTest, "test a ... FAILED\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out", "test a ... ignored\ntest result: ok. 0 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out", &["no test of cargo test", "pass now", "is skipped now"]),
    ];

    #[test]
    fn what_is_missing_is_said() {
        for (runner, red, green, expected) in ROWS {
            let rule = |text: &str| text.replace("Ran ", &format!("{RULE}Ran "));
            let proof = proof(&[*runner], &rule(red), &rule(green));
            assert_eq!(
                proof.proven,
                expected.is_empty(),
                "{green}: {:?}",
                proof.missing
            );
            assert_eq!(
                proof.missing.len(),
                expected.len(),
                "{green}: {:?}",
                proof.missing
            );
            for (said, word) in proof.missing.iter().zip(*expected) {
                assert!(said.contains(word), "{said}: {word}");
            }
            assert_eq!(proof.decisive.runner, Some(*runner));
        }
    }

    #[test]
    fn what_is_no_runner_rests_on_its_exit_code() {
        let proof = proof(&[], "Traceback\n", "fine\n");
        assert!(proof.proven);
        assert_eq!(proof.decisive.runner, None);
        assert_eq!(proof.decisive.source, ProofSource::ExitCode);
    }

    #[test]
    fn a_runner_that_was_seen_before_must_be_seen_again() {
        let proof = proof(&[], "Ran 1 test in 0.0s\n\nFAILED (failures=1)\n", "");
        assert_eq!(
            proof.missing,
            ["unittest did not print its closing summary"]
        );
    }

    #[test]
    fn tests_keep_the_spelling_of_the_diagnosis() {
        let named = [R::Pytest];
        let red = "FAILED tests/t.py::T::test_f - x\n=== 1 failed in 0.1s ===";
        let before = [vec![said(red, &named, false)]];
        let after = vec![said("=== 1 passed in 0.1s ===", &named, true)];
        let failing = ["tests/t.py::T::test_f".to_owned()];
        let proof = compare(&before, &after, &failing);
        assert_eq!(proof.decisive.tests[0].id, failing[0]);
        assert_eq!(proof.decisive.tests[0].ended, TestEnd::Counted);
        assert_eq!(proof.decisive.before.unwrap().failed, 1);
    }

    #[test]
    fn the_runner_that_failed_decides() {
        let named = [R::Tsc, R::NodeTest];
        let red = "✖ f (1ms)\nℹ tests 1\nℹ pass 0\nℹ fail 1\n";
        let green = "✔ f (1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n";
        let proof = proof(&named, red, green);
        assert_eq!(proof.decisive.runner, Some(R::NodeTest));
        assert_eq!(proof.also.len(), 1);
        assert_eq!(proof.also[0].runner, Some(R::Tsc));
    }
}
