//! The events of a run, one line each in `events.jsonl`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Code, FailureKind, Level, NotConfined, Refused, RunStatus, StopReason};

/// A line of `events.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// Seconds since the run began, in steps of a millisecond.
    pub at: f64,
    /// How much it matters: `info`, `warning` or `error`.
    pub level: &'static str,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// Names of a task in the tracker it came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TaskIds {
    /// The task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_id: Option<String>,
    /// The issue it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue_number: Option<String>,
}

/// What happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(
    tag = "event",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[allow(missing_docs, reason = "the fields are named after what they hold")]
pub enum EventKind {
    /// The isolated copy is ready.
    Workplace { kind: String, why: String },
    /// The sandbox is not wholly in force.
    Sandbox {
        code: Code,
        sandbox: String,
        not_confined: Vec<NotConfined>,
    },
    /// The sandbox refused a write.
    SandboxRefused(Refused),
    /// The commands start.
    CommandStarted {
        what: String,
        why: String,
        limit: f64,
    },
    /// The commands ended.
    CommandEnded {
        what: String,
        passed: bool,
        kind: FailureKind,
        end: String,
    },
    /// A change that needs no LLM is tried.
    HealStarted { attempt: u32, what: String },
    /// The agent is about to be asked.
    AttemptStarted {
        attempt: u32,
        context_level: Level,
        seconds: f64,
    },
    /// An attempt ended.
    AttemptEnded {
        attempt: u32,
        stop_reason: StopReason,
        kept: bool,
        why: String,
    },
    /// The agent was started.
    AgentCalled { seconds: f64 },
    /// The agent wrote into its home what is not kept.
    AgentSettings { code: Code, dropped: Vec<String> },
    /// Imports for undefined names were found.
    ImportErrorRecovery {
        attempt: u32,
        #[serde(rename = "undefined_names")]
        undefined_names: Vec<String>,
        #[serde(rename = "suggested_imports")]
        suggested_imports: BTreeMap<String, String>,
        #[serde(flatten)]
        task: TaskIds,
    },
    /// The agent ran out of time.
    CoderTimeoutDetected {
        #[serde(rename = "timeout_seconds")]
        timeout_seconds: f64,
        #[serde(flatten)]
        task: TaskIds,
    },
    /// A task is split since the agent ran out of time.
    TimeoutAutoSplitStarted(SplitEvent),
    /// The task was split after a timeout.
    TimeoutAutoSplitSuccess(SplitEvent),
    /// The task cannot be split after a timeout.
    TimeoutAutoSplitFailed(SplitEvent),
    /// A large task is split before it is tried.
    ComplexitySplitStarted(SplitEvent),
    /// The large task was split.
    ComplexitySplitSuccess(SplitEvent),
    /// The large task cannot be split.
    ComplexitySplitFailed(SplitEvent),
    /// A part of a split task starts.
    PartStarted {
        number: String,
        title: String,
        tests: Vec<String>,
        criteria: Vec<String>,
    },
    /// A part of a split task ended.
    PartEnded {
        number: String,
        status: RunStatus,
        why: String,
    },
    /// The commands pass, and that is not proof enough.
    Unproven {
        code: Code,
        missing: Vec<String>,
        advice: String,
    },
    /// The patch could not be written into the worktree.
    ApplyFailed { why: String },
    /// The run ended.
    RunEnded {
        status: RunStatus,
        stop_reason: StopReason,
        why: String,
    },
}

/// How a split goes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SplitEvent {
    /// Why there are no parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How many parts there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_issues_count: Option<usize>,
    /// Whose task it is.
    #[serde(flatten)]
    pub task: TaskIds,
}

impl EventKind {
    /// Returns how much it matters.
    pub fn level(&self) -> &'static str {
        match self {
            Self::TimeoutAutoSplitFailed(_) | Self::ApplyFailed { .. } => "error",
            Self::Sandbox { .. }
            | Self::SandboxRefused(_)
            | Self::AgentSettings { .. }
            | Self::ImportErrorRecovery { .. }
            | Self::CoderTimeoutDetected { .. }
            | Self::ComplexitySplitFailed(_)
            | Self::Unproven { .. } => "warning",
            _ => "info",
        }
    }
}
