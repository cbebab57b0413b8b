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
    /// How to try again; `null` when it makes no sense.
    pub suggested_retry: Option<String>,
    /// What to do, most useful first.
    pub suggested_actions: Vec<String>,
    /// How often each thing was done.
    pub tool_usage: BTreeMap<String, u32>,
    /// The last thing that worked; `null` when nothing did.
    pub last_successful_tool: Option<String>,
}
