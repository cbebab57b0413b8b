use std::collections::BTreeMap;

use crate::model::{AttemptResult, Level, Observed, Origin, StopReason};

/// What happened so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// The first run of the commands.
    pub baseline: Option<Observed>,
    /// What the runner of the tests says of that run although it passed, when it tells of failures.
    pub hidden: Option<String>,
    /// The second, when the first could be flaky.
    pub repeated: Option<Observed>,
    /// Changes found that need no model and were not tried yet; `None` before anyone looked.
    pub heals: Option<usize>,
    /// Heals and replies, in order.
    pub attempts: Vec<AttemptResult>,
    /// What came of a split, once it was made.
    pub split: Option<SplitEnd>,
    /// Seconds since the start.
    pub seconds: f64,
    /// Whether someone asked to stop.
    pub interrupted: bool,
    /// What somebody changed in the worktree that showed in what was run, in words.
    pub moved: Option<String>,
}

impl History {
    /// Replies so far.
    #[must_use]
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

/// What fails on the state that later attempts stand on; `None` before anything was kept.
#[must_use]
pub fn standing(history: &History) -> Option<&Observed> {
    history
        .attempts
        .iter()
        .rev()
        .find(|it| it.kept)
        .and_then(|it| it.observed.as_ref())
}

/// What fails now: on what later attempts stand on, else at the start.
pub(super) fn failing(history: &History) -> Option<&Observed> {
    standing(history).or(history.baseline.as_ref())
}

pub(super) fn attempts_of(
    history: &History,
    origin: Origin,
) -> impl DoubleEndedIterator<Item = &AttemptResult> {
    history
        .attempts
        .iter()
        .filter(move |it| it.origin == origin)
}

pub(super) fn in_a_row(history: &History, reason: StopReason) -> usize {
    let replies: Vec<_> = attempts_of(history, Origin::Agent).collect();
    replies
        .iter()
        .rev()
        .take_while(|it| it.stop_reason == reason)
        .count()
}

/// Whether the last reply says what the one before it said, word for word.
pub(super) fn repeats_itself(history: &History) -> bool {
    let mut replies = attempts_of(history, Origin::Agent).map(|it| &it.reply_digest);
    let Some(last) = replies.next_back() else {
        return false;
    };
    last.is_some() && replies.next_back() == Some(last)
}

/// The last reply, when the policy refused every one that held something to try.
pub(super) fn all_refused(history: &History) -> Option<&AttemptResult> {
    let tried: Vec<&AttemptResult> = attempts_of(history, Origin::Agent)
        .filter(|attempt| {
            !matches!(
                attempt.stop_reason,
                StopReason::NoPatch | StopReason::RequestedFiles
            )
        })
        .collect();
    let refused = |it: &&AttemptResult| it.stop_reason == StopReason::PolicyRejected;
    tried.last().copied().filter(|_| tried.iter().all(refused))
}

/// How many replies at each level held nothing that could be tried, in words; empty when all did.
pub(super) fn malformed(history: &History) -> String {
    let mut levels: BTreeMap<Level, usize> = BTreeMap::new();
    for reply in attempts_of(history, Origin::Agent) {
        if matches!(
            reply.stop_reason,
            StopReason::PatchInvalid | StopReason::ApplyFailed | StopReason::NoPatch
        ) {
            *levels.entry(reply.level).or_default() += 1;
        }
    }
    if levels.is_empty() {
        return String::new();
    }
    let counts: Vec<String> = levels
        .iter()
        .map(|(level, count)| format!("{count} at level {level}"))
        .collect();
    format!("; replies without a patch that fits: {}", counts.join(", "))
}

// In the order they were asked for, each once: level 3 accumulates.
pub(super) fn requested(history: &History) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for path in attempts_of(history, Origin::Agent).flat_map(|it| &it.requested_files) {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}
