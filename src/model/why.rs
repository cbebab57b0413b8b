//! The document of `mendit why`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Remedy;

/// The culprit of a failure: `mendit why --format json`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhyDocument {
    /// Raised when a field changes its meaning or is removed.
    pub schema_version: u32,
    /// `why`.
    pub document: &'static str,
    /// The result of the search.
    pub verdict: WhyVerdict,
    /// Why there is no cause; `None` when there is one.
    pub reason: Option<WhyReason>,
    /// The same in one line.
    pub message: String,
    /// The command that fails, secrets masked.
    pub command: String,
    /// The failing tests that were rerun, in the runner's spelling; empty where the output names none.
    pub tests: Vec<String>,
    /// How many more failing tests there were: a selection names a part of them.
    pub not_rerun: u64,
    /// Failing tests, or files of tests, that are skipped with the changes reverted.
    pub skipped: Vec<String>,
    /// Failing tests, or findings of a checker, that failed in the same way with every change reverted.
    pub failed_before: Vec<String>,
    /// The good state that changes were compared with; `None` if there was none.
    pub base: Option<WhyBase>,
    /// The culprit: the smallest set of changes whose revert makes the tests pass.
    pub cause: Vec<WhyChange>,
    /// A patch that reverts the culprit in the current files; `None` if the same lines changed since, or if it contains
    /// a secret.
    pub undo: Option<String>,
    /// Tests that fail with the culprit reverted in one run of the whole command: only then, or still.
    pub breaks: Vec<String>,
    /// Suspects, the likeliest first, at most 20.
    pub suspects: Vec<WhyChange>,
    /// How many more there are.
    pub more_suspects: u64,
    /// Environment problems that may be the cause, with what to type; listed if no change is the culprit.
    pub around: Vec<Remedy>,
    /// The trials, in order.
    pub trials: Vec<WhyTrial>,
    /// Runs of the failing tests.
    pub runs: u32,
    /// Runs of the whole command.
    pub whole_runs: u32,
    /// Total seconds.
    pub duration_seconds: f64,
}

/// The verdict of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhyVerdict {
    /// With the changes of `cause` reverted the failing tests pass, confirmed twice.
    Caused,
    /// Everything was reverted, and the same tests fail in the same way.
    NotByThisChange,
    /// The trials did not decide; `reason` says why.
    Unknown,
    /// The command cannot be started, and no change explains it.
    NotRun,
}

/// Why no cause is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhyReason {
    /// The same state passed once and failed once.
    Flaky,
    /// The command passes.
    Passes,
    /// There is no commit to compare with.
    NoBase,
    /// Nothing differs from what it was compared with.
    NoChange,
    /// Time or runs were used up.
    Budget,
    /// With everything reverted something else fails: it does not build, load or start.
    DoesNotBuild,
    /// With everything reverted the same tests fail.
    FailsWithout,
    /// No earlier state has the failing tests.
    NewTest,
    /// It was interrupted.
    Interrupted,
    /// There is no such program.
    CommandNotFound,
    /// The file may not be executed.
    NotExecutable,
}

/// The state that changes were compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WhyBase {
    /// The reason for it, in a few words.
    pub what: String,
    /// The commit, in hex.
    pub commit: String,
}

/// The culprit of a failure, confirmed by a search on these files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownCause {
    /// The answer of `mendit why` in one line.
    pub message: String,
    /// The smallest set of changes whose revert makes the failing tests pass.
    pub changes: Vec<WhyChange>,
    /// Failing tests, or files of tests, that are skipped with it reverted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// Tests that fail with it reverted, as in the document of `mendit why`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<String>,
}

/// One change that may be the cause, or is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WhyChange {
    /// The current path of the file, or its last one if it was deleted.
    pub path: String,
    /// Its 1-based line now; `None` for a whole file.
    pub line: Option<u32>,
    /// The commit that introduced the change; `None` if it is not committed.
    pub commit: Option<String>,
    /// The evidence for it.
    pub why: String,
    /// The lines as a diff, secrets masked, at most 20.
    pub diff: String,
}

impl WhyChange {
    /// `path:line`, or the path.
    pub fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.path),
            None => self.path.clone(),
        }
    }
}

/// One state that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WhyTrial {
    /// The commit whose files were used; `None` for the worktree's own.
    pub commit: Option<String>,
    /// Changes that were reverted: `path:line`, at most 20.
    pub without: Vec<String>,
    /// How many changes that were.
    pub count: u64,
    /// The result.
    pub outcome: WhyOutcome,
}

/// The result of the failing tests in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhyOutcome {
    /// All of them pass.
    Passes,
    /// At least one fails as before.
    Fails,
    /// Something else: it does not build, the tests are missing, or it was cut short.
    Other,
}
