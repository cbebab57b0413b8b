#[cfg(feature = "program")]
use std::borrow::Cow;
use std::fmt;

#[cfg(feature = "program")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A context level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
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
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The level of a number from 0 to 4.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        [
            Self::Targets,
            Self::OneHop,
            Self::TwoHops,
            Self::Requested,
            Self::Bundle,
        ]
        .get(usize::from(number))
        .copied()
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.number())
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u8::deserialize(deserializer)?;
        Self::from_number(number)
            .ok_or_else(|| serde::de::Error::custom(format!("{number} is no level from 0 to 4")))
    }
}

#[cfg(feature = "program")]
impl JsonSchema for Level {
    fn schema_name() -> Cow<'static, str> {
        "Level".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A context level.",
            "type": "integer",
            "minimum": 0,
            "maximum": 4,
        })
    }
}

/// How the places of a level are given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "program", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The level's named contents, then whatever ranks best.
    #[default]
    Ranked,
    /// Only the files of the specification, in import order.
    Spec,
}

impl Profile {
    /// As written in flags and documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ranked => "ranked",
            Self::Spec => "spec",
        }
    }
}

/// Hard limits of one packet. Targets, manifests and mentioned lines do not use up `max_files`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "program", derive(JsonSchema))]
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
    #[must_use]
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
