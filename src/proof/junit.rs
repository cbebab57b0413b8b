use super::account::TestAccount;
use crate::junit::{End, read_report};
use crate::model::{ProofSource, TestCounts, TestEnd, TestRunner};

/// What a report in the form of `JUnit` says; `None` when it is not whole, as one is that its writer
/// did not come to close.
pub(super) fn junit(text: &str, runner: TestRunner) -> Option<TestAccount> {
    let report = read_report(text);
    if !report.whole {
        return None;
    }
    let mut account = TestAccount::new(runner);
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
    use super::junit;
    use crate::model::{TestEnd, TestRunner};

    const REPORT: &str = r#"<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="2" tests="6"><testcase classname="tests.test_a.T" name="test_f" time="0.001"><failure message="a &gt; b">x <![CDATA[</testcase>]]></failure></testcase><testcase classname="tests.test_a" name="test_par[a&gt;1]" time="0.000" /><testcase classname="tests.test_a" name="test_sk"><skipped type="pytest.skip" message="x">y</skipped></testcase><testcase classname="tests.test_a" name="test_xf"><skipped type="pytest.xfail" message="" /></testcase><testcase classname="" name="tests.test_u"><error message="collection failure">E</error></testcase><testcase classname="tests.test_a" name="test_t" /><testcase classname="tests.test_a" name="test_t"><error message="failed on teardown">E</error></testcase></testsuite></testsuites>"#;

    #[test]
    fn a_report_is_read() {
        let account = junit(REPORT, TestRunner::Pytest).unwrap();
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
            assert_eq!(junit(&REPORT[..end], TestRunner::Pytest), None);
        }
    }
}
