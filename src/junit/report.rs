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
