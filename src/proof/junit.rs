use super::account::Account;
use crate::model::{ProofSource, TestCounts, TestEnd, TestRunner};

/// Reads a report in the form of `JUnit`; `None` when it is not whole, as one is that its writer did
/// not come to close.
pub(super) fn junit(text: &str, runner: TestRunner) -> Option<Account> {
    let text = text.trim();
    if !text.ends_with("</testsuites>") && !text.ends_with("</testsuite>") {
        return None;
    }
    let mut account = Account::new(runner);
    account.source = ProofSource::Report;
    let mut open: Option<(String, TestEnd, bool)> = None;
    let mut tests = 0;
    for element in elements(text) {
        match element.name {
            "testcase" => {
                let class = element.attribute("classname").unwrap_or_default();
                let name = element.attribute("name").unwrap_or_default();
                let id = if class.is_empty() {
                    name
                } else {
                    format!("{class}.{name}")
                };
                tests += 1;
                if element.closed {
                    account.note(id, TestEnd::Passed);
                } else {
                    open = Some((id, TestEnd::Passed, false));
                }
            }
            "/testcase" => {
                if let Some((id, end, unloaded)) = open.take() {
                    if unloaded {
                        account.unloaded.insert(id.clone());
                    }
                    account.note(id, end);
                }
            }
            name => {
                if let Some((_, end, unloaded)) = &mut open {
                    let message = element.attribute("message").unwrap_or_default();
                    match name {
                        "failure" => *end = TestEnd::Failed,
                        "error" => {
                            *end = TestEnd::Failed;
                            *unloaded |= message == "collection failure";
                        }
                        "skipped" if *end != TestEnd::Failed => {
                            let kind = element.attribute("type").unwrap_or_default();
                            *end = if kind == "pytest.xfail" {
                                TestEnd::ExpectedFailure
                            } else {
                                TestEnd::Skipped
                            };
                        }
                        _ => {}
                    }
                }
            }
        }
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

struct Element<'t> {
    name: &'t str,
    attributes: &'t str,
    closed: bool,
}

impl Element<'_> {
    fn attribute(&self, name: &str) -> Option<String> {
        let mut rest = self.attributes;
        loop {
            let (key, after) = rest.split_once('=')?;
            let after = after.trim_start();
            let quote = after.chars().next().filter(|it| "\"'".contains(*it))?;
            let (value, after) = after.get(1..)?.split_once(quote)?;
            if key.trim() == name {
                return Some(unescaped(value));
            }
            rest = after;
        }
    }
}

fn elements(text: &str) -> impl Iterator<Item = Element<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find('<')?;
            let inner = rest.get(start + 1..)?;
            let skipped = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")]
                .iter()
                .find(|(open, _)| inner.starts_with(open));
            if let Some((_, close)) = skipped {
                rest = inner.get(inner.find(close)? + close.len()..)?;
                continue;
            }
            let end = end_of_tag(inner)?;
            let tag = inner.get(..end)?;
            rest = inner.get(end + 1..)?;
            let closed = tag.ends_with('/');
            let tag = tag.trim_end_matches('/');
            let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
            return Some(Element {
                name,
                attributes,
                closed,
            });
        }
    })
}

// A `>` in a value ends no tag.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return Some(at),
            _ => {}
        }
    }
    None
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::junit;
    use crate::model::{TestCounts, TestEnd, TestRunner};

    const REPORT: &str = r#"<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="2" tests="6"><testcase classname="tests.test_a.T" name="test_f" time="0.001"><failure message="a &gt; b">x <![CDATA[</testcase>]]></failure></testcase><testcase classname="tests.test_a" name="test_par[a&gt;1]" time="0.000" /><testcase classname="tests.test_a" name="test_sk"><skipped type="pytest.skip" message="x">y</skipped></testcase><testcase classname="tests.test_a" name="test_xf"><skipped type="pytest.xfail" message="" /></testcase><testcase classname="" name="tests.test_u"><error message="collection failure">E</error></testcase><testcase classname="tests.test_a" name="test_t" /><testcase classname="tests.test_a" name="test_t"><error message="failed on teardown">E</error></testcase></testsuite></testsuites>"#;

    #[test]
    fn a_report_is_read() {
        let account = junit(REPORT, TestRunner::Pytest).unwrap();
        assert_eq!(
            account.counts,
            TestCounts {
                passed: 1,
                failed: 2,
                skipped: 2,
                errors: 1,
                ..TestCounts::default()
            }
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
