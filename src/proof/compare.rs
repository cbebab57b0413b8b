//! Compares the test reports before and after a change, and lists what is missing as proof.

use std::collections::BTreeSet;

use super::evidence::{CommandEvidence, Evidence, TestAccount, end_badness, is_checker};
use crate::model::{Proof, ProofSource, ProvenTest, RunnerProof, TestEnd, TestRunner};

/// What is behind a green run, beside the runs before it: the first is the one without any
/// change, others are of states that were kept since. `failing` are the tests that failed, as a
/// diagnosis spells them; of these `skipped` may be skipped, because they are without the culprit. How often it was run
/// is for the caller to add.
pub fn compare_evidence(
    before: &[Evidence],
    after: &Evidence,
    failing: &[String],
    skipped: &[String],
) -> Proof {
    let mut missing: Vec<String> = Vec::new();
    let mut runners: Vec<(usize, RunnerProof)> = Vec::new();
    for (at, now) in after.iter().enumerate() {
        let then: Vec<&CommandEvidence> = before.iter().filter_map(|c| c.get(at)).collect();
        for runner in runners_of(&then, now) {
            let then: Vec<&TestAccount> =
                then.iter().filter_map(|c| c.account_by(runner)).collect();
            let now = now.account_by(runner);
            runners.push((
                at,
                compare_runner(runner, &then, now, skipped, &mut missing),
            ));
        }
    }
    let failed = before.first().map_or(0, |c| c.len().saturating_sub(1));
    let mut seen = BTreeSet::new();
    missing.retain(|message| seen.insert(message.clone()));
    let decisive = decisive_runner(&runners, failed);
    let mut decisive = decisive.map_or_else(RunnerProof::default, |at| runners.remove(at).1);
    if let Some(runner) = decisive.runner.filter(|runner| !is_checker(*runner)) {
        let own: Vec<_> = after.iter().filter_map(|c| c.account_by(runner)).collect();
        decisive.tests = proven_ends(failing, &own, skipped, &mut missing);
        // One file that could not be loaded may skip a test of its own.
        missing.extend(unnamed_skip(&decisive, 1));
    }
    // Sentences about what is missing.
    let max_missing = 12;
    let more = missing.len().saturating_sub(max_missing);
    if more > 0 {
        missing.truncate(max_missing);
        missing.push(format!("and {more} more like it"));
    }
    Proof {
        proven: missing.is_empty(),
        missing,
        decisive,
        also: runners.into_iter().map(|(_, proof)| proof).collect(),
        ..Proof::default()
    }
}

/// What is missing where more tests are skipped than before and more than `most` of those that failed are only counted:
/// counts cannot tell which of them is skipped.
pub fn unnamed_skip(decisive: &RunnerProof, most: usize) -> Option<String> {
    let unnamed = decisive.tests.iter().filter(|test| test.ended == TestEnd::Counted).count();
    let [was, is] = [decisive.before, decisive.after].map(|c| c.map_or(0, |c| c.skipped));
    (unnamed > most && is > was)
        .then(|| format!("the number of skipped tests rose from {was} to {is}, and none is named"))
}

// Those that the words name first, in their order.
fn runners_of(then: &[&CommandEvidence], now: &CommandEvidence) -> Vec<TestRunner> {
    let seen = then
        .iter()
        .copied()
        .chain([now])
        .flat_map(|evidence| evidence.accounts.iter().map(|account| account.runner));
    let mut runners: Vec<TestRunner> = Vec::new();
    for runner in now.named.iter().copied().chain(seen) {
        if !runners.contains(&runner) {
            runners.push(runner);
        }
    }
    runners
}

// The one that failed, of the command that failed; else one that runs tests.
fn decisive_runner(runners: &[(usize, RunnerProof)], failed: usize) -> Option<usize> {
    (0..runners.len()).min_by_key(|at| runner_rank(&runners[*at], failed))
}

fn runner_rank((at, proof): &(usize, RunnerProof), failed: usize) -> (bool, bool, bool) {
    let is_red = proof.before.is_some_and(|c| c.failed + c.errors > 0);
    let runs_tests = proof.runner.is_some_and(|runner| !is_checker(runner));
    (!is_red, !is_red && !runs_tests, *at != failed)
}

fn compare_runner(
    runner: TestRunner,
    then: &[&TestAccount],
    now: Option<&TestAccount>,
    skipped: &[String],
    missing: &mut Vec<String>,
) -> RunnerProof {
    let is_checker = is_checker(runner);
    let proof = RunnerProof {
        runner: Some(runner),
        source: now.map_or(ProofSource::ExitCode, |now| now.source),
        before: then.first().map(|then| then.counts),
        after: now.map_or_else(|| is_checker.then(Default::default), |now| Some(now.counts)),
        tests: Vec::new(),
    };
    let unseen = format!("{runner} did not print its closing summary");
    let Some(now) = now else {
        // For a checker that prints nothing on success, the exit code decides.
        let is_silent = matches!(runner, TestRunner::Tsc | TestRunner::Eslint);
        if !is_checker || !is_silent && !then.is_empty() {
            missing.push(unseen);
        }
        return proof;
    };
    missing.extend(now.wrong.clone());
    let counts = now.counts;
    if counts.failed + counts.errors > 0 {
        missing.push(format!("the exit code is 0, but {runner} reports {counts}"));
    }
    // A checker runs no tests, so the number of files it checked and its findings decide.
    if is_checker {
        let files = then.iter().map(|then| then.counts.passed).max();
        if let Some(files) = files.filter(|files| counts.passed < *files) {
            missing.push(format!(
                "{runner} checked {files} files before and {} now",
                counts.passed
            ));
        }
        return proof;
    }
    if counts.passed == 0 {
        missing.push(format!("no test of {runner} passed"));
    }
    for then in then {
        if then.printed && !now.printed {
            missing.push(unseen.clone());
        }
        if then.source == ProofSource::Report && now.source != ProofSource::Report {
            missing.push(format!("{runner} did not write the requested report"));
        }
        counted(runner, then, now, skipped, missing);
        newly_skipped(then, now, missing);
        if now.snapshots_written > then.snapshots_written {
            missing.push(format!(
                "{} snapshots were written in the passing run, so nothing was compared with them",
                now.snapshots_written
            ));
        }
    }
    proof
}

// The numbers alone: no test fewer, and as many passed as ran before.
fn counted(
    runner: TestRunner,
    then: &TestAccount,
    now: &TestAccount,
    skipped: &[String],
    missing: &mut Vec<String>,
) {
    let may_skip = skipped.iter().filter(|id| now.end_of(id) == TestEnd::Skipped).count();
    let (then, now) = (then.counts, now.counts);
    let what = if runner == TestRunner::GoTest { "packages" } else { "tests" };
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
    if now.passed + (may_skip as u64) < ran {
        missing.push(format!(
            "{ran} {what} of {runner} ran before and {} pass now: the others are skipped or left out",
            now.passed
        ));
    }
}

// Each test that failed, as the diagnosis spells it, and how it ended: a command of several ran only some of them.
fn proven_ends(
    failing: &[String],
    now: &[&TestAccount],
    skipped: &[String],
    missing: &mut Vec<String>,
) -> Vec<ProvenTest> {
    let mut tests = Vec::new();
    for id in failing {
        let ends = now.iter().map(|now| now.end_of(id)).filter(|end| *end != TestEnd::NotSeen);
        let ended = ends.max_by_key(|end| end_badness(*end)).unwrap_or(TestEnd::NotSeen);
        let may_skip = ended == TestEnd::Skipped && skipped.contains(id);
        if let Some(why) = failed_still(ended).filter(|_| !now.is_empty() && !may_skip) {
            missing.push(format!("`{id}`, which failed, {why}"));
        }
        tests.push(ProvenTest {
            id: id.clone(),
            ended,
        });
    }
    // A fix is one that a failing test shows to pass.
    if !tests.is_empty() && tests.iter().all(|test| test.ended == TestEnd::Skipped) {
        missing.push("every test that failed is skipped now".to_owned());
    }
    tests
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

fn newly_skipped(then: &TestAccount, now: &TestAccount, missing: &mut Vec<String>) {
    let passed = then.tests.iter().filter(|(_, end)| **end == TestEnd::Passed);
    for (id, _) in passed {
        let end = now.tests.get(id);
        if matches!(end, Some(TestEnd::Skipped | TestEnd::ExpectedFailure)) {
            missing.push(format!("`{id}` passed before and is skipped now"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TestAccount, compare_evidence};
    use crate::model::{Proof, ProofSource, TestCounts, TestEnd, TestRunner as R};
    use crate::proof::{CommandEvidence, CommandOutput, Evidence, command_evidence};

    fn evidence(text: &str, named: &[R], passed: bool) -> CommandEvidence {
        command_evidence(&CommandOutput {
            text,
            passed,
            named: named.to_vec(),
            report: None,
        })
    }

    fn proof(named: &[R], red: &str, green: &str) -> Proof {
        let before = [vec![evidence(red, named, false)]];
        compare_evidence(&before, &vec![evidence(green, named, true)], &[], &[])
    }

    const RULE: &str = "\n----------------------------------------------------------------------\n";

    // Runner, red run, green run, a word of each thing that is missing.
    type Row = (R, &'static str, &'static str, &'static [&'static str]);

    #[rustfmt::skip]
    const ROWS: &[Row] = &[
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 2 tests in 0.0s\n\nFAILED (failures=1)", "..\nRan 2 tests in 0.0s\n\nOK", &[]),
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 2 tests in 0.0s\n\nFAILED (failures=1)", "", &["closing summary"]),
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 2 tests in 0.0s\n\nFAILED (failures=1)", "Ran 2 tests in 0.0s\n\nFAILED (failures=1)", &["reports 1 passed, 1 failed", "pass now"]),
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 2 tests in 0.0s\n\nFAILED (failures=1)", "Ran 2 tests in 0.0s\n\nOK (skipped=1)", &["2 tests of unittest ran before and 1 pass now"]),
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 2 tests in 0.0s\n\nFAILED (failures=1)", "Ran 2 tests in 0.0s\n\nOK (expected failures=1)", &["pass now"]),
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 2 tests in 0.0s\n\nFAILED (failures=1)", "Ran 1 test in 0.0s\n\nOK", &["2 tests before and 1 now"]),
        (R::Unittest, "FAIL: test_f (t.T.test_f)\nRan 1 test in 0.0s\n\nFAILED (failures=1)", "Ran 0 tests in 0.0s\n\nOK", &["no test of unittest passed", "1 tests before and 0 now"]),
        (R::Unittest, "ERROR: t (unittest.loader._FailedTest.t)\nRan 1 test in 0.0s\n\nFAILED (errors=1)", "Ran 4 tests in 0.0s\n\nOK (skipped=1)", &[]),
        (R::Unittest, "t (unittest.loader._FailedTest.t) ... ERROR\nERROR: t (unittest.loader._FailedTest.t)\nRan 1 test in 0.0s\n\nFAILED (errors=1)", "test_f (t.T.test_f) ... ok\nRan 1 test in 0.0s\n\nOK", &[]),
        (R::Unittest, "ERROR: t (unittest.loader._FailedTest.t)\nRan 3 tests in 0.0s\n\nFAILED (errors=1)", "Ran 3 tests in 0.0s\n\nOK (skipped=1)", &["pass now"]),
        (R::Unittest, "", "Ran 3 tests in 0.0s\n\nOK", &[]),
        (R::Pytest, "FAILED t.py::test_f - x\n=== 1 failed, 2 passed in 0.1s ===", "=== 3 passed in 0.1s ===", &[]),
        (R::Pytest, "FAILED t.py::test_f - x\n=== 1 failed, 2 passed in 0.1s ===", "=== 2 passed, 1 xfailed in 0.1s ===", &["pass now"]),
        (R::Pytest, "FAILED t.py::test_f - x\n=== 1 failed, 2 passed in 0.1s ===", "=== 2 passed, 1 deselected in 0.1s ===", &["3 tests before and 2 now"]),
        (R::Pytest, "FAILED t.py::test_f - x\n=== 1 failed, 2 passed in 0.1s ===", "collected 3 items\n\n<Module t.py>\n  <Function test_f>\n\n=== 3 tests collected in 0.01s ===", &["closing summary"]),
        (R::Pytest, "ERROR t.py - ImportError\n!!! Interrupted: 1 error during collection !!!\n=== 1 error in 0.1s ===", "=== 3 passed, 1 skipped in 0.1s ===", &[]),
        (R::Pytest, "ERROR t.py - ImportError\n!!! Interrupted: 1 error during collection !!!\n=== 1 error in 0.1s ===", "=== 1 skipped in 0.1s ===", &["no test of pytest passed", "pass now"]),
        (R::Jest, "FAIL a.test.js\n  ● g › f\nTests:       1 failed, 1 passed, 2 total", "PASS a.test.js\nTests:       2 passed, 2 total", &[]),
        (R::Jest, "FAIL a.test.js\n  ● g › f\nTests:       1 failed, 1 passed, 2 total", "PASS a.test.js\nTests:       1 todo, 1 passed, 2 total", &["pass now"]),
        (R::Jest, "FAIL a.test.js\n  ● g › f\nTests:       1 failed, 1 passed, 2 total", "PASS a.test.js\nTests:       2 passed, 2 total\nSnapshots:   1 written, 1 total", &["snapshots were written"]),
        (R::Jest, "FAIL a.test.js\n  ● Test suite failed to run\nTests:       0 total", "PASS a.test.js\nTests:       2 passed, 2 total", &[]),
        (R::Vitest, " FAIL  a.test.ts > g > f\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)", " ✓ a.test.ts (2 tests) 3ms\n Test Files  1 passed (1)\n      Tests  2 passed (2)", &[]),
        (R::Vitest, " FAIL  a.test.ts > g > f\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)", "process.exit", &["closing summary"]),
        (R::Vitest, " FAIL  a.test.ts > g > f\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)", " ✓ a.test.ts (2 tests | 1 skipped) 3ms\n Test Files  1 passed (1)\n      Tests  1 passed | 1 skipped (2)", &["pass now"]),
        (R::Mocha, "  g\n    1) f\n\n  1 passing (3ms)\n  1 failing\n", "  g\n    ✔ f\n    ✔ h\n\n  2 passing (3ms)\n", &[]),
        (R::Mocha, "  g\n    1) f\n\n  1 passing (3ms)\n  1 failing\n", "  g\n    - f\n    ✔ h\n\n  1 passing (3ms)\n  1 pending\n", &["pass now"]),
        (R::Mocha, "  g\n    1) f\n\n  1 passing (3ms)\n  1 failing\n", "  g\n    1) f\n\n  1 passing (3ms)\n  1 failing\n", &["the exit code is 0", "pass now"]),
        (R::NodeTest, "✖ f (1ms)\nℹ tests 1\nℹ pass 0\nℹ fail 1\n", "✔ f (1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n", &[]),
        (R::NodeTest, "✖ a.test.js (1ms)\nℹ tests 1\nℹ pass 0\nℹ fail 1\n", "✔ f (1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n", &[]),
        (R::NodeTest, "✖ a.js (1ms)\nℹ tests 1\nℹ pass 0\nℹ fail 1\n", "✔ a.js (1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n", &[]),
        (R::Tsc, "a.ts(1,2): error TS1: x\n", "", &[]),
        (R::Tsc, "a.ts(1,2): error TS1: x\n", "a.ts(1,2): error TS1: x\n", &["reports 0 passed, 1 failed"]),
        (R::Mypy, "Found 1 error in 1 file (checked 3 source files)\n", "Success: no issues found in 3 source files\n", &[]),
        (R::Mypy, "Found 1 error in 1 file (checked 3 source files)\n", "Success: no issues found in 2 source files\n", &["3 files before and 2 now"]),
        (R::Mypy, "Found 1 error in 1 file (checked 3 source files)\n", "", &["closing summary"]),
        (R::Ruff, "Found 1 error.\n", "All checks passed!\n", &[]),
        (R::GoTest, "FAIL\ta\t0.1s\n", "ok  \ta\t0.1s\n", &[]),
        (R::GoTest, "FAIL\ta\t0.1s\n", "ok  \ta\t0.1s [no tests to run]\n", &["no test of go test passed", "pass now"]),
        (R::CargoTest, "test a ... FAILED\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out", "test a ... ignored\ntest result: ok. 0 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out", &["no test of cargo test", "pass now"]),
    ];

    #[test]
    fn lists_missing_evidence() {
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
            for (message, word) in proof.missing.iter().zip(*expected) {
                assert!(message.contains(word), "{message}: {word}");
            }
            assert_eq!(proof.decisive.runner, Some(*runner));
        }
    }

    #[test]
    fn unknown_runner_is_proven_by_exit_code() {
        let proof = proof(&[], "Traceback\n", "fine\n");
        assert!(proof.proven);
        assert_eq!(proof.decisive.runner, None);
        assert_eq!(proof.decisive.source, ProofSource::ExitCode);
    }

    #[test]
    fn missing_runner_is_unproven() {
        let proof = proof(&[], "Ran 1 test in 0.0s\n\nFAILED (failures=1)\n", "");
        assert_eq!(
            proof.missing,
            ["unittest did not print its closing summary"]
        );
    }

    #[test]
    fn proof_keeps_test_ids_of_diagnosis() {
        let named = [R::Pytest];
        let red = "FAILED tests/t.py::T::test_f - x\n=== 1 failed in 0.1s ===";
        let before = [vec![evidence(red, &named, false)]];
        let after = vec![evidence("=== 1 passed in 0.1s ===", &named, true)];
        let failing = ["tests/t.py::T::test_f".to_owned()];
        let proof = compare_evidence(&before, &after, &failing, &[]);
        assert_eq!(proof.decisive.tests[0].id, failing[0]);
        assert_eq!(proof.decisive.tests[0].ended, TestEnd::Counted);
        assert_eq!(proof.decisive.before.unwrap().failed, 1);
    }

    #[test]
    fn skip_without_name_leaves_several_files_open() {
        let red = "ERROR: a (unittest.loader._FailedTest.a)\nERROR: b (unittest.loader._FailedTest.b)\nRan 2 tests in 0.0s\n\nFAILED (errors=2)";
        let before = [vec![evidence(red, &[R::Unittest], false)]];
        let files = ["a".to_owned(), "b".to_owned()];
        for (end, failing, is_open) in [
            ("OK (skipped=1)", &files[..], true),
            ("OK (skipped=1)", &files[..1], false),
            ("OK", &files[..], false),
        ] {
            let green = format!("Ran 4 tests in 0.0s\n\n{end}");
            let after = vec![evidence(&green, &[R::Unittest], true)];
            let missing = compare_evidence(&before, &after, failing, &[]).missing;
            let found = missing.iter().any(|missing| missing.contains("none is named"));
            assert_eq!(found, is_open, "{missing:?}");
        }
    }

    #[test]
    fn failing_runner_decides() {
        let named = [R::Tsc, R::NodeTest];
        let red = "✖ f (1ms)\nℹ tests 1\nℹ pass 0\nℹ fail 1\n";
        let green = "✔ f (1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n";
        let proof = proof(&named, red, green);
        assert_eq!(proof.decisive.runner, Some(R::NodeTest));
        assert_eq!(proof.also.len(), 1);
        assert_eq!(proof.also[0].runner, Some(R::Tsc));
    }

    // Counts of tests that passed, failed and were skipped, and of errors.
    fn account(runner: R, [passed, failed, skipped, errors]: [u64; 4]) -> TestAccount {
        TestAccount {
            runner,
            source: ProofSource::Text,
            printed: true,
            counts: TestCounts {
                passed,
                failed,
                skipped,
                errors,
                ..TestCounts::default()
            },
            tests: [].into(),
            snapshots_written: 0,
            wrong: None,
        }
    }

    fn report(ends: &[(&str, TestEnd)]) -> TestAccount {
        let [passed, failed] = [TestEnd::Passed, TestEnd::Failed]
            .map(|end| ends.iter().filter(|row| row.1 == end).count() as u64);
        let skipped = ends.len() as u64 - passed - failed;
        TestAccount {
            source: ProofSource::Report,
            tests: ends.iter().map(|(id, end)| ((*id).to_owned(), *end)).collect(),
            ..account(R::Pytest, [passed, failed, skipped, 0])
        }
    }

    fn ran(accounts: &[TestAccount]) -> CommandEvidence {
        CommandEvidence {
            passed: true,
            named: Vec::new(),
            accounts: accounts.to_vec(),
        }
    }

    #[test]
    fn decisive_runner_failed_or_runs_tests() {
        let one = |runner| account(runner, [1, 0, 0, 0]);
        let error = account(R::Pytest, [0, 0, 0, 1]);
        let rows: [(Evidence, Evidence, R); 6] = [
            (
                vec![ran(&[one(R::NodeTest), account(R::Tsc, [0, 1, 0, 0])])],
                vec![ran(&[one(R::NodeTest), one(R::Tsc)])],
                R::Tsc,
            ),
            (
                vec![ran(&[one(R::NodeTest), error])],
                vec![ran(&[one(R::NodeTest), one(R::Pytest)])],
                R::Pytest,
            ),
            (
                vec![ran(&[one(R::Tsc), one(R::NodeTest)])],
                vec![ran(&[one(R::Tsc), one(R::NodeTest)])],
                R::NodeTest,
            ),
            (
                vec![ran(&[one(R::Unittest)]), ran(&[one(R::Tsc)])],
                vec![ran(&[one(R::Unittest)]), ran(&[one(R::Tsc)])],
                R::Unittest,
            ),
            (
                vec![ran(&[one(R::Unittest)]), ran(&[one(R::Pytest)])],
                vec![ran(&[one(R::Unittest)]), ran(&[one(R::Pytest)])],
                R::Pytest,
            ),
            (
                Vec::new(),
                vec![ran(&[one(R::Unittest)]), ran(&[one(R::Pytest)])],
                R::Unittest,
            ),
        ];
        for (before, after, expected) in rows {
            let before = if before.is_empty() { Vec::new() } else { vec![before] };
            let failing = ["t".to_owned()];
            let proof = compare_evidence(&before, &after, &failing, &[]);
            assert_eq!(proof.decisive.runner, Some(expected));
            let is_tests = expected != R::Tsc;
            assert_eq!(proof.decisive.tests.len(), usize::from(is_tests));
        }
        let none = compare_evidence(&[], &vec![ran(&[])], &["t".to_owned()], &[]);
        assert!(none.decisive.tests.is_empty());
    }

    #[test]
    fn finds_each_test_in_its_command() {
        use TestEnd::{Failed, NotSeen, Passed, Skipped};
        let ids = ["a.py::test_a".to_owned(), "b.py::test_b".to_owned()];
        let a = |end| ran(&[report(&[("a.test_a", end), ("a.test_x", Passed)])]);
        let b = |end| ran(&[report(&[("b.test_b", end), ("b.test_x", Passed)])]);
        let red = [vec![a(Failed)]];
        let other = ran(&[report(&[("c.test_c", Passed), ("c.test_d", Passed)])]);
        for (after, ends, missing) in [
            (vec![a(Passed), b(Passed)], [Passed, Passed], 0),
            (vec![b(Passed), a(Passed)], [Passed, Passed], 0),
            (vec![a(Passed), a(Passed), b(Passed)], [Passed, Passed], 0),
            (vec![a(Passed), other.clone()], [Passed, NotSeen], 1),
            (vec![other, b(Passed)], [NotSeen, Passed], 1),
            // One count, and one for the test that had failed.
            (vec![a(Skipped), b(Passed)], [Skipped, Passed], 2),
            (vec![a(Passed), b(Failed)], [Passed, Failed], 2),
            (vec![a(Passed), a(Failed), b(Passed)], [Failed, Passed], 2),
        ] {
            let proof = compare_evidence(&red, &after, &ids, &[]);
            let ended: Vec<TestEnd> = proof.decisive.tests.iter().map(|test| test.ended).collect();
            assert_eq!(ended, ends);
            assert_eq!(proof.missing.len(), missing, "{:?}", proof.missing);
            assert_eq!(proof.proven, missing == 0);
        }
    }

    #[test]
    fn tests_skipped_without_culprit_may_be_skipped() {
        use TestEnd::{ExpectedFailure, Failed, Passed, Skipped};
        let id = ["a.py::test_a".to_owned()];
        let run = |end| vec![ran(&[report(&[("a.test_a", end), ("a.test_x", Passed)])])];
        let missing = |end, skipped: &[String]| {
            let proof = compare_evidence(&[run(Failed)], &run(end), &id, skipped);
            proof.missing.iter().filter(|text| text.contains("a.py::test_a")).count()
        };
        assert_eq!(missing(Skipped, &[]), 1);
        assert_eq!(missing(Skipped, &id), 0);
        let proof = compare_evidence(&[run(Failed)], &run(Skipped), &id, &id);
        assert_eq!(proof.missing, ["every test that failed is skipped now"]);
        assert_eq!(missing(Skipped, &["a.py::test_x".to_owned()]), 1);
        assert_eq!(missing(Failed, &id), 1);
        assert_eq!(missing(ExpectedFailure, &id), 1);
    }

    #[test]
    fn lists_contradictions_of_reports() {
        let missing = |before: &[TestAccount], after: TestAccount| {
            let before: Vec<Evidence> =
                before.iter().map(|a| vec![ran(std::slice::from_ref(a))]).collect();
            compare_evidence(&before, &vec![ran(&[after])], &[], &[]).missing
        };
        let red = account(R::Pytest, [1, 1, 0, 0]);
        let green = account(R::Pytest, [2, 0, 0, 0]);
        assert!(missing(std::slice::from_ref(&red), green.clone()).is_empty());
        let wrong = TestAccount {
            wrong: Some("they differ".to_owned()),
            ..green.clone()
        };
        assert_eq!(missing(std::slice::from_ref(&red), wrong), ["they differ"]);
        let error = account(R::Pytest, [2, 0, 0, 1]);
        assert_eq!(missing(std::slice::from_ref(&red), error).len(), 1);
        let silent = TestAccount {
            printed: false,
            ..green.clone()
        };
        assert_eq!(missing(std::slice::from_ref(&red), silent.clone()).len(), 1);
        assert!(missing(std::slice::from_ref(&silent), green.clone()).is_empty());
        // A report that was read before must be read again.
        let with_report = report(&[("a", TestEnd::Passed), ("b", TestEnd::Failed)]);
        assert_eq!(missing(&[with_report], green.clone()).len(), 1);
        // Every state that was kept counts.
        let kept = account(R::Pytest, [2, 1, 0, 0]);
        assert_eq!(missing(&[red, kept], green).len(), 1);
        let files = |count| account(R::Mypy, [count, 0, 0, 0]);
        let fewer = missing(&[files(2), files(3)], files(2));
        assert_eq!(fewer, ["mypy checked 3 files before and 2 now"]);
        assert!(missing(&[files(2)], files(2)).is_empty());
    }

    #[test]
    fn lists_passed_tests_that_are_skipped_now() {
        use TestEnd::{ExpectedFailure, Failed, Passed, Skipped};
        for (end, expected) in [(Skipped, 1), (ExpectedFailure, 1), (Passed, 0)] {
            let red = report(&[("a", Failed), ("b", Passed), ("c", Passed)]);
            let green = report(&[("a", Passed), ("b", end), ("c", Passed), ("d", Passed)]);
            let before = [vec![ran(&[red])]];
            let proof = compare_evidence(&before, &vec![ran(&[green])], &[], &[]);
            assert_eq!(proof.missing.len(), expected, "{:?}", proof.missing);
        }
    }

    #[test]
    fn proof_of_many_tests_names_all_and_limits_sentences() {
        let ids: Vec<String> = (0..250).map(|at| format!("a.py::test_{at}")).collect();
        let ends: Vec<String> = (0..250).map(|at| format!("a.test_{at}")).collect();
        let red: Vec<_> = ends.iter().map(|id| (id.as_str(), TestEnd::Failed)).collect();
        let run = vec![ran(&[report(&red)])];
        let proof = compare_evidence(std::slice::from_ref(&run), &run, &ids, &[]);
        assert_eq!(proof.missing.len(), 13);
        assert!(
            proof.missing[12].starts_with("and "),
            "{}",
            proof.missing[12]
        );
        assert_eq!(proof.decisive.tests.len(), 250);
    }
}
