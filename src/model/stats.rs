use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// What many runs say together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Always [`super::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Always `stats`.
    pub document: String,
    /// Runs that were read.
    pub runs: u32,
    /// Runs that had something to repair.
    pub failures: u32,
    /// Of those, runs that ended fixed.
    pub fixed: u32,
    /// Share of failures that were not fixed, 0 to 1.
    pub failure_rate: f64,
    /// By kind of failure.
    pub kinds: BTreeMap<String, Rate>,
    /// By category, of runs that were not fixed.
    pub categories: BTreeMap<String, u32>,
    /// The same as shares of the failures, 0 to 1.
    pub category_rates: BTreeMap<String, f64>,
    /// Why the alarm rings; `null` when it does not, or none was set.
    pub alarm: Option<String>,
    /// By how the run ended.
    pub stop_reasons: BTreeMap<String, u32>,
    /// Import errors, and how many of them were fixed.
    pub import_recovery: Rate,
    /// What most often stood in the way, most often first; at most ten.
    pub blockers: Vec<Blocker>,
    /// Others that stood in the way less often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_blockers: Option<u64>,
    /// What agents imported for names that were undefined, most often first: rows for the setting
    /// `hint.known`.
    pub learned: Vec<Blocker>,
    /// Rows beyond the ten listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_learned: Option<u64>,
    /// Folders that are no finished run.
    pub skipped: Vec<String>,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Rate {
    /// Runs.
    pub runs: u32,
    /// Runs that ended fixed.
    pub fixed: u32,
}

/// Something that stood in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Blocker {
    /// What.
    pub what: String,
    /// In how many runs.
    pub runs: u32,
}

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
