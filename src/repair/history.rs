use crate::model::{AttemptResult, Observed, Origin, StopReason};

/// What happened so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// The first run of the commands.
    pub baseline: Option<Observed>,
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
}

impl History {
    /// Replies so far.
    #[must_use]
    pub fn replies(&self) -> u32 {
        u32::try_from(of(self, Origin::Agent).count()).unwrap_or(u32::MAX)
    }
}

/// What came of a split.
#[derive(Debug, Clone, PartialEq)]
pub enum SplitEnd {
    /// The parts ran; whether the commands pass now.
    Ran {
        /// Whether they pass.
        passed: bool,
        /// How many parts there were.
        parts: usize,
    },
    /// There was nothing to split by.
    Failed(String),
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

pub(super) fn of(history: &History, origin: Origin) -> impl Iterator<Item = &AttemptResult> {
    history
        .attempts
        .iter()
        .filter(move |it| it.origin == origin)
}

pub(super) fn in_a_row(history: &History, reason: StopReason) -> usize {
    let replies: Vec<_> = of(history, Origin::Agent).collect();
    replies
        .iter()
        .rev()
        .take_while(|it| it.stop_reason == reason)
        .count()
}

// In the order they were asked for, each once: level 3 accumulates.
pub(super) fn requested(history: &History) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for path in of(history, Origin::Agent).flat_map(|it| &it.requested_files) {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}
