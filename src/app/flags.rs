//! Puts command line flags before the settings, so that each flag and its setting have one type and one
//! check.

pub(crate) use clap::Args;
use serde::Deserialize as _;
use serde::de::Error as _;

use crate::config::Settings;
use crate::model::Level;

/// Command line flags, which override settings.
pub trait Flags {
    /// Puts what was given in their place.
    fn merge(&self, settings: &mut Settings);
}

impl Flags for () {
    fn merge(&self, _: &mut Settings) {}
}

/// A request as one table: each row is a field, the flag of the command line and its help; behind `=>`
/// is the setting that a flag overrides, and how, as [`put`] says.
macro_rules! request {
    ($(#[$about:meta])* $Name:ident {
        $($(#[$meta:meta])* $field:ident: $type:ty $(=> $put:ident $section:ident.$key:ident)?;)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, $crate::app::flags::Args)]
        pub struct $Name {
            $($(#[$meta])* pub $field: $type,)*
        }

        impl $crate::app::flags::Flags for $Name {
            fn merge(&self, settings: &mut $crate::config::Settings) {
                let _ = &settings;
                $($($crate::app::flags::put!($put self.$field, settings.$section.$key);)?)*
            }
        }
    };
}

pub(crate) use request;

/// Puts a flag before its setting: `set` a value that was given, or a `list` of some; `add` to a list; switch `on` or
/// `off`.
macro_rules! put {
    (set $given:expr, $setting:expr) => {
        if let Some(value) = &$given {
            $setting = value.clone().into();
        }
    };
    (list $given:expr, $setting:expr) => {
        if !$given.is_empty() {
            $setting = $given.clone().into();
        }
    };
    (add $given:expr, $setting:expr) => {
        $setting.extend_from_slice(&$given)
    };
    (on $given:expr, $setting:expr) => {
        $setting |= $given
    };
    (off $given:expr, $setting:expr) => {
        $setting &= !$given
    };
}

pub(crate) use put;

/// Reads a word of a setting, as documents and settings spell it.
pub(crate) fn word<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(text.into()).map_err(|error: serde_json::Error| error.to_string())
}

/// A level; `auto` lets the failure choose.
pub(super) fn level(text: &str) -> Result<super::LevelChoice, String> {
    if text == "auto" {
        return Ok(super::LevelChoice::Auto);
    }
    let level = text.parse().ok().and_then(Level::from_number);
    let level = level.ok_or_else(|| "expected auto or a number from 0 to 4".to_owned())?;
    Ok(super::LevelChoice::Exactly(level))
}

/// A level that a repair climbs to by itself.
pub(super) fn repair_level(text: &str) -> Result<Level, String> {
    let level = text.parse().ok().and_then(Level::from_number);
    level
        .filter(|level| *level <= Level::Requested)
        .ok_or_else(|| "expected a number from 0 to 3".to_owned())
}

/// Reads a level of a caller that is a program: level 4 is refused, because no cap would hold for the whole repository.
pub(super) fn read_level<'de, D>(document: D) -> Result<super::LevelChoice, D::Error>
where
    D: serde::Deserializer<'de>,
{
    let level = repair_level(&u8::deserialize(document)?.to_string());
    level.map(super::LevelChoice::Exactly).map_err(D::Error::custom)
}

/// A part of a whole.
///
/// # Errors
/// When the text is not a number from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "expected a share from 0 to 1, such as 0.8".to_owned())
}
