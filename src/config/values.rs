use std::fmt;
use std::num::NonZeroU16;
use std::ops::Deref;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::{
    AgentProtocol, Level, Profile, SandboxMode, TestChanges, WorkplaceMode,
};

/// Says what a value of a type must be, as the end of "must be ...".
pub trait Described {
    /// Such as "a whole number".
    fn expected() -> &'static str;
}

/// A time above 0: a number of seconds, or `90s`, `10m`, `1h30m`, `500ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(pub Duration);

/// A number of bytes, or `64K`, `256M`, `1G` of 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// An amount of money that is not below 0.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
pub struct Dollars(f64);

/// The highest rung that a loop may climb to: 0 to 3.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "u8")]
pub struct RepairLevel(Level);

/// Command lines that are run in order; one may stand alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "OneOrMore")]
pub struct CommandLines(pub Vec<String>);

/// Where names come from: `NAME MODULE [IMPORTED] LANGUAGE` each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<String>")]
pub struct KnownNames(Vec<String>);

/// When to use colour. Meaning never depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl Seconds {
    /// From whole seconds.
    #[must_use]
    pub const fn whole(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    fn from_number(seconds: f64) -> Option<Self> {
        let time = Some(seconds).filter(|it| *it > 0.0)?;
        Some(Self(Duration::try_from_secs_f64(time).ok()?))
    }
}

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plain = text.parse().ok().and_then(Self::from_number);
        plain
            .or_else(|| with_units(text))
            .ok_or_else(|| format!("{} is expected", Self::expected()))
    }
}

// `1h30m`: numbers, each with its unit.
fn with_units(text: &str) -> Option<Seconds> {
    let mut seconds = 0.0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let digits = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let (number, tail) = rest.split_at(digits);
        let end = tail
            .find(|it: char| !it.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        let length = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * length;
        rest = tail;
    }
    Seconds::from_number(seconds)
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_secs_f64())
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.subsec_nanos() == 0 {
            serializer.serialize_u64(self.0.as_secs())
        } else {
            serializer.serialize_f64(self.0.as_secs_f64())
        }
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = match NumberOrText::deserialize(deserializer)? {
            NumberOrText::Number(seconds) => Self::from_number(seconds),
            NumberOrText::Text(text) => text.parse().ok(),
        };
        read.ok_or_else(|| serde::de::Error::custom(Self::expected()))
    }
}

impl JsonSchema for Seconds {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [
            {"type": "number", "exclusiveMinimum": 0},
            {"type": "string", "pattern": "^([0-9.]+(ms|s|m|h))+$"},
        ]})
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrText<N> {
    Number(N),
    Text(String),
}

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
        let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
            "" | "B" => Some(0),
            "K" | "KB" | "KIB" => Some(10),
            "M" | "MB" | "MIB" => Some(20),
            "G" | "GB" | "GIB" => Some(30),
            _ => None,
        };
        shift
            .and_then(|shift| digits.parse::<u64>().ok()?.checked_mul(1 << shift))
            .map(Self)
            .ok_or_else(|| format!("{} is expected", Self::expected()))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = [(30, "G"), (20, "M"), (10, "K")]
            .into_iter()
            .find(|(shift, _)| self.0 > 0 && self.0.is_multiple_of(1 << shift));
        match unit {
            Some((shift, unit)) => write!(f, "{}{unit}", self.0 >> shift),
            None => write!(f, "{}", self.0),
        }
    }
}

// Sizes with a unit stay readable: `256M`, not 268435456.
impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 < 1 << 20 {
            serializer.serialize_u64(self.0)
        } else {
            serializer.collect_str(self)
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match NumberOrText::deserialize(deserializer)? {
            NumberOrText::Number(bytes) => Ok(Self(bytes)),
            NumberOrText::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

impl JsonSchema for Bytes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [
            {"type": "integer", "minimum": 0},
            {"type": "string", "pattern": "^[0-9]+([KMGkmg]i?)?[Bb]?$"},
        ]})
    }
}

impl Dollars {
    /// The amount in US dollars.
    #[must_use]
    pub fn amount(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Dollars {
    type Error = String;

    fn try_from(amount: f64) -> Result<Self, String> {
        if amount.is_finite() && amount >= 0.0 {
            Ok(Self(amount))
        } else {
            Err(format!("{} is expected", Self::expected()))
        }
    }
}

impl FromStr for Dollars {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<f64>().unwrap_or(f64::NAN).try_into()
    }
}

impl RepairLevel {
    /// All that a loop climbs to of its own accord.
    pub const TOP: Self = Self(Level::Requested);

    /// The rung.
    #[must_use]
    pub fn level(self) -> Level {
        self.0
    }
}

impl TryFrom<u8> for RepairLevel {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        Level::from_number(number)
            .filter(|level| *level <= Level::Requested)
            .map(Self)
            .ok_or_else(|| format!("{} is expected", Self::expected()))
    }
}

impl FromStr for RepairLevel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<u8>().unwrap_or(u8::MAX).try_into()
    }
}

impl From<Vec<String>> for CommandLines {
    fn from(lines: Vec<String>) -> Self {
        Self(lines)
    }
}

impl From<OneOrMore> for CommandLines {
    fn from(given: OneOrMore) -> Self {
        Self(match given {
            OneOrMore::One(line) => vec![line],
            OneOrMore::More(lines) => lines,
        })
    }
}

impl Deref for KnownNames {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

// What stands here becomes a line of code: nothing but names may.
impl TryFrom<Vec<String>> for KnownNames {
    type Error = String;

    fn try_from(rows: Vec<String>) -> Result<Self, String> {
        let name = |word: &str| {
            let part = |it: char| it.is_alphanumeric() || "_$".contains(it);
            !word.is_empty() && word.chars().all(part)
        };
        let module = |word: &str| {
            let part = |it: char| it.is_alphanumeric() || "_$@./:~-".contains(it);
            !word.is_empty() && word.chars().all(part)
        };
        let fine = |row: &String| {
            let words: Vec<&str> = row.split(' ').collect();
            !row.contains(char::is_control)
                && match words.as_slice() {
                    [one, from, "py" | "js" | "ts"] => name(one) && module(from),
                    [one, from, imported, "py" | "js" | "ts"] => {
                        name(one) && module(from) && (*imported == "*" || name(imported))
                    }
                    _ => false,
                }
        };
        if rows.iter().all(fine) {
            Ok(Self(rows))
        } else {
            Err(format!("{} is expected", Self::expected()))
        }
    }
}

macro_rules! described {
    ($($type:ty: $expected:literal)*) => {
        $(impl Described for $type {
            fn expected() -> &'static str {
                $expected
            }
        })*
    };
}

described! {
    bool: "true or false"
    u32: "a whole number"
    u64: "a whole number"
    NonZeroU16: "a whole number above 0"
    String: "a text"
    PathBuf: "a path"
    Vec<String>: "a list of texts"
    Vec<PathBuf>: "a list of paths"
    Profile: "one of ranked, spec"
    SandboxMode: "one of auto, require, off"
    WorkplaceMode: "one of auto, overlay, copy, in-place"
    TestChanges: "one of warn, deny"
    AgentProtocol: "one of json, prompt, edit"
    Color: "one of auto, always, never"
    Seconds: "a number of seconds above 0, or a time such as \"10m\""
    Bytes: "a number of bytes, or a size such as \"256M\""
    Dollars: "an amount that is not below 0"
    RepairLevel: "a number from 0 to 3"
    CommandLines: "a command, or a list of commands"
    Vec<SecretRule>: "tables `[[output.secret]]` with id and pattern"
    KnownNames: "a list of `NAME MODULE py` or `NAME MODULE js`"
}

impl<T: Described> Described for Option<T> {
    fn expected() -> &'static str {
        T::expected()
    }
}

/// A user's rule for a secret format: `[[output.secret]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretRule {
    /// The name shown in the mask: lower-case letters, digits and dashes.
    pub id: String,
    /// A regular expression of the secret. Its first group is masked, or the whole match without one.
    pub pattern: String,
    /// What the secret opens, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Dollars, KnownNames, RepairLevel, Seconds};

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("5", 5),
            ("0", 0),
            ("2K", 2048),
            ("3MB", 3 << 20),
            ("1g", 1 << 30),
            ("2KiB", 2048),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "-1", "x", "99999999999G", "1.5M", "5x", "M", "1é"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
        assert_eq!(Bytes(256 << 20).to_string(), "256M");
    }

    #[test]
    fn times_are_read() {
        for (text, milliseconds) in [
            ("0.5", 500),
            ("90", 90_000),
            ("90s", 90_000),
            ("10m", 600_000),
            ("1h30m", 5_400_000),
            ("250ms", 250),
        ] {
            let time: Seconds = text.parse().unwrap();
            assert_eq!(time.0.as_millis(), milliseconds, "{text}");
        }
        for text in ["0", "-1", "NaN", "inf", "1e300", "x", "", "5x", "m", "5m3"] {
            assert!(text.parse::<Seconds>().is_err(), "{text}");
        }
    }

    #[test]
    fn amounts_and_levels_have_bounds() {
        assert!("0".parse::<Dollars>().is_ok() && "2.5".parse::<Dollars>().is_ok());
        for text in ["nan", "inf", "-1", "x"] {
            assert!(text.parse::<Dollars>().is_err(), "{text}");
        }
        assert!("3".parse::<RepairLevel>().is_ok());
        for text in ["4", "-1", "x", "300"] {
            assert!(text.parse::<RepairLevel>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_becomes_code_holds_names_alone() {
        let read = |row: &str| KnownNames::try_from(vec![row.to_owned()]).is_ok();
        for row in [
            "CliRunner typer.testing py",
            "np numpy * py",
            "z zod js",
            "a @x/y-z b js",
        ] {
            assert!(read(row), "{row}");
        }
        for row in [
            "os\nimport evil; py",
            "CliRunner $(touch x) py",
            "a b",
            "a b rs",
            "a b';evil() js",
            "a\tb py",
            "",
        ] {
            assert!(!read(row), "{row}");
        }
    }
}
