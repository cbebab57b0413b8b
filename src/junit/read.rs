use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::runner_ids::set_id;

const MOST_CASES: usize = 200_000;
const LONGEST_DETAIL: usize = 16 << 10;
// Failures whose details are kept; a suite that fails as a whole repeats itself.
const MOST_DETAILS: usize = 2000;
const DEEPEST: usize = 64;

/// Reads a report in one pass. Entities beside those of XML itself are not expanded; what breaks off
/// gives the tests up to there.
#[must_use]
pub fn read_report(text: &str) -> Report {
    let mut xml = Reader::from_str(text.trim_start_matches('\u{feff}'));
    xml.config_mut().check_end_names = false;
    let mut pass = Pass::default();
    let whole = loop {
        match xml.read_event() {
            Ok(Event::Start(tag)) => pass.open(&tag),
            Ok(Event::Empty(tag)) => {
                pass.open(&tag);
                pass.close(tag.name().0);
            }
            Ok(Event::End(tag)) => pass.close(tag.name().0),
            Ok(Event::Text(text)) => pass.text(&text.into_inner()),
            Ok(Event::CData(text)) => pass.text(&text.into_inner()),
            Ok(Event::GeneralRef(entity)) => {
                let name = entity.into_inner();
                pass.text(&unescaped(&format!("&{name};")));
            }
            Ok(Event::Eof) => break pass.is_done(),
            Ok(_) => {}
            Err(_) => break false,
        }
        if pass.cases.len() >= MOST_CASES {
            break false;
        }
    };
    Report {
        cases: pass.cases,
        whole,
    }
}

/// What stands around a test.
#[derive(Debug, Default)]
pub(super) struct Enclosing {
    /// The name of the report as a whole.
    pub(super) root: String,
    /// Names of the suites around it, the outer first.
    pub(super) suites: Vec<String>,
    /// The program says that it was written in Go.
    pub(super) is_go: bool,
}

#[derive(Default)]
struct Pass {
    around: Enclosing,
    // Files of the suites, one for each name.
    files: Vec<Option<String>>,
    depth: usize,
    seen: bool,
    case: Option<Case>,
    // Whether text belongs to the failure that is being read.
    telling: bool,
    details: usize,
    cases: Vec<Case>,
}

impl Pass {
    fn open(&mut self, tag: &BytesStart<'_>) {
        self.depth += 1;
        match tag.name().0 {
            "testsuites" => {
                self.seen = true;
                self.around.root = attribute(tag, &["name"]).unwrap_or_default();
            }
            "testsuite" => {
                self.seen = true;
                if self.around.suites.len() < DEEPEST {
                    self.around
                        .suites
                        .push(attribute(tag, &["name"]).unwrap_or_default());
                    self.files.push(attribute(tag, &["file", "filepath"]));
                }
            }
            "testcase" => {
                let of_suite = || self.files.iter().rev().flatten().next().cloned();
                let line = attribute(tag, &["line", "lineno"]);
                self.case = Some(Case {
                    name: attribute(tag, &["name"]).unwrap_or_default(),
                    class: attribute(tag, &["class", "classname"]).unwrap_or_default(),
                    file: attribute(tag, &["file", "filepath"]).or_else(of_suite),
                    line: line.and_then(|line| line.parse().ok()),
                    ..Case::default()
                });
            }
            name @ ("failure" | "error") => {
                if let Some(case) = &mut self.case {
                    let error = name == "error" && case.end != End::Failed;
                    case.end = if error { End::Error } else { End::Failed };
                    let message = attribute(tag, &["message"]).filter(|it| !it.trim().is_empty());
                    case.message = case.message.take().or(message);
                    self.telling = self.details < MOST_DETAILS;
                    self.details += 1;
                }
            }
            "skipped" => {
                if let Some(case) = self.case.as_mut().filter(|it| it.end == End::Passed) {
                    case.end = End::Skipped;
                    case.is_expected =
                        attribute(tag, &["type"]).is_some_and(|it| it == "pytest.xfail");
                }
            }
            "property" => {
                let name = attribute(tag, &["name"]);
                self.around.is_go |= name.is_some_and(|name| name == "go.version");
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        self.depth = self.depth.saturating_sub(1);
        match name {
            "testsuite" => {
                self.around.suites.pop();
                self.files.pop();
            }
            "failure" | "error" => self.telling = false,
            "testcase" => {
                if let Some(mut case) = self.case.take() {
                    set_id(&mut case, &self.around);
                    self.cases.push(case);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(case) = self.case.as_mut().filter(|_| self.telling) {
            let room = LONGEST_DETAIL.saturating_sub(case.detail.len());
            let end = text.floor_char_boundary(room.min(text.len()));
            case.detail.push_str(text.get(..end).unwrap_or_default());
        }
    }

    fn is_done(&self) -> bool {
        self.seen && self.depth == 0
    }
}

fn attribute(tag: &BytesStart<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| {
        let mut all = tag.attributes();
        let found = all
            .with_checks(false)
            .flatten()
            .find(|it| it.key.0 == *name)?;
        let value = match found.normalized_value(XmlVersion::Implicit1_0) {
            Ok(value) => value.into_owned(),
            // An entity that nobody declares stays as it is written.
            Err(_) => found.value.to_string(),
        };
        Some(value).filter(|value| !value.is_empty())
    })
}

fn unescaped(reference: &str) -> String {
    quick_xml::escape::unescape(reference)
        .map_or_else(|_| reference.to_owned(), std::borrow::Cow::into_owned)
}

/// What a report says of its tests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// In the order of the report; at most 200 000.
    pub cases: Vec<Case>,
    /// Whether the report was read to its end: not when it breaks off, is no XML, or holds more.
    pub whole: bool,
}

impl Report {
    /// The tests that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Case> {
        let failed = |case: &&Case| matches!(case.end, End::Failed | End::Error);
        self.cases.iter().filter(failed)
    }
}

/// One test of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Case {
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
    /// What the report tells beside it, such as a stack; at most 16 KiB.
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
