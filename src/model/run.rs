use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Diagnosis, FailureKind, KnownCause, NotConfined, RepoPath, SCHEMA_VERSION, TestResult,
};

/// `run.json`: how a command that was run ended, and what its failure comes to.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
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
    pub test_result: Option<TestResult>,
    /// Every run of it, in order: more than one when it was tried again.
    pub attempts: Vec<TestResult>,
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

/// How a command ended, all its runs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandStatus {
    /// With 0, the first time.
    #[default]
    Passed,
    /// With 0 after it had failed, without any change between.
    Flaky,
    /// With something else.
    Failed,
    /// Somebody stopped it.
    Interrupted,
}

/// A word as a shell reads it back: as it is where nothing in it means more, else in quotes.
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let plain = |it: char| it.is_ascii_alphanumeric() || "-_./=:@%+,".contains(it);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}

/// A short summary of a failed command, for humans and agents.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunSummary {
    /// What failed.
    pub kind: FailureKind,
    /// A finer word.
    pub subkind: Option<super::Subkind>,
    /// The same in one sentence.
    pub explanation: String,
    /// The tests that failed, each with its error; without tests, the lines that say what failed.
    pub failures: Vec<RunFailure>,
    /// Failures beyond those listed, without those that are like one of them.
    pub more: u64,
    /// Imports that are certain: `mendit fix` adds them and tries the command.
    pub certain: Vec<CertainImport>,
    /// For names without a certain import the likeliest one each, at most three.
    pub perhaps: Vec<CertainImport>,
    /// Other candidates that `mendit fix` tries, one sentence each: a spelling that a compiler suggests, a missing
    /// bracket. At most three.
    pub mends: Vec<String>,
    /// The change that made it fail; `null` where no trial showed one.
    pub cause: Option<KnownCause>,
    /// Changes that are not committed, as `path:line`, the likeliest first, at most five: those that the
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
    /// The 1-based line in it that led there.
    pub test_line: Option<u32>,
    /// Further tests with the same error at the same place that are not listed; counted at the last one that is.
    pub alike: u64,
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
            let line = self.test_line.map_or(String::new(), |it| format!(":{it}"));
            text.push_str(&format!("\nin {path}{line}"));
        }
        if self.alike > 0 {
            text.push_str(&format!("\nand {} more tests alike", self.alike));
        }
        text
    }
}

/// A suggestion for an undefined name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CertainImport {
    /// The name that is missing.
    pub name: String,
    /// The statement that binds it, `right for wrong` for a spelling, or the new path of a module.
    pub statement: String,
    /// Whether `mendit fix` adds it, or tries it under the tests.
    pub tried: bool,
}

/// An environment problem and the command that fixes it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Remedy {
    /// What is wrong.
    pub problem: String,
    /// The command to type; mendit never runs it.
    pub command: Option<String>,
}

impl Remedy {
    /// Creates a problem with the command to type.
    pub fn new(problem: impl Into<String>, command: Option<String>) -> Self {
        let problem = problem.into();
        Self { problem, command }
    }
}
