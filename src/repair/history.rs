//! The history of a run, from which [`super::plan`] computes the next step.

use crate::model::{AttemptResult, Observed, Origin, StopReason};

/// What happened so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// The first run of the commands.
    pub baseline: Option<Observed>,
    /// The failures that the test runner printed in that run although the command exited with 0.
    pub hidden: Option<String>,
    /// The second, when the first could be flaky.
    pub repeated: Option<Observed>,
    /// Changes found that need no LLM and were not tried yet; `None` before anyone looked.
    pub heals: Option<usize>,
    /// Heals and replies, in order.
    pub attempts: Vec<AttemptResult>,
    /// What came of a split, once it was made.
    pub split: Option<SplitEnd>,
    /// Seconds since the start.
    pub seconds: f64,
    /// Whether someone asked to stop.
    pub interrupted: bool,
    /// Changes of the worktree during the run that the commands saw, in words.
    pub moved: Option<String>,
}

impl History {
    /// Replies so far.
    pub fn replies(&self) -> u32 {
        u32::try_from(attempts_of(self, Origin::Agent).count()).unwrap_or(u32::MAX)
    }
}

/// What came of a split.
#[derive(Debug, Clone, PartialEq)]
pub enum SplitEnd {
    /// The parts ran.
    Ran(PartsRun),
    /// There was nothing to split by.
    Failed(String),
}

/// How the parts of a task ended.
#[derive(Debug, Clone, PartialEq)]
pub struct PartsRun {
    /// Whether the commands pass now.
    pub passed: bool,
    /// How many parts ran.
    pub ran: usize,
    /// How they ended, when they ended alike; else that the tests failed.
    pub reason: StopReason,
    /// How many were not begun, and why; `None` when all were.
    pub left: Option<(usize, String)>,
}

/// Returns what fails now: on what later attempts build on, else at the start.
pub(super) fn last_failing(history: &History) -> Option<&Observed> {
    let kept = history.attempts.iter().rev().find(|attempt| attempt.kept);
    kept.and_then(|attempt| attempt.observed.as_ref()).or(history.baseline.as_ref())
}

pub(super) fn attempts_of(
    history: &History,
    origin: Origin,
) -> impl DoubleEndedIterator<Item = &AttemptResult> + Clone {
    history.attempts.iter().filter(move |a| a.origin == origin)
}

/// Whether the last reply says what the one before it said, word for word.
pub(super) fn repeats_itself(history: &History) -> bool {
    let mut replies = attempts_of(history, Origin::Agent).map(|attempt| &attempt.reply_digest);
    let Some(last) = replies.next_back() else {
        return false;
    };
    last.is_some() && replies.next_back() == Some(last)
}

/// The last reply, when the policy refused every one that held something to try.
pub(super) fn all_refused(history: &History) -> Option<&AttemptResult> {
    let holds_nothing = [StopReason::NoPatch, StopReason::RequestedFiles];
    let replies = attempts_of(history, Origin::Agent);
    let mut tried = replies.filter(|reply| !holds_nothing.contains(&reply.stop_reason));
    let last = tried.clone().next_back();
    last.filter(|_| tried.all(|reply| reply.stop_reason == StopReason::PolicyRejected))
}

// In the order they were asked for, each once: level 3 accumulates.
pub(super) fn requested_files(history: &History) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for path in attempts_of(history, Origin::Agent).flat_map(|attempt| &attempt.requested_files) {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}
