use schemars::JsonSchema;
use serde::Serialize;

use super::{Exit, RunSummary, Usage};

/// What failed in a CI run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CiReport {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    pub schema_version: u32,
    /// Always `ci-report`.
    #[schemars(extend("const" = "ci-report"))]
    pub document: &'static str,
    /// Each failure once, with the jobs that show it.
    pub failures: Vec<CiFailure>,
    /// Jobs that passed.
    pub passed: Vec<String>,
    /// A patch for what could be mended.
    pub patch: Option<String>,
    /// The same, line by line of the files as they are.
    pub suggestions: Vec<CiSuggestion>,
    /// Jobs of this run whose failure no repair that was tried has shown to be mended.
    pub left: Vec<String>,
    /// Whether the test command passes with it; `None` when it was not run.
    pub verified: Option<bool>,
    /// Whether the test command passes in this worktree as it is: what the logs tell of does not fail
    /// here.
    pub passes_here: bool,
    /// Attempts at a repair, of all failures together.
    pub attempts: u32,
    /// What the agent says they took; `null` where none was asked or it told nothing.
    pub usage: Option<Usage>,
}

impl CiReport {
    /// How the process ends: 0 when nothing failed or a patch was verified.
    #[must_use]
    pub fn exit(&self) -> Exit {
        if self.failures.is_empty() || self.verified == Some(true) {
            Exit::Yes
        } else {
            Exit::No
        }
    }
}

/// What to put in place of some lines.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CiSuggestion {
    /// The file.
    pub path: String,
    /// 1-based first line.
    pub start_line: u32,
    /// 1-based last line.
    pub line: u32,
    /// The lines that shall stand there instead.
    pub replacement: Vec<String>,
}

/// One failure of a CI run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CiFailure {
    /// The jobs that show it.
    pub jobs: Vec<String>,
    /// Whose it is.
    pub cause: CiCause,
    /// What it comes to.
    pub summary: RunSummary,
}

/// Whose a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CiCause {
    /// The change's: the base does not show it.
    Regression,
    /// The base shows it too.
    BrokenOnBase,
    /// Another run of the same commit does not show it.
    Flaky,
    /// Network, disk, memory or credentials of the machine.
    Infrastructure,
    /// Nobody said how the base does.
    Unattributed,
}

impl CiCause {
    /// The same for a person.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Regression => "new with this change",
            Self::BrokenOnBase => "broken on the base too",
            Self::Flaky => "flaky: another run of this commit does not show it",
            Self::Infrastructure => "the machine's: network, disk, memory or credentials",
            Self::Unattributed => "whose it is is not known: no logs of the base",
        }
    }
}
