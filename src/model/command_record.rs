use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Diagnosis, NotConfined, RunSummary, SCHEMA_VERSION};

/// `run.json`: how a command that was run ended, and what its failure comes to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandRecord {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    pub schema_version: u32,
    /// Always `run`.
    #[schemars(extend("const" = "run"))]
    pub document: &'static str,
    /// The name of the run that is kept of it.
    pub run_id: Option<String>,
    /// The command, with secrets masked.
    pub command: String,
    /// How it ended.
    pub status: CommandStatus,
    /// When the first run of it began, in UTC, such as `2026-01-31T12:00:00.000Z`.
    pub started_at: Option<String>,
    /// When the last run of it ended.
    pub ended_at: Option<String>,
    /// The last run of it.
    pub test_result: Option<CommandAttempt>,
    /// Every run of it, in order: more than one when it was tried again.
    pub attempts: Vec<CommandAttempt>,
    /// `enforced`, `partial` or `none`: how far it was kept from writing elsewhere.
    pub sandbox: String,
    /// Walls of the sandbox that could not be had, and why.
    pub not_confined: Vec<NotConfined>,
    /// The diagnosis of the last failed run.
    pub diagnosis: Option<Diagnosis>,
    /// The same in a few lines.
    pub summary: Option<RunSummary>,
    /// The folder of the documents; `None` when it passed.
    pub written_to: Option<String>,
}

impl CommandRecord {
    /// One without a run.
    #[must_use]
    pub fn new(command: String, status: CommandStatus, sandbox: String) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            document: "run",
            run_id: None,
            command,
            status,
            started_at: None,
            ended_at: None,
            test_result: None,
            attempts: Vec::new(),
            sandbox,
            not_confined: Vec::new(),
            diagnosis: None,
            summary: None,
            written_to: None,
        }
    }
}

/// How a command ended, all its runs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandStatus {
    /// With 0, the first time.
    Passed,
    /// With 0 after it had failed, without any change between.
    Flaky,
    /// With something else.
    Failed,
    /// Somebody stopped it.
    Interrupted,
}

/// One run of a command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandAttempt {
    /// How it ended, in words.
    pub end: String,
    /// Its exit code.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether the time limit ended it.
    pub timed_out: bool,
    /// Processes that it left behind, which were ended.
    pub leaked: u32,
    /// Wall-clock seconds.
    pub duration_seconds: f64,
    /// Bytes that it wrote, those not kept included.
    pub output_bytes: u64,
}

/// A word as a shell reads it back: as it is where nothing in it means more, else in quotes.
#[must_use]
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let plain = |it: char| it.is_ascii_alphanumeric() || "-_./=:@%+,".contains(it);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}
