//! Collects what each runner reports about a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::junit::{End, read_report};
use crate::model::{ProofSource, TestCounts, TestEnd, TestRunner};
pub(super) use crate::runners::is_checker;
use crate::runners::{Closing, find_closings};

/// What one runner says of its tests in one run of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestAccount {
    /// Who says it.
    pub runner: TestRunner,
    /// Where it was read.
    pub source: ProofSource,
    /// Whether a closing summary was printed.
    pub printed: bool,
    /// The counts of all of them together.
    pub counts: TestCounts,
    /// How tests ended by its report; of two of one name the worse.
    pub tests: BTreeMap<String, TestEnd>,
    /// Snapshots that were written, and so compared with nothing.
    pub snapshots_written: u64,
    /// What contradicts itself, in words.
    pub wrong: Option<String>,
}

impl TestAccount {
    /// Returns how a test ended: by its name in a report, else from the counts. The name of a test with parameters
    /// may differ from run to run, and a file that could not be collected has tests now.
    pub fn end_of(&self, id: &str) -> TestEnd {
        if self.source != ProofSource::Report {
            return TestEnd::Counted;
        }
        let id = dotted_id(id);
        if let Some(end) = self.tests.get(&id) {
            return *end;
        }
        let name = id.split('[').next().unwrap_or(&id);
        let inside = format!("{name}.");
        let alike = self.tests.iter().filter(|(other, _)| {
            other.split('[').next() == Some(name) || other.starts_with(&inside)
        });
        let ends: Vec<TestEnd> = alike.map(|(_, end)| *end).collect();
        if ends.contains(&TestEnd::Passed) {
            return TestEnd::Passed;
        }
        if let Some(end) = ends.first() {
            return *end;
        }
        let elsewhere = self.tests.iter();
        let elsewhere = elsewhere.filter(|(other, _)| is_tail(&id, other) || is_tail(other, &id));
        let ends: Vec<TestEnd> = elsewhere.map(|(_, end)| *end).collect();
        match ends.as_slice() {
            [end] => *end,
            _ => TestEnd::NotSeen,
        }
    }
}

// A command that changes its directory names the file from there.
fn is_tail(whole: &str, tail: &str) -> bool {
    let head = whole.strip_suffix(tail);
    head.is_some_and(|head| head.ends_with('.')) && tail.contains('.')
}

// `tests/test_a.py::T::test_f[a/b]` as reports spell it: `tests.test_a.T.test_f[a/b]`.
fn dotted_id(id: &str) -> String {
    let (name, parameters) = id.find('[').map_or((id, ""), |at| id.split_at(at));
    let (path, rest) = name.split_once("::").unwrap_or((name, ""));
    let mut dotted = path.strip_suffix(".py").unwrap_or(path).replace(['/', '\\'], ".");
    for part in rest.split("::").filter(|part| !part.is_empty()) {
        dotted.push('.');
        dotted.push_str(part);
    }
    dotted + parameters
}

/// What the runners of one run say, command by command; commands after one that failed are not run.
pub type Evidence = Vec<CommandEvidence>;

/// What the runners behind one command say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandEvidence {
    /// Whether it ended by itself with exit code 0.
    pub passed: bool,
    /// Runners that its words name.
    pub named: Vec<TestRunner>,
    /// What they, and others that its output shows, say.
    pub accounts: Vec<TestAccount>,
}

impl CommandEvidence {
    pub(super) fn account_by(&self, runner: TestRunner) -> Option<&TestAccount> {
        self.accounts.iter().find(|a| a.runner == runner)
    }
}

/// What a runner that the words of a command name counts as failed although the command ended with
/// exit code 0, in words; `None` when they agree.
pub fn hidden_failure(evidence: &Evidence) -> Option<String> {
    let hidden = evidence.iter().filter(|c| c.passed).flat_map(|c| {
        let accounts = c.accounts.iter();
        accounts.filter(|account| c.named.contains(&account.runner) && !is_checker(account.runner))
    });
    let mut failed = hidden
        .map(|a| (a.runner, a.counts.failed + a.counts.errors))
        .filter(|(_, failed)| *failed > 0);
    let (runner, failed) = failed.next()?;
    Some(format!(
        "the exit code is 0, but {runner} reports {failed} failed"
    ))
}

/// A command that ended, as far as it can be read.
pub struct CommandOutput<'p> {
    /// Both streams as they came, without escapes.
    pub text: &'p str,
    /// Whether it ended by itself with exit code 0.
    pub passed: bool,
    /// Runners that its words name.
    pub named: Vec<TestRunner>,
    /// The report that was asked for, when one was written.
    pub report: Option<String>,
}

/// Reads what a command printed, and the report if there is one.
pub fn command_evidence(printed: &CommandOutput<'_>) -> CommandEvidence {
    let named = &printed.named;
    let closed: Vec<Closing> = find_closings(printed.text, &printed.named)
        .into_iter()
        .filter(|c| named.contains(&c.runner) || named.is_empty() || !is_checker(c.runner))
        .collect();
    // Several runs of one runner need its output, because each overwrote the report of the one before.
    let report = printed.report.as_deref().filter(|_| {
        !closed
            .iter()
            .any(|closing| closing.runner == TestRunner::Pytest && closing.count > 1)
    });
    let mut accounts: Vec<TestAccount> = closed.into_iter().map(closing_account).collect();
    if let Some(report) = report.and_then(read_junit) {
        let own = accounts.iter().position(|a| a.runner == report.runner);
        let text = own.map(|at| accounts.remove(at));
        accounts.push(held_to(report, text, printed.passed));
    }
    CommandEvidence {
        passed: printed.passed,
        named: printed.named.clone(),
        accounts,
    }
}

fn closing_account(closing: Closing) -> TestAccount {
    TestAccount {
        runner: closing.runner,
        source: ProofSource::Text,
        printed: true,
        counts: closing.counts,
        tests: BTreeMap::new(),
        snapshots_written: closing.snapshots_written,
        wrong: None,
    }
}

// The report counts where there is one; what was printed must not contradict it.
fn held_to(report: TestAccount, text: Option<TestAccount>, passed: bool) -> TestAccount {
    let Some(text) = text else {
        return report;
    };
    let mut account = report;
    account.counts.deselected = text.counts.deselected;
    account.printed = text.printed;
    if passed && totals(&text) != totals(&account) {
        account.wrong = Some(format!(
            "pytest's report says {}, its output {}",
            account.counts, text.counts
        ));
    }
    account
}

fn totals(a: &TestAccount) -> (u64, u64, u64) {
    (a.counts.passed, a.counts.failed, a.counts.errors)
}

/// What pytest's report in the form of `JUnit` says; `None` when it is not whole, as one is that its writer
/// did not come to close.
fn read_junit(text: &str) -> Option<TestAccount> {
    let report = read_report(text);
    if !report.whole {
        return None;
    }
    let tests = report.cases.len() as u64;
    let mut ends = BTreeMap::new();
    let mut counts = TestCounts::default();
    for case in report.cases {
        let id = if case.class.is_empty() {
            case.name
        } else {
            format!("{}.{}", case.class, case.name)
        };
        let end = match case.end {
            End::Passed => TestEnd::Passed,
            End::Skipped if case.is_expected => TestEnd::ExpectedFailure,
            End::Skipped => TestEnd::Skipped,
            End::Failed | End::Error => TestEnd::Failed,
        };
        if case.end == End::Error && case.message.as_deref() == Some("collection failure") {
            counts.errors += 1;
        }
        let seen = ends.entry(id).or_insert(end);
        if end_badness(end) > end_badness(*seen) {
            *seen = end;
        }
    }
    for end in ends.values() {
        *match end {
            TestEnd::Failed => &mut counts.failed,
            TestEnd::Skipped | TestEnd::ExpectedFailure => &mut counts.skipped,
            _ => &mut counts.passed,
        } += 1;
    }
    counts.failed = counts.failed.saturating_sub(counts.errors);
    // Tests of one name are distinguished by nothing but their number.
    if counts.failed + counts.errors == 0 {
        counts.passed += tests - ends.len() as u64;
    }
    Some(TestAccount {
        source: ProofSource::Report,
        printed: false,
        tests: ends,
        ..closing_account(Closing {
            runner: TestRunner::Pytest,
            count: 1,
            counts,
            snapshots_written: 0,
        })
    })
}

pub(super) fn end_badness(end: TestEnd) -> u8 {
    match end {
        TestEnd::Failed => 3,
        TestEnd::Skipped => 2,
        TestEnd::ExpectedFailure => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{CommandOutput, command_evidence, hidden_failure, read_junit};
    use crate::model::{ProofSource, TestEnd, TestRunner as R};

    fn printed<'p>(text: &'p str, named: &[R], report: Option<&str>) -> CommandOutput<'p> {
        CommandOutput {
            text,
            passed: true,
            named: named.to_vec(),
            report: report.map(str::to_owned),
        }
    }

    #[test]
    fn recognizes_runner_by_output() {
        for (text, expected) in [
            (include_str!("../../tests/proof/pytest.txt"), R::Pytest),
            (include_str!("../../tests/proof/unittest.txt"), R::Unittest),
            (include_str!("../../tests/proof/jest.txt"), R::Jest),
            (include_str!("../../tests/proof/vitest.txt"), R::Vitest),
            (include_str!("../../tests/proof/mocha.txt"), R::Mocha),
            (include_str!("../../tests/proof/node-spec.txt"), R::NodeTest),
            (include_str!("../../tests/proof/node-tap.txt"), R::NodeTest),
            (include_str!("../../tests/proof/ava.txt"), R::Ava),
            (
                include_str!("../../tests/proof/playwright.txt"),
                R::Playwright,
            ),
            (include_str!("../../tests/proof/cargo.txt"), R::CargoTest),
            (include_str!("../../tests/proof/go.txt"), R::GoTest),
            (include_str!("../../tests/proof/tox.txt"), R::Pytest),
        ] {
            let evidence = command_evidence(&printed(text, &[], None));
            let runners: Vec<R> = evidence.accounts.iter().map(|account| account.runner).collect();
            assert_eq!(runners, [expected], "{text}");
            let account = &evidence.accounts[0];
            assert!(account.printed && account.counts.passed > 0, "{account:?}");
            assert_eq!(account.wrong, None);
        }
    }

    #[test]
    fn contradicting_report_is_wrong() {
        let report = |tests: &str| {
            format!("<testsuites><testsuite name=\"pytest\">{tests}</testsuite></testsuites>")
        };
        let one = "<testcase classname=\"tests.test_a\" name=\"test_x\" time=\"0\" />";
        let text = "=== 1 passed in 0.01s ===";
        let read = |tests: &str, text: &str| {
            let evidence = command_evidence(&printed(text, &[R::Pytest], Some(&report(tests))));
            evidence.accounts[0].clone()
        };
        let good = read(one, text);
        assert_eq!((good.source, good.wrong), (ProofSource::Report, None));
        assert!(read("", text).wrong.is_some());
        assert!(!read(one, "").printed);
    }

    const REPORT: &str = r#"<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="2" tests="6"><testcase classname="tests.test_a.T" name="test_f" time="0.001"><failure message="a &gt; b">x <![CDATA[</testcase>]]></failure></testcase><testcase classname="tests.test_a" name="test_par[a&gt;1]" time="0.000" /><testcase classname="tests.test_a" name="test_sk"><skipped type="pytest.skip" message="x">y</skipped></testcase><testcase classname="tests.test_a" name="test_xf"><skipped type="pytest.xfail" message="" /></testcase><testcase classname="" name="tests.test_u"><error message="collection failure">E</error></testcase><testcase classname="tests.test_a" name="test_t" /><testcase classname="tests.test_a" name="test_t"><error message="failed on teardown">E</error></testcase></testsuite></testsuites>"#;

    #[test]
    fn reads_junit_report() {
        let account = read_junit(REPORT).unwrap();
        assert_eq!(
            account.counts.to_string(),
            "1 passed, 2 failed, 1 errors, 2 skipped"
        );
        assert_eq!(account.tests["tests.test_a.test_par[a>1]"], TestEnd::Passed);
        assert_eq!(account.tests["tests.test_a.T.test_f"], TestEnd::Failed);
        assert_eq!(
            account.tests["tests.test_a.test_xf"],
            TestEnd::ExpectedFailure
        );
    }

    #[test]
    fn truncated_report_is_none() {
        for end in [10, 200, REPORT.len() - 3] {
            assert_eq!(read_junit(&REPORT[..end]), None);
        }
    }

    fn cases(rows: &[(&str, &str)]) -> String {
        let rows = rows.iter().map(|(name, end)| {
            format!("<testcase classname=\"t\" name=\"{name}\">{end}</testcase>")
        });
        let rows: String = rows.collect();
        format!("<testsuites><testsuite name=\"pytest\">{rows}</testsuite></testsuites>")
    }

    const FAILED: &str = "<failure message=\"x\">y</failure>";
    const SKIPPED: &str = "<skipped type=\"pytest.skip\" message=\"x\">y</skipped>";
    const EXPECTED: &str = "<skipped type=\"pytest.xfail\" message=\"\" />";
    const UNCOLLECTED: &str = "<error message=\"collection failure\">E</error>";
    const TEARDOWN: &str = "<error message=\"failed on teardown\">E</error>";

    #[test]
    fn repeated_name_counts_worst_end() {
        use TestEnd::{ExpectedFailure, Failed, Passed, Skipped};
        for (first, second, expected) in [
            ("", "", Passed),
            (FAILED, "", Failed),
            ("", SKIPPED, Skipped),
            (SKIPPED, FAILED, Failed),
            (SKIPPED, "", Skipped),
            ("", EXPECTED, ExpectedFailure),
            (EXPECTED, SKIPPED, Skipped),
        ] {
            let account = read_junit(&cases(&[("a", first), ("a", second)])).unwrap();
            assert_eq!(account.tests["t.a"], expected, "{first} {second}");
        }
        for (rows, counts) in [
            (&[("a", ""), ("a", "")][..], "2 passed, 0 failed"),
            (&[("a", ""), ("a", ""), ("f", FAILED)], "1 passed, 1 failed"),
            (&[("a", TEARDOWN)], "0 passed, 1 failed"),
            (&[("a", UNCOLLECTED)], "0 passed, 0 failed, 1 errors"),
            (
                &[("a", ""), ("a", ""), ("f", FAILED), ("u", UNCOLLECTED)],
                "1 passed, 1 failed, 1 errors",
            ),
        ] {
            let account = read_junit(&cases(rows)).unwrap();
            assert_eq!(account.counts.to_string(), counts);
            assert_eq!(account.snapshots_written, 0);
        }
        let whole = read_junit(REPORT).unwrap();
        assert_eq!(whole.tests["tests.test_u"], Failed);
    }

    #[test]
    fn finds_end_of_test_in_report() {
        use TestEnd::{Failed, NotSeen, Passed, Skipped};
        let mut account = read_junit(REPORT).unwrap();
        let rows = [
            ("tests.test_a.test_f[a/b]", Passed),
            ("tests.test_a.test_f[a::b[1]]", Skipped),
            ("tests.test_p.test_p[2]", Failed),
            ("tests.test_p.test_p[3]", Passed),
            ("tests.test_q.test_q[2]", Failed),
            ("tests.test_c.test_c", Skipped),
            ("a.test_d.test_d", Passed),
            ("b.test_d.test_d", Failed),
        ];
        account.tests = rows.map(|(id, end)| (id.to_owned(), end)).into();
        for (id, expected) in [
            ("tests/test_a.py::test_f[a/b]", Passed),
            ("tests/test_a.py::test_f[a::b[1]]", Skipped),
            ("tests/test_p.py::test_p[1]", Passed),
            ("tests/test_q.py::test_q[1]", Failed),
            ("tests/test_p.py", Passed),
            ("pkg/tests/test_c.py::test_c", Skipped),
            ("test_c.py::test_c", Skipped),
            ("mytests/test_c.py::test_c", NotSeen),
            ("test_c", NotSeen),
            ("test_d.py::test_d", NotSeen),
        ] {
            assert_eq!(account.end_of(id), expected, "{id}");
        }
        account.tests = [("tests.test_c.test_c".to_owned(), Passed)].into();
        assert_eq!(account.end_of("tests/none.py::test_z"), NotSeen);
        account.source = ProofSource::Text;
        assert_eq!(account.end_of("tests/none.py::test_z"), TestEnd::Counted);
    }

    #[test]
    fn passing_command_with_counted_failures_is_hidden_failure() {
        let hidden = |named: &[R], failed, errors, passed| {
            let mut evidence = command_evidence(&printed("=== 1 passed in 0.1s ===", named, None));
            evidence.passed = passed;
            evidence.named = named.to_vec();
            evidence.accounts[0].counts.failed = failed;
            evidence.accounts[0].counts.errors = errors;
            let mut checker = evidence.accounts[0].clone();
            (checker.runner, checker.counts.failed) = (R::Tsc, 3);
            evidence.accounts.push(checker);
            hidden_failure(&vec![evidence])
        };
        let message = "the exit code is 0, but pytest reports 1 failed";
        for (failed, errors) in [(1, 0), (0, 1)] {
            let found = hidden(&[R::Pytest], failed, errors, true);
            assert_eq!(found.as_deref(), Some(message));
        }
        assert!(hidden(&[R::Pytest], 1, 1, true).is_some());
        assert_eq!(hidden(&[R::Pytest], 0, 0, true), None);
        assert_eq!(hidden(&[R::Pytest], 1, 0, false), None);
        assert_eq!(hidden(&[], 1, 0, true), None);
        assert_eq!(hidden(&[R::Tsc], 1, 0, true), None);
    }

    #[test]
    fn ignores_unnamed_checkers_and_overwritten_report() {
        let runners = |text: &str, named: &[R]| -> Vec<R> {
            let accounts = command_evidence(&printed(text, named, None)).accounts;
            accounts.iter().map(|account| account.runner).collect()
        };
        let text = "Success: no issues found in 3 source files\n=== 1 passed in 0.1s ===\n";
        assert_eq!(runners(text, &[R::Unittest]), [R::Pytest]);
        assert!(runners(text, &[R::Pytest, R::Mypy]).contains(&R::Mypy));
        assert!(runners("Success: no issues found in 3 source files\n", &[]).contains(&R::Mypy));
        let report = cases(&[("a", "")]);
        for (text, source) in [
            ("=== 1 passed in 0.1s ===\n", ProofSource::Report),
            (
                "=== 1 passed in 0.1s ===\n=== 1 passed in 0.1s ===\n",
                ProofSource::Text,
            ),
        ] {
            let evidence = command_evidence(&printed(text, &[R::Pytest], Some(&report)));
            assert_eq!(evidence.accounts[0].source, source, "{text}");
        }
    }
}
