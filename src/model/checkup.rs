use schemars::JsonSchema;
use serde::Serialize;

use super::Exit;

/// What is there and what is missing for a repair in this place.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checkup {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    pub schema_version: u32,
    /// Always `checkup`.
    #[schemars(extend("const" = "checkup"))]
    pub document: &'static str,
    /// A row for each thing that was looked at.
    pub rows: Vec<CheckupRow>,
}

impl Checkup {
    /// How the process ends: 4 when a person must act.
    #[must_use]
    pub fn exit(&self) -> Exit {
        if self.rows.iter().any(|it| it.state == CheckupState::Missing) {
            Exit::PersonMustAct
        } else {
            Exit::Yes
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckupRow {
    /// What was looked at.
    pub name: &'static str,
    /// How it stands.
    pub state: CheckupState,
    /// The same in words.
    pub message: String,
    /// What mends it, for a person to type.
    pub command: Option<String>,
}

/// How a thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckupState {
    /// It is there.
    Good,
    /// It is not there, and most things work without.
    Weak,
    /// Nothing works without it.
    Missing,
}
