use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::{ProofSource, TestCounts, TestEnd, TestRunner};

/// What one runner says of its tests in one run of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestAccount {
    /// Who says it.
    pub runner: TestRunner,
    /// Where it was read.
    pub source: ProofSource,
    /// Closing summaries that were seen.
    pub closings: u32,
    /// Whether one of them was printed, not only written into a report.
    pub printed: bool,
    /// The counts of all of them together.
    pub counts: TestCounts,
    /// How tests ended, as far as they are listed; of two of one name the worse.
    pub tests: BTreeMap<String, TestEnd>,
    /// Lines that list a test as passed.
    pub listed: u64,
    /// Files of tests, where the runner lists those.
    pub files: BTreeMap<String, TestEnd>,
    /// Names in `tests` that are files or suites which could not be run at all.
    pub unloaded: BTreeSet<String>,
    /// Files that hold tests and of which none was seen.
    pub hollow: BTreeSet<String>,
    /// Snapshots that were written, and so compared with nothing.
    pub snapshots_written: u64,
    /// Whether nothing of what was printed was left out for its size.
    pub whole: bool,
    /// What contradicts itself, a sentence each.
    pub wrong: Vec<String>,
}

impl TestAccount {
    pub(super) fn new(runner: TestRunner) -> Self {
        Self {
            runner,
            source: ProofSource::Text,
            closings: 0,
            printed: false,
            counts: TestCounts::default(),
            tests: BTreeMap::new(),
            listed: 0,
            files: BTreeMap::new(),
            unloaded: BTreeSet::new(),
            hollow: BTreeSet::new(),
            snapshots_written: 0,
            whole: true,
            wrong: Vec::new(),
        }
    }

    /// Notes how a test ended; of two of one name the worse stays.
    pub(super) fn note(&mut self, id: impl Into<String>, end: TestEnd) {
        if end == TestEnd::Passed {
            self.listed += 1;
        }
        keep_worse(&mut self.tests, id.into(), end);
    }

    /// Notes how a file of tests ended.
    pub(super) fn note_file(&mut self, path: &str, end: TestEnd) {
        keep_worse(&mut self.files, path.to_owned(), end);
    }

    /// Adds the counts of one more closing summary.
    pub(super) fn close(&mut self, counts: TestCounts) {
        self.closings += 1;
        self.printed = true;
        self.counts.passed += counts.passed;
        self.counts.failed += counts.failed;
        self.counts.skipped += counts.skipped;
        self.counts.deselected += counts.deselected;
        self.counts.errors += counts.errors;
    }

    /// The account, when there is anything in it.
    pub(super) fn seen(self) -> Option<Self> {
        let empty = self.closings == 0
            && self.tests.is_empty()
            && self.files.is_empty()
            && self.counts == TestCounts::default()
            && self.wrong.is_empty();
        (!empty).then_some(self)
    }

    /// Tests that are listed as failed.
    pub(super) fn failing(&self) -> impl Iterator<Item = &str> {
        self.tests
            .iter()
            .filter(|(_, end)| **end == TestEnd::Failed)
            .map(|(id, _)| id.as_str())
    }

    /// Whether every test that passed is listed by name.
    pub(super) fn names_all(&self) -> bool {
        let all = self.listed >= self.counts.passed;
        // These list no test that failed apart from those that passed.
        let in_one_list = matches!(
            self.runner,
            TestRunner::Mocha
                | TestRunner::Ava
                | TestRunner::NodeTest
                | TestRunner::Tap
                | TestRunner::CargoTest
        );
        all && (self.listed > 0 || in_one_list && !self.tests.is_empty())
    }
}

fn keep_worse(ends: &mut BTreeMap<String, TestEnd>, id: String, end: TestEnd) {
    ends.entry(id)
        .and_modify(|known| {
            if badness(end) > badness(*known) {
                *known = end;
            }
        })
        .or_insert(end);
}

fn badness(end: TestEnd) -> u8 {
    match end {
        TestEnd::Failed => 3,
        TestEnd::Skipped => 2,
        TestEnd::ExpectedFailure => 1,
        _ => 0,
    }
}
