//! The document of `mendit doctor`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Diagnosis, SCHEMA_VERSION};

/// The output of `mendit doctor`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealingResult {
    /// Version of this document's shape.
    pub schema_version: u32,
    /// Always `healing`.
    pub document: &'static str,
    /// Whether every probe responds and nothing that was checked is missing.
    pub fixed: bool,
    /// A row for each thing that was checked; empty when something was probed.
    pub rows: Vec<CheckupRow>,
    /// Each probe, in the order it ran.
    pub probes: Vec<HealedProbe>,
    /// Every fix that was tried, in order.
    pub attempts: Vec<HealingAttempt>,
    /// The configuration as it is after the fixes, with secrets masked: `mcpServers` when there are
    /// servers, `test` when there is a command.
    pub final_config: serde_json::Map<String, serde_json::Value>,
    /// What the user has to do; `null` if nothing.
    pub user_action_needed: Option<String>,
}

impl HealingResult {
    /// Puts together what each probe gave.
    pub fn new(
        probes: Vec<HealedProbe>,
        attempts: Vec<HealingAttempt>,
        final_config: serde_json::Map<String, serde_json::Value>,
    ) -> Self {
        let needed = probes.iter().filter_map(|probe| {
            let action = probe.user_action_needed.as_ref()?;
            Some(format!("{}: {action}", probe.name))
        });
        let needed: Vec<String> = needed.collect();
        Self {
            schema_version: SCHEMA_VERSION,
            document: "healing",
            fixed: probes.iter().all(|probe| probe.fixed),
            rows: Vec::new(),
            probes,
            attempts,
            final_config,
            user_action_needed: (!needed.is_empty()).then(|| needed.join("\n")),
        }
    }

    /// Reports what was looked at without probing anything.
    pub fn from_rows(rows: Vec<CheckupRow>) -> Self {
        Self {
            fixed: rows.iter().all(|row| row.state != CheckupState::Missing),
            rows,
            ..Self::new(Vec::new(), Vec::new(), serde_json::Map::new())
        }
    }
}

/// One probe, and whether it responds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealedProbe {
    /// `test`, or the server's name.
    pub name: String,
    /// Whether it responds.
    pub fixed: bool,
    /// One sentence, such as `Connected. 8 tools available.`
    pub message: String,
    /// The tools that a server offers, as it lists them.
    pub tools: Vec<String>,
    /// Whether its configuration had to be changed.
    pub changed: bool,
    /// The remaining problem; `null` if it responds.
    pub diagnosis: Option<Diagnosis>,
    /// What the user has to do; `null` if nothing.
    pub user_action_needed: Option<String>,
}

/// One fix and its result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealingAttempt {
    /// The probe.
    pub probe: String,
    /// Counted from 1 for each probe.
    pub attempt_number: u32,
    /// The problem before it.
    pub diagnosis: Diagnosis,
    /// The change; `null` if only the user can make it.
    pub fix_applied: Option<String>,
    /// The answer of the probe after it, or what the user has to do.
    pub result: String,
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckupRow {
    /// The thing that was checked.
    pub name: &'static str,
    /// Its state.
    pub state: CheckupState,
    /// The same in words.
    pub message: String,
    /// The command that fixes it.
    pub command: Option<String>,
}

/// The state of a checked thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckupState {
    /// It is there.
    Good,
    /// It is missing, and most commands work without it.
    Weak,
    /// Nothing works without it.
    Missing,
}
