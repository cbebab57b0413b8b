use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::FailureKind;

/// A rule of the user's own for what is secret: `[[secrets.rule]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretRule {
    /// The name that stands in the mask: lower-case letters, digits and dashes.
    pub id: String,
    /// A regular expression of the secret. Its first group, when it has one, is what is masked.
    pub pattern: String,
    /// Texts, any of which a line must hold for the pattern to be tried on it, without regard to
    /// case. Without them the pattern is tried on the whole text, over line ends too.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// What the secret opens, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A rule of the user's own for what a line of a log means: `[[diagnose.rule]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiagnoseRule {
    /// What answers call it.
    pub id: String,
    /// The kind that a matching line means.
    pub kind: FailureKind,
    /// A finer word inside the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subkind: Option<String>,
    /// A regular expression; the groups `name`, `module`, `export` and `path` are picked up.
    pub pattern: String,
    /// The program that prints such a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// How near to the root cause it stands, 1 to 99; 88 when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u8>,
    /// A line that it must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
    /// Why the line means this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
