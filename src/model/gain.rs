use schemars::JsonSchema;
use serde::Serialize;

/// What agents were spared of logs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Gain {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    pub schema_version: u32,
    /// Always `gain`.
    #[schemars(extend("const" = "gain"))]
    pub document: &'static str,
    /// Of all worktrees together.
    pub total: GainRow,
    /// A row for each worktree.
    pub repositories: Vec<GainRow>,
}

/// The same of one worktree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GainRow {
    /// The worktree; empty for all of them.
    pub root: String,
    /// Runs that were told in brief.
    pub runs: u64,
    /// Tokens of their logs, estimated.
    pub log_tokens: u64,
    /// Tokens of what was told instead.
    pub told_tokens: u64,
}
