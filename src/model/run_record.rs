use super::{AttemptResult, ChildFailure, RunResult};

/// A run that ended, as read back from its folder: what a page about it is made from.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// `result.json`.
    pub result: RunResult,
    /// `report.json`; `None` when nothing failed.
    pub report: Option<ChildFailure>,
    /// The name of the worktree's folder; empty when it is not known.
    pub repository: String,
    /// The commit that was checked out, in hex.
    pub commit: Option<String>,
    /// The lines of the first log that say what failed.
    pub evidence: Vec<String>,
    /// The test commands.
    pub commands: Vec<String>,
    /// The agent's command line; `None` when none was asked.
    pub agent: Option<String>,
    /// The end of the first run's log.
    pub log: String,
    /// In order.
    pub attempts: Vec<AttemptRecord>,
    /// `final.patch`; `None` when nothing was changed.
    pub patch: Option<String>,
}

/// One attempt of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRecord {
    /// Its folder below the run's, such as `attempts/01`.
    pub folder: String,
    /// `result.json`.
    pub result: AttemptResult,
    /// Files of the packet, and why each is in.
    pub files: Vec<(String, String)>,
    /// The verdict on the reply, such as `applies_mended`; empty when there was no patch.
    pub verdict: String,
    /// What the agent was told about its patch; empty when there was nothing to tell.
    pub feedback: String,
    /// The patch, at its beginning.
    pub patch: String,
    /// The end of the test log; empty when the commands were not run.
    pub log: String,
}
