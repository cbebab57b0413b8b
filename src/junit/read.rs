//! Reads `JUnit` reports in one pass. A truncated report gives its tests up to the end, since a killed
//! runner leaves one.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// Reads a report in one pass. Entities beside those of XML itself are not expanded; what breaks off
/// gives the tests up to there.
pub fn read_report(text: &str) -> Report {
    let mut xml = Reader::from_str(text.trim_start_matches('\u{feff}'));
    xml.config_mut().check_end_names = false;
    let mut pass = Pass::default();
    let whole = loop {
        match xml.read_event() {
            Ok(Event::Start(tag)) => pass.open_tag(&tag),
            Ok(Event::Empty(tag)) => {
                pass.open_tag(&tag);
                pass.close_tag(tag.name().0);
            }
            Ok(Event::End(tag)) => pass.close_tag(tag.name().0),
            Ok(Event::Text(text)) => pass.add_text(&text.into_inner()),
            Ok(Event::CData(text)) => pass.add_text(&text.into_inner()),
            Ok(Event::GeneralRef(entity)) => {
                let entity = format!("&{};", entity.into_inner());
                let plain = quick_xml::escape::unescape(&entity);
                pass.add_text(plain.as_deref().unwrap_or(&entity));
            }
            Ok(Event::Eof) => break pass.has_begun && pass.depth == 0,
            Ok(_) => {}
            Err(_) => break false,
        }
        // No real suite has more cases.
        if pass.cases.len() >= 200_000 {
            break false;
        }
    };
    Report {
        cases: pass.cases,
        whole,
    }
}

/// A suite that is open.
struct Suite {
    name: String,
    file: Option<String>,
}

#[derive(Default)]
struct Pass {
    // The name of the report as a whole.
    root: String,
    suites: Vec<Suite>,
    depth: usize,
    has_begun: bool,
    case: Option<TestCase>,
    // Whether text belongs to the failure that is being read.
    in_failure: bool,
    details: usize,
    cases: Vec<TestCase>,
}

impl Pass {
    fn open_tag(&mut self, tag: &BytesStart<'_>) {
        self.depth += 1;
        match tag.name().0 {
            "testsuites" => {
                self.has_begun = true;
                self.root = attribute(tag, &["name"]).unwrap_or_default();
            }
            "testsuite" => {
                self.has_begun = true;
                // No real suite is nested deeper.
                if self.suites.len() < 64 {
                    self.suites.push(Suite {
                        name: attribute(tag, &["name"]).unwrap_or_default(),
                        file: attribute(tag, &["file", "filepath"]),
                    });
                }
            }
            "testcase" => {
                let mut suites = self.suites.iter().rev();
                let file = suites.find_map(|suite| suite.file.clone());
                let line = attribute(tag, &["line", "lineno"]);
                self.case = Some(TestCase {
                    name: attribute(tag, &["name"]).unwrap_or_default(),
                    class: attribute(tag, &["class", "classname"]).unwrap_or_default(),
                    file: attribute(tag, &["file", "filepath"]).or(file),
                    line: line.and_then(|line| line.parse().ok()),
                    ..TestCase::default()
                });
            }
            name @ ("failure" | "error") => {
                if let Some(case) = &mut self.case {
                    let is_error = name == "error" && case.end != End::Failed;
                    case.end = if is_error { End::Error } else { End::Failed };
                    let message = attribute(tag, &["message"]);
                    let message = message.filter(|message| !message.trim().is_empty());
                    case.message = case.message.take().or(message);
                    // Failures whose details are kept. Bounded, because a suite that fails as a whole repeats itself.
                    self.in_failure = self.details < 2000;
                    self.details += 1;
                }
            }
            "skipped" => {
                if let Some(case) = self.case.as_mut().filter(|case| case.end == End::Passed) {
                    case.end = End::Skipped;
                    case.is_expected = attribute(tag, &["type"]).as_deref() == Some("pytest.xfail");
                }
            }
            _ => {}
        }
    }

    fn close_tag(&mut self, name: &str) {
        self.depth = self.depth.saturating_sub(1);
        match name {
            "testsuite" => _ = self.suites.pop(),
            "failure" | "error" => self.in_failure = false,
            "testcase" => {
                if let Some(mut case) = self.case.take() {
                    let suite = self.suites.last().map_or("", |suite| suite.name.as_str());
                    case.set_id(&self.root, suite);
                    self.cases.push(case);
                }
            }
            _ => {}
        }
    }

    fn add_text(&mut self, text: &str) {
        if let Some(case) = self.case.as_mut().filter(|_| self.in_failure) {
            let room = (16_usize << 10).saturating_sub(case.detail.len());
            let end = text.floor_char_boundary(room.min(text.len()));
            case.detail.push_str(text.get(..end).unwrap_or_default());
        }
    }
}

fn attribute(tag: &BytesStart<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| {
        let mut all = tag.attributes();
        let mut known = all.with_checks(false).flatten();
        let found = known.find(|attribute| attribute.key.0 == *name)?;
        let value = match found.normalized_value(XmlVersion::Implicit1_0) {
            Ok(value) => value.into_owned(),
            // An undeclared entity stays as written.
            Err(_) => found.value.to_string(),
        };
        Some(value).filter(|value| !value.is_empty())
    })
}

/// What a report says of its tests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// In the order of the report; at most 200 000.
    pub cases: Vec<TestCase>,
    /// Whether the report was read to its end: not when it breaks off, is no XML, or holds more.
    pub whole: bool,
}

impl Report {
    /// The tests that failed.
    pub fn failed(&self) -> impl Iterator<Item = &TestCase> {
        self.cases.iter().filter(|case| matches!(case.end, End::Failed | End::Error))
    }
}

/// One test of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestCase {
    /// The test as its runner spells it in its own output.
    pub id: String,
    /// Its name as the report has it.
    pub name: String,
    /// Its class, file or package as the report has it.
    pub class: String,
    /// The runner that wrote the report, when the report shows it.
    pub runner: Option<&'static str>,
    /// Its file as the report has it.
    pub file: Option<String>,
    /// 1-based line in that file.
    pub line: Option<u32>,
    /// How it ended.
    pub end: End,
    /// It was skipped as one that fails and is meant to.
    pub is_expected: bool,
    /// What it died of, in one line.
    pub message: Option<String>,
    /// The details in the report, such as a stack trace; at most 16 KiB.
    pub detail: String,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum End {
    /// It passed, if need be after another try.
    #[default]
    Passed,
    /// An expectation did not hold.
    Failed,
    /// It broke off.
    Error,
    /// It was not run.
    Skipped,
}

// What reports call themselves, and the runner that writes them.
const ROOTS: [(&str, &str); 6] = [
    ("bun test", "bun"),
    ("deno", "deno"),
    ("jest tests", "jest"),
    ("Mocha", "mocha"),
    ("vitest tests", "vitest"),
    ("pytest tests", "pytest"),
];

impl TestCase {
    // Sets the test's id to the name that its runner prints, and records the runner.
    fn set_id(&mut self, root: &str, suite: &str) {
        let known = ROOTS.iter().find(|(name, _)| root.starts_with(name));
        self.runner = match known {
            Some((_, runner)) => Some(runner),
            None if suite == "pytest" => Some("pytest"),
            None if self.class == "test" && suite.is_empty() => Some("node-test"),
            None => None,
        };
        let class = &self.class;
        let is_class = class.contains('.')
            && class.split('.').all(|part| !part.is_empty())
            && !class.contains(['/', ' '])
            && !is_script(class)
            && !is_script(suite);
        self.id = match self.runner {
            Some("pytest") => self.pytest_id(),
            None if is_class && !self.name.starts_with(&self.class) => {
                format!("{}.{}", self.class, self.name)
            }
            _ => self.name.clone(),
        };
        // Its lines count from 0.
        if self.runner == Some("pytest") {
            self.line = self.line.map(|line| line.saturating_add(1));
        }
    }

    // `tests.test_a.T` and `test_x` are `tests/test_a.py::T::test_x`.
    fn pytest_id(&self) -> String {
        let is_module = self.class.is_empty();
        let dotted = if is_module { &self.name } else { &self.class };
        let parts: Vec<&str> = dotted.split('.').collect();
        let path = |count: &usize| format!("{}.py", parts[..*count].join("/"));
        let class = parts
            .iter()
            .skip(1)
            .position(|part| part.starts_with(|c: char| c.is_ascii_uppercase()));
        let usual = class.map_or(parts.len(), |at| at + 1);
        // Directories and classes of one test that are distinguished.
        let named = (1..=parts.len().min(64)).rev().find(|count| {
            let path = path(count);
            self.file.as_ref() == Some(&path) || self.detail.contains(&format!("{path}:"))
        });
        let count = named.unwrap_or(usual);
        let mut id = path(&count);
        // A file that could not be collected has no test.
        let test = (!is_module).then_some(self.name.as_str());
        for part in parts.iter().skip(count).copied().chain(test) {
            id.push_str("::");
            id.push_str(part);
        }
        id
    }
}

fn is_script(path: &str) -> bool {
    let ends = ["ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts", "vue"];
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    ends.contains(&ending)
}

#[cfg(test)]
mod tests {
    use crate::junit::{End, read_report};

    #[test]
    fn reads_ids_and_lines_of_each_runner() {
        for (report, runner, id, place) in [
            (
                r#"<testsuites name="pytest tests"><testsuite name="pytest"><testcase classname="tests.test_a.T" name="test_f[a&gt;1]"><failure message="a &gt; b">tests/test_a.py:3: AssertionError</failure></testcase></testsuite></testsuites>"#,
                Some("pytest"),
                "tests/test_a.py::T::test_f[a>1]",
                None,
            ),
            (
                r#"<testsuite name="pytest"><testcase classname="a.b" name="test_f" file="a/b.py" line="4"><error message="boom"/></testcase></testsuite>"#,
                Some("pytest"),
                "a/b.py::test_f",
                Some(("a/b.py", 5)),
            ),
            (
                r#"<testsuites name="pytest tests"><testsuite name="pytest"><testcase classname="" name="tests.test_u"><error message="collection failure">E</error></testcase></testsuite></testsuites>"#,
                Some("pytest"),
                "tests/test_u.py",
                None,
            ),
            (
                r#"<testsuites name="jest tests"><testsuite name="math"><testcase classname="math adds" name="math adds"><failure>Error: x</failure></testcase></testsuite></testsuites>"#,
                Some("jest"),
                "math adds",
                None,
            ),
            (
                r#"<testsuites name="vitest tests"><testsuite name="a.test.ts"><testcase classname="a.test.ts" name="queue &gt; waits"><failure message="m" type="AssertionError">x</failure></testcase></testsuite></testsuites>"#,
                Some("vitest"),
                "queue > waits",
                None,
            ),
            (
                r#"<testsuites name="Mocha Tests"><testsuite name="Net" file="/app/test/a.js"><testcase name="Net pings" classname="pings"><failure message="1 == 2" type="AssertionError"><![CDATA[at <x>]]></failure></testcase></testsuite></testsuites>"#,
                Some("mocha"),
                "Net pings",
                Some(("/app/test/a.js", 0)),
            ),
            (
                r#"<testsuite name="com.x.NetTest"><testcase name="pings" classname="com.x.NetTest" time="0.1"><rerunFailure>a</rerunFailure><failure message="expected: 1" type="AssertionFailedError">at x</failure></testcase></testsuite>"#,
                None,
                "com.x.NetTest.pings",
                None,
            ),
        ] {
            let read = read_report(report);
            let case = read.failed().next().unwrap();
            assert!(read.whole, "{report}");
            assert_eq!((case.runner, case.id.as_str()), (runner, id), "{report}");
            let found = case.file.as_deref();
            let found = found.map(|file| (file, case.line.unwrap_or(0)));
            assert_eq!(found, place, "{report}");
        }
    }

    #[test]
    fn passed_reruns_are_no_failures() {
        let read = read_report(
            r#"<testsuite name="com.x.T"><testcase name="a" classname="com.x.T"><flakyFailure message="m">x</flakyFailure></testcase><testcase name="b" classname="com.x.T"><skipped/></testcase></testsuite>"#,
        );
        let ends: Vec<End> = read.cases.iter().map(|case| case.end).collect();
        assert_eq!(ends, [End::Passed, End::Skipped]);
        assert!(read.whole);
    }

    #[test]
    fn hostile_reports_are_read_without_harm() {
        let bomb = format!(
            "<!DOCTYPE x [<!ENTITY a \"{}\"><!ENTITY b SYSTEM \"file:///etc/passwd\">]><testsuite><testcase name=\"&a;\"><failure message=\"&b;\">&a;&b;&#65;&lt;</failure></testcase></testsuite>",
            "x".repeat(1000)
        );
        let read = read_report(&bomb);
        let case = read.failed().next().unwrap();
        assert_eq!(
            (case.name.as_str(), case.detail.as_str()),
            ("&a;", "&a;&b;A<")
        );
        let half = &bomb[..bomb.len() - 30];
        assert!(!read_report(half).whole);
        for odd in [
            "",
            "not XML",
            "<a><b>",
            "<testcase",
            &"<testsuite>".repeat(100_000),
        ] {
            assert!(!read_report(odd).whole, "{}", odd.len());
            assert!(read_report(odd).cases.is_empty());
        }
        let long = format!(
            "<testsuite><testcase name=\"a\"><failure>{}</failure></testcase></testsuite>",
            "é".repeat(100_000)
        );
        assert!(read_report(&long).cases[0].detail.len() <= 16 << 10);
    }
}
