use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AttemptResult, Category, RunResult};

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
    /// The feedback to the agent about its patch; empty if there was none.
    pub feedback: String,
    /// The patch, at its beginning.
    pub patch: String,
    /// The end of the test log; empty when the commands were not run.
    pub log: String,
}

/// `report.json`: why a run failed, in the words of a failure report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChildFailure {
    /// Always [`super::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Always `report`.
    pub document: String,
    /// One of five.
    pub category: Category,
    /// One sentence.
    pub message: String,
    /// The run's name.
    pub session_id: String,
    /// The task's own name in the tracker it came from; `null` without one.
    pub task_id: Option<String>,
    /// The issue that the task belongs to; `null` without one.
    pub issue: Option<String>,
    /// Seconds.
    pub duration: f64,
    /// Steps done before it failed, in order.
    pub completed_steps: Vec<String>,
    /// Files that were changed.
    pub files_modified: Vec<String>,
    /// The blocker; `null` if there is no particular one.
    pub blocked_on: Option<String>,
    /// Whether trying again makes sense.
    pub retryable: bool,
    /// What to do, most useful first.
    pub suggested_actions: Vec<String>,
}

/// Rates over several runs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rates {
    /// Version of this document's shape.
    pub schema_version: u32,
    /// Always `report`.
    pub document: &'static str,
    /// Runs that were read.
    pub runs: u32,
    /// Runs that had something to repair.
    pub failures: u32,
    /// Of those, runs that ended fixed.
    pub fixed: u32,
    /// Share of failures that were fixed, 0 to 1.
    pub recovery_rate: f64,
    /// Share of failures that were not fixed, 0 to 1.
    pub failure_rate: f64,
    /// By kind of failure.
    pub kinds: BTreeMap<String, Rate>,
    /// By category, of runs that were not fixed.
    pub categories: BTreeMap<String, u32>,
    /// The same as shares of the failures, 0 to 1.
    pub category_rates: BTreeMap<String, f64>,
    /// The most frequent blockers, at most ten.
    pub blockers: Vec<Blocker>,
    /// Why `--alert-rate` ends with exit code 1; `null` when it does not.
    pub alarm: Option<String>,
    /// Folders that are no finished run.
    pub skipped: Vec<String>,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Rate {
    /// Runs.
    pub runs: u32,
    /// Runs that ended fixed.
    pub fixed: u32,
}

/// A blocker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Blocker {
    /// Its description.
    pub what: String,
    /// In how many runs.
    pub runs: u32,
}
