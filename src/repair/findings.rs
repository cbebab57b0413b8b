//! Collects what happened in a run: attempts, results, evidence.

use std::collections::BTreeMap;

use super::history::{History, last_failing};
use super::journal::{Journal, read_json};
use super::outputs::compare_outputs;
use crate::fixes::Candidate;
use crate::model::{
    AttemptResult, Code, Diagnosis, FailedTest, Observed, Origin, PartResult, PreviousAttempt,
    RepoPath, StopReason, Traced,
};
use crate::patch::FileState;
use crate::proof::Evidence;

/// What happened in a run so far.
#[derive(Default)]
pub(super) struct Findings {
    /// Every attempt, those of parts included.
    pub(super) attempts: Vec<AttemptResult>,
    /// What the files were before the first change that was kept.
    pub(super) base: BTreeMap<RepoPath, Option<FileState>>,
    /// The output of the commands on the state that later attempts build on.
    pub(super) log: String,
    pub(super) diagnosis: Option<Diagnosis>,
    pub(super) first: Option<Observed>,
    /// Each test that failed without a change, or on a state that was kept since.
    pub(super) failed: Vec<FailedTest>,
    /// What the runners said without a change, and on each state that was kept since.
    pub(super) evidence: Vec<Evidence>,
    /// Runs without a change that failed, and whether they did not end alike.
    pub(super) red_runs: u32,
    pub(super) unstable: bool,
    /// The command that runs only the failing tests, unless their results differ when they run alone.
    pub(super) alone: Option<String>,
    pub(super) never_alone: bool,
    pub(super) previous: Option<PreviousAttempt>,
    /// The parts of all splits, those of a part behind it.
    pub(super) parts: Vec<PartResult>,
    /// Failing tests that are skipped where nothing fails; `None` before anybody asked.
    pub(super) skipped: Option<Vec<String>>,
    /// What the failing tests ran, where that was seen.
    pub(super) traced: Option<Traced>,
}

impl Findings {
    /// Counts the calls of the agent so far.
    pub(super) fn calls(&self) -> u32 {
        self.attempts.iter().filter(|a| a.origin == Origin::Agent).count() as u32
    }

    pub(super) fn kept(&self) -> impl DoubleEndedIterator<Item = &AttemptResult> {
        self.attempts.iter().filter(|attempt| attempt.kept)
    }

    /// Checks whether a candidate only restores lines that attempts changed which were kept.
    pub(super) fn puts_back(&self, heal: &Candidate) -> bool {
        let before = heal.files.iter().filter_map(|path| self.base.get(path)?.as_ref());
        let lines = before.flat_map(|state| state.bytes.split(|byte| *byte == b'\n'));
        let lines: Vec<&str> = lines.filter_map(|line| std::str::from_utf8(line).ok()).collect();
        heal.adds_only(&lines)
    }

    /// Adds the tests that a diagnosis names as failing.
    pub(super) fn note_failed(&mut self, diagnosis: &Diagnosis) {
        for test in &diagnosis.tests {
            if self.failed.iter().all(|known| known.id != test.id) {
                self.failed.push(test.clone());
            }
        }
    }

    /// Returns the tests that failed at first, and before the change on trial.
    pub(super) fn failing_before(&self, before: Option<&Observed>) -> Vec<String> {
        let mut failing: Vec<String> = Vec::new();
        for test in self.first.iter().chain(before).flat_map(|run| &run.failing_tests) {
            if !failing.contains(test) {
                failing.push(test.clone());
            }
        }
        failing
    }

    /// Returns what fails now: the last change that was kept says so, whichever part made it.
    pub(super) fn failing_now(&self, history: &History) -> Option<Observed> {
        let kept = self.kept().next_back().and_then(|a| a.observed.clone());
        kept.or_else(|| last_failing(history).cloned())
    }

    /// Remembers an attempt, and a reply for the next packet; `old_log` is the output of the commands without its
    /// change.
    pub(super) fn remember_attempt(
        &mut self,
        result: &AttemptResult,
        journal: &Journal<'_>,
        folder: &str,
        old_log: &str,
    ) {
        self.attempts.push(result.clone());
        if result.origin != Origin::Agent {
            return;
        }
        let log = journal.read(&format!("{folder}/test.log"));
        let patch = journal.read(&format!("{folder}/patch.diff"));
        self.previous = Some(PreviousAttempt {
            stop_reason: result.stop_reason,
            patch_digest: result.patch_digest.clone(),
            preflight: read_json(&journal.path(&format!("{folder}/preflight.json"))),
            message: Some(result.message.clone()),
            // A larger patch is not repeated, to save tokens.
            patch: patch.filter(|patch| patch.len() <= 16_384),
            failure: match result.stop_reason {
                StopReason::Unproven => Some(Code::L106.advice().to_owned()),
                _ => result.observed.as_ref().map(|o| o.message.clone()),
            },
            kept: result.kept,
            outputs: log.map(|log| compare_outputs(old_log, &log)),
        });
    }
}
