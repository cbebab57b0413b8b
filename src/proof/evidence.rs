use serde::{Deserialize, Serialize};

use super::account::TestAccount;
use super::readers;
use crate::junit::{End, read_report};
use crate::model::{ProofSource, TestCounts, TestEnd, TestRunner};

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
    pub(super) fn account(&self, runner: TestRunner) -> Option<&TestAccount> {
        self.accounts.iter().find(|it| it.runner == runner)
    }
}

/// What a runner that the words of a command name counts as failed although the command ended with
/// exit code 0, in words; `None` when they agree.
#[must_use]
pub fn hidden_failure(evidence: &Evidence) -> Option<String> {
    let hidden = evidence.iter().filter(|it| it.passed).flat_map(|said| {
        let closed = said.accounts.iter().filter(|it| it.closings > 0);
        closed.filter(|it| said.named.contains(&it.runner))
    });
    let mut failed = hidden
        .map(|it| (it.runner, it.counts.failed + it.counts.errors))
        .filter(|(runner, failed)| *failed > 0 && !readers::is_checker(*runner));
    let (runner, failed) = failed.next()?;
    Some(format!(
        "the commands end with 0, yet {runner} counts {failed} failed"
    ))
}

/// A command that ended, as far as it can be read.
pub struct CommandOutput<'p> {
    /// Both streams as they came, without escapes.
    pub text: &'p str,
    /// Whether it ended by itself with exit code 0.
    pub passed: bool,
    /// Whether nothing of the text was left out for its size.
    pub whole: bool,
    /// Runners that its words name.
    pub named: Vec<TestRunner>,
    /// The report that was asked for, when one was written.
    pub report: Option<String>,
    /// Whether a file, as the output spells it, has tests of node's own runner.
    pub holds_tests: &'p dyn Fn(&str) -> bool,
}

/// Reads what a command printed, and the report if there is one.
#[must_use]
pub fn command_evidence(printed: &CommandOutput<'_>) -> CommandEvidence {
    let text = printed.text;
    let named = |runner: TestRunner| printed.named.contains(&runner);
    let nose = named(TestRunner::Nose) && !named(TestRunner::Unittest);
    let unittest = if nose {
        TestRunner::Nose
    } else {
        TestRunner::Unittest
    };
    let mut accounts: Vec<TestAccount> = [
        readers::unittest(text, unittest),
        readers::jest(text),
        readers::vitest(text),
        readers::mocha(text),
        node(printed),
        readers::ava(text),
        readers::jasmine(text),
        readers::playwright(text),
        readers::cargo_test(text),
        readers::go_test(text),
    ]
    .into_iter()
    .flatten()
    .collect();
    accounts.extend(pytest(printed));
    // Lists of tests look alike: without a summary they are whose the words say.
    accounts.retain(|it| it.closings > 0 || named(it.runner));
    let checkers = [
        TestRunner::Tsc,
        TestRunner::Eslint,
        TestRunner::Ruff,
        TestRunner::Mypy,
        TestRunner::Pyright,
    ];
    for runner in checkers {
        let account = readers::checker(text, runner);
        accounts.extend(account.filter(|_| named(runner) || printed.named.is_empty()));
    }
    for account in &mut accounts {
        account.whole = printed.whole;
        if account.listed > account.counts.passed
            && account.closings > 0
            && lists_tests_alone(account)
        {
            account.wrong.push(format!(
                "{} lists {} tests as passed and counts {}",
                account.runner, account.listed, account.counts.passed
            ));
        }
    }
    CommandEvidence {
        passed: printed.passed,
        named: printed.named.clone(),
        accounts,
    }
}

fn node(printed: &CommandOutput<'_>) -> Option<TestAccount> {
    let mut account = readers::node_test(printed.text, printed.holds_tests)?;
    // Nothing in TAP says whose it is: the words tell.
    let speakers = [
        TestRunner::NodeTest,
        TestRunner::Mocha,
        TestRunner::Ava,
        TestRunner::Jest,
        TestRunner::Vitest,
    ];
    if account.runner == TestRunner::Tap
        && let Some(runner) = speakers.iter().find(|it| printed.named.contains(it))
    {
        account.runner = *runner;
    }
    Some(account)
}

// Those that list suites beside tests, or a test a second time for each project, cannot be held to it.
fn lists_tests_alone(account: &TestAccount) -> bool {
    account.source == ProofSource::Text
        && matches!(
            account.runner,
            TestRunner::Unittest | TestRunner::Mocha | TestRunner::Ava
        )
}

// The report counts where there is one; what was printed must not contradict it.
fn pytest(printed: &CommandOutput<'_>) -> Option<TestAccount> {
    let text = readers::pytest(printed.text);
    let report = printed.report.as_deref();
    let Some(report) = report.and_then(junit) else {
        return text;
    };
    let Some(text) = text else {
        return Some(report);
    };
    let said = |it: &TestAccount| (it.counts.passed, it.counts.failed, it.counts.errors);
    let mut account = report;
    if text.closings > 1 {
        // Each run wrote its report over that of the one before.
        return Some(text);
    }
    account.wrong.extend(text.wrong.iter().cloned());
    account.counts.deselected = text.counts.deselected;
    account.printed = text.printed;
    if text.printed && printed.passed && said(&text) != said(&account) {
        account.wrong.push(format!(
            "the report of pytest says {}, what it printed {}",
            account.counts, text.counts
        ));
    }
    Some(account)
}

/// What pytest's report in the form of `JUnit` says; `None` when it is not whole, as one is that its writer
/// did not come to close.
fn junit(text: &str) -> Option<TestAccount> {
    let report = read_report(text);
    if !report.whole {
        return None;
    }
    let mut account = TestAccount::new(TestRunner::Pytest);
    account.source = ProofSource::Report;
    let tests = report.cases.len() as u64;
    for case in report.cases {
        let id = if case.class.is_empty() {
            case.name
        } else {
            format!("{}.{}", case.class, case.name)
        };
        if case.end == End::Error && case.message.as_deref() == Some("collection failure") {
            account.unloaded.insert(id.clone());
        }
        let end = match case.end {
            End::Passed => TestEnd::Passed,
            End::Skipped if case.is_expected => TestEnd::ExpectedFailure,
            End::Skipped => TestEnd::Skipped,
            End::Failed | End::Error => TestEnd::Failed,
        };
        account.note(id, end);
    }
    let mut counts = TestCounts::default();
    for (id, end) in &account.tests {
        *match end {
            TestEnd::Failed if account.unloaded.contains(id) => &mut counts.errors,
            TestEnd::Failed => &mut counts.failed,
            TestEnd::Skipped | TestEnd::ExpectedFailure => &mut counts.skipped,
            _ => &mut counts.passed,
        } += 1;
    }
    // Tests of one name are told apart by nothing but their number.
    let twice = tests - account.tests.len() as u64;
    if counts.failed + counts.errors == 0 {
        counts.passed += twice;
    }
    account.close(counts);
    account.printed = false;
    Some(account)
}

#[cfg(test)]
mod tests {
    use super::{CommandOutput, command_evidence, junit};
    use crate::model::{ProofSource, TestEnd, TestRunner as R};

    fn printed<'p>(text: &'p str, named: &[R], report: Option<&str>) -> CommandOutput<'p> {
        CommandOutput {
            text,
            passed: true,
            whole: true,
            named: named.to_vec(),
            report: report.map(str::to_owned),
            holds_tests: &|_| false,
        }
    }

    #[test]
    fn a_runner_is_known_by_its_text_where_words_do_not_tell() {
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
            let said: Vec<R> = evidence.accounts.iter().map(|it| it.runner).collect();
            assert_eq!(said, [expected], "{text}");
            let account = &evidence.accounts[0];
            assert!(
                account.closings > 0 && account.counts.passed > 0,
                "{account:?}"
            );
            assert!(account.wrong.is_empty(), "{:?}", account.wrong);
        }
    }

    #[test]
    fn a_report_that_says_otherwise_is_a_contradiction() {
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
        assert_eq!((good.source, good.wrong.len()), (ProofSource::Report, 0));
        assert_eq!(read("", text).wrong.len(), 1);
        assert_eq!(read(one, "").closings, 1);
    }

    const REPORT: &str = r#"<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="2" tests="6"><testcase classname="tests.test_a.T" name="test_f" time="0.001"><failure message="a &gt; b">x <![CDATA[</testcase>]]></failure></testcase><testcase classname="tests.test_a" name="test_par[a&gt;1]" time="0.000" /><testcase classname="tests.test_a" name="test_sk"><skipped type="pytest.skip" message="x">y</skipped></testcase><testcase classname="tests.test_a" name="test_xf"><skipped type="pytest.xfail" message="" /></testcase><testcase classname="" name="tests.test_u"><error message="collection failure">E</error></testcase><testcase classname="tests.test_a" name="test_t" /><testcase classname="tests.test_a" name="test_t"><error message="failed on teardown">E</error></testcase></testsuite></testsuites>"#;

    #[test]
    fn a_report_is_read() {
        let account = junit(REPORT).unwrap();
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
        assert!(account.unloaded.contains("tests.test_u"));
    }

    #[test]
    fn half_a_report_is_none() {
        for end in [10, 200, REPORT.len() - 3] {
            assert_eq!(junit(&REPORT[..end]), None);
        }
    }
}
