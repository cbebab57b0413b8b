use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Category;

/// `report.json`: why a run failed, in the words of a failure report (R47).
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
    #[serde(default)]
    pub task_id: Option<String>,
    /// The issue that the task belongs to; `null` without one.
    #[serde(default)]
    pub issue: Option<String>,
    /// Seconds.
    pub duration: f64,
    /// What was done before it failed, in order.
    pub completed_steps: Vec<String>,
    /// Files that were changed.
    pub files_modified: Vec<String>,
    /// What stands in the way; `null` when nothing particular does.
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
