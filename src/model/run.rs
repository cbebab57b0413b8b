//! The document of `mendit run`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AttemptResult, Category, Diagnosis, FailureKind, KnownCause, RepoPath, RunResult,
    SCHEMA_VERSION, TestResult,
};

/// `run.json`: how a command ended and why it failed.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandRecord {
    /// The version of this document.
    pub schema_version: u32,
    /// Always `run`.
    pub document: &'static str,
    /// The name of the stored run.
    pub run_id: Option<String>,
    /// The command, with secrets masked.
    pub command: String,
    /// How it ended.
    pub status: CommandStatus,
    /// When it began, in UTC, such as `2026-01-31T12:00:00.000Z`.
    pub started_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
    /// The outcome in numbers.
    pub test_result: Option<TestResult>,
    /// How much of the sandbox was active: `enforced`, `partial` or `none`.
    pub sandbox: String,
    /// Sandbox layers that are not available, and why.
    pub not_confined: Vec<NotConfined>,
    /// The diagnosis of its failure.
    pub diagnosis: Option<Diagnosis>,
    /// The same in a few lines.
    pub summary: Option<RunSummary>,
    /// The folder of the documents; `None` when it passed.
    pub written_to: Option<String>,
}

impl CommandRecord {
    /// One without a run.
    pub fn new(command: String, status: CommandStatus, sandbox: String) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            document: "run",
            command,
            status,
            sandbox,
            ..Self::default()
        }
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandStatus {
    /// It passed.
    #[default]
    Passed,
    /// It failed.
    Failed,
    /// It was interrupted.
    Interrupted,
}

/// A word as a shell reads it back: as it is where nothing in it means more, else in quotes.
pub fn shell_word(word: &str) -> Cow<'_, str> {
    if !word.is_empty()
        && word
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_./=:@%+,".contains(letter))
    {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}

/// A short summary of a failed command, for humans and agents.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunSummary {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The subkind.
    pub subkind: Option<super::Subkind>,
    /// The kind in one sentence.
    pub explanation: String,
    /// The tests that failed, each with its error; without tests, the lines that say what failed.
    pub failures: Vec<RunFailure>,
    /// Further failures, without repetitions of those listed.
    pub more: u64,
    /// Imports that are certain: `mendit fix` adds them and tries the command.
    pub certain: Vec<ListedImport>,
    /// For names without a certain import the likeliest one each, at most three.
    pub perhaps: Vec<ListedImport>,
    /// Other candidates that `mendit fix` tries, one sentence each, at most three.
    pub mends: Vec<String>,
    /// Every candidate that it tries, in order, one sentence each.
    pub tried: Vec<String>,
    /// Whether one of them follows a rename that other code follows already: reverting the rename would break it.
    pub fix_first: bool,
    /// The culprit; `null` if no search confirmed one.
    pub cause: Option<KnownCause>,
    /// Uncommitted changes as `path:line`, most likely first, at most five: those that the
    /// failing tests reach, else all; none of them was tried. `mendit why` does that.
    pub suspects: Vec<String>,
    /// How many more there are.
    pub more_suspects: u64,
    /// Commands that fix the environment, if that is the problem.
    pub remedies: Vec<Remedy>,
    /// Whether the user has to act.
    pub requires_user_action: bool,
}

/// One failure of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunFailure {
    /// The test, in the runner's own spelling; empty when no test is named.
    pub test: String,
    /// Its error in one line.
    pub error: String,
    /// The file of the repository, when it is known.
    pub path: Option<String>,
    /// The 1-based line in it.
    pub line: Option<u32>,
    /// The test's own file, where the error was raised in another place.
    pub test_path: Option<String>,
    /// The 1-based line in the test that led there.
    pub test_line: Option<u32>,
}

impl RunFailure {
    /// The file and the line it was raised in, where that is a path of a repository.
    pub fn place(&self) -> Option<(&str, Option<u32>)> {
        let path = self.path.as_deref()?;
        RepoPath::new(path).ok().map(|_| (path, self.line))
    }

    /// Formats the test, its error, and the test's place if the error was raised elsewhere.
    pub fn told(&self) -> String {
        let mut text = match self.test.as_str() {
            "" => self.error.clone(),
            test => format!("{test}: {}", self.error),
        };
        if let Some(path) = &self.test_path {
            let line = self.test_line.map_or(String::new(), |line| format!(":{line}"));
            text.push_str(&format!("\nin {path}{line}"));
        }
        text
    }
}

/// A suggestion for an undefined name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListedImport {
    /// The name that is missing.
    pub name: String,
    /// The statement that binds it, `right for wrong` for a spelling, or the new path of a module.
    pub statement: String,
    /// Whether `mendit fix` adds it, or tries it under the tests.
    pub tried: bool,
}

/// An environment problem and the command that fixes it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Remedy {
    /// The problem.
    pub problem: String,
    /// The command to type; mendit never runs it.
    pub command: Option<String>,
}

impl Remedy {
    /// Creates a problem with the command to type.
    pub fn new(problem: impl Into<String>, command: impl Into<Option<String>>) -> Self {
        let (problem, command) = (problem.into(), command.into());
        Self { problem, command }
    }
}

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
    /// Runs that had something to fix.
    pub failures: u32,
    /// Failures that ended fixed.
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
    /// Folders without a finished run.
    pub skipped: Vec<String>,
}

/// A blocker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Blocker {
    /// Its description.
    pub what: String,
    /// In how many runs.
    pub runs: u32,
}

/// A count out of a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Rate {
    /// Runs.
    pub runs: u32,
    /// Runs that ended fixed.
    pub fixed: u32,
}

/// How far commands are confined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// As far as the system can
    #[default]
    Auto,
    /// In full, or refuse to run
    Require,
    /// Not at all
    Off,
}

/// Which workplace is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkplaceMode {
    /// An overlay where the system has it, else a copy
    #[default]
    Auto,
    /// The worktree at its own path; what is changed there lands in a private folder
    Overlay,
    /// A copy in another folder
    Copy,
    /// The worktree itself
    InPlace,
}

/// How an agent is spoken to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentProtocol {
    /// The packet on stdin, a repair packet on stdout
    #[default]
    Json,
    /// A prompt on stdin, any text with a patch on stdout
    Prompt,
    /// The agent edits a copy; the difference is the patch
    Edit,
}

/// A layer of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wall {
    /// Writing files outside of what may be written.
    Files,
    /// Writing places that are closed inside of what may be written.
    Closed,
    /// Writing into named pipes and connecting to abstract sockets of other programs.
    Pipes,
    /// Changing modes, owners, times and attributes outside.
    Metadata,
    /// Making and opening devices.
    Devices,
    /// The superuser's rights over the system.
    Privileges,
    /// Seeing and touching other programs' processes.
    Processes,
    /// Shared memory, semaphores and message queues of other programs.
    SharedMemory,
}

/// A layer that is not available.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotConfined {
    /// Which.
    pub wall: Wall,
    /// The reason, as the system reports it.
    pub why: String,
}

impl NotConfined {
    /// Creates a missing layer with the system's reason.
    pub fn new(wall: Wall, why: &str) -> Self {
        Self {
            wall,
            why: why.to_owned(),
        }
    }
}

/// Walls in words, those of one reason together: `metadata, devices (namespaces are refused)`.
pub fn walls_in_words(missing: &[NotConfined]) -> String {
    let words: Vec<String> = missing.iter().map(|layer| layer.wall.to_string()).collect();
    let mut reasons: Vec<&str> = missing.iter().map(|layer| layer.why.as_str()).collect();
    reasons.dedup();
    match reasons.join("; ").as_str() {
        "" => words.join(", "),
        reasons => format!("{} ({reasons})", words.join(", ")),
    }
}
