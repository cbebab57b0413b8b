//! The reply of an agent, and the result of a run and its attempts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Category, FailureKind, Level, NotConfined, Proof, RunFailure, SCHEMA_VERSION, StopReason,
    TestTrace,
};

/// `repair-packet`: what an agent replies. Every field but `status` may be missing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RepairPacket {
    /// The kind of reply.
    pub status: ReplyStatus,
    /// A patch in any accepted format.
    pub patch: Option<String>,
    /// Replacements of text that occurs once in a file.
    pub edits: Vec<ReplyEdit>,
    /// Whole files.
    pub files: Vec<ReplyFile>,
    /// Paths that the agent wants to see.
    pub requested_files: Vec<String>,
    /// The context that the agent reports using.
    pub context_used: Option<serde_json::Value>,
    /// Notes for the user.
    pub notes: Option<String>,
    /// Steps that the agent reports as done.
    pub completed_steps: Vec<String>,
    /// Tokens and cost of the reply.
    pub usage: Option<Usage>,
}

/// The kind of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyStatus {
    /// A change to try.
    #[default]
    Patch,
    /// A request for files.
    RequestFiles,
    /// The task cannot be done as stated.
    InvalidTask,
    /// The agent gives up.
    GiveUp,
}

/// Text that occurs once in a file, and its replacement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplyEdit {
    /// The file.
    pub path: String,
    /// The current text; empty for a new file.
    pub old: String,
    /// The new text.
    pub new: String,
}

/// A file's new content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplyFile {
    /// The file.
    pub path: String,
    /// All of its text.
    pub content: String,
}

/// Tokens and cost of a reply, as the agent reports them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Dollars; `null` if they were not reported.
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        let costs = [self.cost_usd, other.cost_usd];
        Self {
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
            cost_usd: costs.into_iter().flatten().reduce(|all, one| all + one),
        }
    }
}

/// How one run of the test command ended.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TestResult {
    /// The exit code, when it ended by itself.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether a time limit ended it.
    pub timed_out: bool,
    /// Processes that outlived it and were killed.
    pub leaked: u32,
    /// Seconds from start to end.
    pub duration_seconds: f64,
    /// The same in words, such as `exit code 1` or `killed by signal 11`.
    pub message: String,
}

/// The failure of one test run, as the loop compares it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// Whether the commands passed.
    pub passed: bool,
    /// The kind of failure.
    pub kind: FailureKind,
    /// The subkind.
    pub subkind: Option<super::Subkind>,
    /// One sentence.
    pub message: String,
    /// Tests that failed, sorted.
    pub failing_tests: Vec<String>,
    /// The same for two runs that fail in the same way: hex digest of kind, subkind and failing tests with their errors; without
    /// tests, of the names and errors.
    pub signature: String,
    /// Whether the user has to act.
    pub requires_user_action: bool,
    /// Names that the log calls undefined.
    pub undefined_names: Vec<String>,
    /// The error of each failing test; without tests, the lines with the failure.
    pub errors: Vec<RunFailure>,
    /// How the command ended.
    pub test_result: TestResult,
}

/// The change of a run to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    /// The file.
    pub path: String,
    /// Added lines.
    pub added: u64,
    /// Removed lines.
    pub removed: u64,
}

/// An agent that could not do its work, for a reason of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentTrouble {
    /// The missing condition.
    pub kind: TroubleKind,
    /// How its process ended, such as `exit code 1`.
    pub end: String,
    /// The last lines of its output, secrets masked.
    pub last_lines: Vec<String>,
}

/// A condition that an agent lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TroubleKind {
    /// Valid credentials for its service.
    Login,
    /// Money or quota.
    Credit,
    /// An available service: a rate limit or overload refused the call.
    RateLimit,
    /// Context: the prompt exceeds the model's window.
    TooLong,
    /// Unknown: the agent ended with an error.
    Crash,
}

impl TroubleKind {
    /// Whether a retry is pointless until the user has acted.
    pub fn needs_person(self) -> bool {
        matches!(self, Self::Login | Self::Credit)
    }
}

/// The status of a run or an attempt at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The commands pass; in a fix, the runner reports it.
    Fixed,
    /// The commands pass, by their exit code alone.
    Passed,
    /// The commands exit with 0, but nothing proves that the failing tests pass.
    Unproven,
    /// The same import errors came back until no candidate was left.
    Blocked,
    /// The commands still fail.
    #[default]
    Failed,
    /// The task was split into parts.
    Split,
    /// Action required.
    UserActionRequired,
    /// The task cannot be done as stated.
    InvalidTask,
}

impl RunStatus {
    /// Whether the commands pass with the change.
    pub fn is_success(self) -> bool {
        matches!(self, Self::Fixed | Self::Passed)
    }
}

/// Where the change of an attempt came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Found without an LLM.
    Heal,
    /// Written by an agent.
    #[default]
    Agent,
}

/// `result.json` of an attempt.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptResult {
    /// Version of this document's shape.
    pub schema_version: u32,
    /// Always `result`.
    pub document: String,
    /// Counted from 1.
    pub attempt: u32,
    /// The origin of the change.
    pub origin: Origin,
    /// How it ended.
    pub stop_reason: StopReason,
    /// The category in the report.
    pub category: Category,
    /// The context level.
    pub level: Level,
    /// Attempts so far, this one included.
    pub attempts: u32,
    /// Seconds.
    pub duration_seconds: f64,
    /// SHA-256 of the canonical patch in hex; `null` without one.
    pub patch_digest: Option<String>,
    /// How the command ended after the change; `null` when it was not run.
    pub test_result: Option<TestResult>,
    /// As for a run.
    pub status: RunStatus,
    /// The diagnosis of the command's output after the change.
    pub observed: Option<Observed>,
    /// The evidence for passing commands; `null` if they do not pass.
    pub proof: Option<Proof>,
    /// Whether later attempts build on this change.
    pub kept: bool,
    /// Whether its change consists of certain imports alone.
    pub certain: bool,
    /// One sentence: why it ended so.
    pub message: String,
    /// The first code of the patch verdict, when the patch was not applied.
    pub error_code: Option<String>,
    /// Paths that the agent asked for.
    pub requested_files: Vec<String>,
    /// Steps that the agent reports as done.
    pub completed_steps: Vec<String>,
    /// Files that the change touches.
    pub files_modified: Vec<String>,
    /// Whether the agent did anything before it ended: wrote output or changed files.
    #[serde(rename = "progress")]
    pub agent_reacted: bool,
    /// Seconds the agent had.
    pub agent_timeout_seconds: f64,
    /// Whether it ran out of them, whatever came of its edits.
    pub timed_out_agent: bool,
    /// Bytes of the packet.
    pub packet_bytes: u64,
    /// Tokens and cost that the agent reports.
    pub usage: Option<Usage>,
    /// SHA-256 of the agent's reply in hex; `null` without one.
    pub reply_digest: Option<String>,
    /// Why the agent could not do its work; `null` when it did.
    pub agent_trouble: Option<AgentTrouble>,
}

impl AttemptResult {
    /// One of which nothing is known yet.
    pub fn new(number: usize, origin: Origin, level: Level) -> Self {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            schema_version: SCHEMA_VERSION,
            document: "result".to_owned(),
            attempt: number,
            attempts: number,
            origin,
            level,
            ..Self::default()
        }
    }
}

/// `result.json` of a run, also printed by `repair --format json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// Version of this document's shape.
    pub schema_version: u32,
    /// Always `result`.
    pub document: String,
    /// The run's name: the last part of its folder.
    pub run_id: String,
    /// The status.
    pub status: RunStatus,
    /// How it ended.
    pub stop_reason: StopReason,
    /// The category in the report; `null` if nothing failed.
    pub category: Option<Category>,
    /// The highest level that was used.
    pub level: Level,
    /// When it began, in UTC, such as `2026-01-31T12:00:00.000Z`; that of the first try of a run that was
    /// resumed.
    pub started_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
    /// Attempts, including fixes without an LLM.
    pub attempts: u32,
    /// Times the agent was called.
    pub agent_calls: u32,
    /// Seconds.
    pub duration_seconds: f64,
    /// SHA-256 of `final.patch` in hex; `null` without one.
    pub patch_digest: Option<String>,
    /// The last run of the commands.
    pub test_result: Option<TestResult>,
    /// The evidence for `fixed`, or what was missing; `null` if no change made the commands pass.
    pub proof: Option<Proof>,
    /// Where the commands and the agent ran.
    pub workplace: WorkplaceUsed,
    /// The failure at the start; `null` if there was none.
    pub failure: Option<Observed>,
    /// The culprit in one line; `null` if no search confirmed one.
    pub cause: Option<String>,
    /// The code that the failing tests executed; `null` without a trace.
    pub trace: Option<TestTrace>,
    /// One sentence: why it ended so.
    pub message: String,
    /// What the user should do next.
    pub suggested_actions: Vec<String>,
    /// Files that the final patch touches.
    pub files_modified: Vec<String>,
    /// The same, with the changed parts of each.
    pub file_changes: Vec<FileChange>,
    /// Whether the patch consists of certain imports alone, each confirmed to help.
    pub certain: bool,
    /// Whether the patch was put into the worktree.
    pub applied: bool,
    /// Parts that a split run was made of, in the order they ran.
    pub children: Vec<String>,
    /// The same with the place, depth and result of each.
    pub parts: Vec<PartResult>,
    /// Total tokens and cost that the agent reports.
    pub usage: Option<Usage>,
    /// The failure with the kept changes; `null` if nothing was kept or nothing fails.
    pub remaining: Option<Observed>,
    /// How often all commands were run.
    pub whole_runs: u64,
    /// How often the failing tests were run alone.
    pub chosen_runs: u64,
    /// Each of these runs and its purpose.
    pub command_runs: Vec<CommandRun>,
    /// Why the agent could not do its work, when that ended the run.
    pub agent_trouble: Option<AgentTrouble>,
    /// The task's own name in the tracker it came from; `null` without one.
    pub task_id: Option<String>,
    /// The issue that the task belongs to; `null` without one.
    pub issue: Option<String>,
}

/// A part of a split run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartResult {
    /// `2` for the second part, `2.1` for the first of its own parts.
    pub number: String,
    /// One line.
    pub title: String,
    /// Parts that came first because it uses what they change, by number.
    pub depends_on: Vec<String>,
    /// How it ended; `null` if it was not started, or was interrupted.
    pub status: Option<RunStatus>,
}

/// One run of the commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandRun {
    /// The purpose.
    pub why: String,
    /// Seconds.
    pub seconds: f64,
    /// Whether all commands ran, rather than only the failing tests.
    pub whole: bool,
}

/// Where the commands and the agent of a run worked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkplaceUsed {
    /// `overlay` or `copy`.
    pub kind: String,
    /// The reason for it, in a few words.
    pub why: String,
    /// How much of the sandbox was active: `enforced`, `partial` or `none`.
    pub sandbox: String,
    /// Sandbox layers that are not available, and why.
    pub not_confined: Vec<NotConfined>,
    /// Writes that the sandbox refused; `--allow-write PATH` permits a path for the commands,
    /// `--agent-write PATH` for the agent.
    pub refused: Vec<Refused>,
}

/// A path that the sandbox did not allow to be written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Refused {
    /// The file or folder.
    pub path: String,
    /// Whether the agent was refused it, rather than the commands.
    pub agent: bool,
}
