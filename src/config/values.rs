//! The value types of settings: times, sizes, amounts and lists.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};

/// A time above 0: a number of seconds, or `90s`, `10m`, `1h30m`, `500ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "NumberOrText")]
pub struct Seconds(pub Duration);

/// A number of bytes, or `64K`, `256M`, `1G` of 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "NumberOrText")]
pub struct Bytes(pub u64);

/// An amount of money that is not below 0.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "NumberOrText")]
pub struct Dollars(pub f64);

/// Command lines that are run in order; a single one may be a plain string.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "OneOrMore")]
pub struct CommandLines(pub Vec<String>);

/// When to use color. Meaning never depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// A user's rule for a secret format: `[[output.secret]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretRule {
    /// The name shown in the mask: lower-case letters, digits and dashes.
    pub id: String,
    /// A regular expression of the secret. Its first group is masked, or the whole match without one.
    pub pattern: String,
    /// What the secret opens, in a sentence.
    pub why: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl From<Vec<String>> for CommandLines {
    fn from(lines: Vec<String>) -> Self {
        Self(lines)
    }
}

impl From<OneOrMore> for CommandLines {
    fn from(lines: OneOrMore) -> Self {
        Self(match lines {
            OneOrMore::One(line) => vec![line],
            OneOrMore::More(lines) => lines,
        })
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrText {
    Number(f64),
    Text(String),
}

// A setting takes the words that a flag takes.
macro_rules! from_number_or_text {
    ($($Value:ty)*) => {
        $(impl TryFrom<NumberOrText> for $Value {
            type Error = String;

            fn try_from(value: NumberOrText) -> Result<Self, String> {
                match value {
                    NumberOrText::Number(number) => number.to_string().parse(),
                    NumberOrText::Text(text) => text.parse(),
                }
            }
        })*
    };
}

from_number_or_text! { Seconds Bytes Dollars }

impl Seconds {
    /// Makes a time from whole seconds.
    pub const fn whole(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }
}

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let time = match text.parse() {
            Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
            Err(_) => {
                let time = text.parse::<jiff::SignedDuration>();
                time.ok().and_then(|time| time.try_into().ok())
            }
        };
        let time = time.filter(|time| !time.is_zero()).map(Self);
        time.ok_or_else(|| "expected a number of seconds above 0, or a time such as 10m".to_owned())
    }
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

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
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
            .ok_or_else(|| "expected a number of bytes, or a size such as 256M".to_owned())
    }
}

// Whole megabytes keep their unit, so that `256M` is not printed as 268435456.
impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 > 0 && self.0.is_multiple_of(1 << 20) {
            serializer.collect_str(&format_args!("{}M", self.0 >> 20))
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

impl FromStr for Dollars {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let amount = text.parse::<f64>().ok();
        let amount = amount.filter(|amount| amount.is_finite() && *amount >= 0.0);
        amount.map(Self).ok_or_else(|| "expected an amount of at least 0".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Dollars, Seconds};

    #[test]
    fn parses_sizes() {
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
    }

    #[test]
    fn parses_times() {
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
    fn rejects_amounts_below_zero() {
        assert!("0".parse::<Dollars>().is_ok() && "2.5".parse::<Dollars>().is_ok());
        for text in ["nan", "inf", "-1", "x"] {
            assert!(text.parse::<Dollars>().is_err(), "{text}");
        }
    }
}
