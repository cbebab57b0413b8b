use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

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
    /// Runs that had something to repair.
    pub failures: u32,
    /// Of those, runs that ended fixed.
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

/// A blocker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Blocker {
    /// Its description.
    pub what: String,
    /// In how many runs.
    pub runs: u32,
}
