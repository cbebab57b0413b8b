//! Context levels and their caps.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A context level.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(into = "u8", try_from = "u8")]
#[schemars(with = "u8", extend("maximum" = 4))]
pub enum Level {
    /// Targets, log and repository index.
    #[default]
    Targets,
    /// Plus manifests and the 1-hop imports.
    OneHop,
    /// Plus the 2-hop closure, contracts and files named in messages.
    TwoHops,
    /// Plus the files an agent asked for.
    Requested,
    /// The whole repository; only on demand.
    Bundle,
}

impl Level {
    /// 0 to 4.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The level of a number from 0 to 4.
    pub fn from_number(number: u8) -> Option<Self> {
        use Level::{Bundle, OneHop, Requested, Targets, TwoHops};
        [Targets, OneHop, TwoHops, Requested, Bundle].get(usize::from(number)).copied()
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

impl From<Level> for u8 {
    fn from(level: Level) -> Self {
        level.number()
    }
}

impl TryFrom<u8> for Level {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        Self::from_number(number).ok_or_else(|| format!("{number} is not a level from 0 to 4"))
    }
}

/// How the files of a level are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The level's named contents, then whatever ranks best.
    #[default]
    Ranked,
    /// Only the files of the specification, in import order.
    Spec,
}

/// Hard limits of one packet. Targets, manifests and mentioned lines do not use up `max_files`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Caps {
    /// Files beyond targets and manifests.
    pub max_files: u64,
    /// Bytes of one file's content.
    pub max_file_bytes: u64,
    /// Bytes of content beyond the targets (level 1), or of all content (level 2 and up).
    pub max_total_bytes: u64,
    /// Estimated tokens of all content; `null` when there is no such limit.
    pub max_tokens: Option<u64>,
}

impl Caps {
    /// Returns the caps of a level.
    pub fn for_level(level: Level) -> Self {
        let (max_files, max_file_bytes, max_total_bytes, max_tokens) = match level {
            Level::Targets => (0, 200_000, 500_000, Some(8_000)),
            Level::OneHop => (10, 200_000, 500_000, Some(16_000)),
            Level::TwoHops => (25, 200_000, 1_000_000, Some(32_000)),
            Level::Requested => (45, 200_000, 2_000_000, Some(48_000)),
            Level::Bundle => (u64::MAX, u64::MAX, u64::MAX, None),
        };
        Self {
            max_files,
            max_file_bytes,
            max_total_bytes,
            max_tokens,
        }
    }
}
