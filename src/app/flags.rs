pub(super) use clap::{Args, ValueEnum};

use clap::builder::PossibleValue;

use crate::config::{Color, Settings};
use crate::model::{
    AgentProtocol, Level, Profile, SandboxMode, StopReason, TestChanges, WorkplaceMode,
};

/// What stands before settings while a task runs.
pub trait Flags {
    /// Puts what was given in their place.
    fn merge(&self, settings: &mut Settings);
}

impl Flags for () {
    fn merge(&self, _: &mut Settings) {}
}

/// A request as one table: each row is a field, the flag of the command line and its help; behind `=>`
/// stands the setting that a flag is put before, and how, as [`put`] says.
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

pub(super) use request;

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

pub(super) use put;

// Settings and flags take the same words.
macro_rules! words {
    ($type:ident: $($variant:ident $name:literal $help:literal)*) => {
        impl ValueEnum for $type {
            fn value_variants<'a>() -> &'a [Self] {
                &[$(Self::$variant),*]
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(match self {
                    $(Self::$variant => PossibleValue::new($name).help($help),)*
                })
            }
        }
    };
}

words! { SandboxMode:
    Auto "auto" "As far as the system can"
    Require "require" "In full, or refuse to run"
    Off "off" "Not at all"
}

words! { TestChanges:
    Warn "warn" "Report a warning"
    Refused "deny" "Refuse the patch"
}

words! { WorkplaceMode:
    Auto "auto" "An overlay if the system supports it, otherwise a copy"
    Overlay "overlay" "The worktree at its own path; writes go to a private folder"
    Copy "copy" "A copy in another folder"
    InPlace "in-place" "The worktree itself, for `run` and `doctor`"
}

words! { AgentProtocol:
    Json "json" "The packet on stdin, a repair packet on stdout"
    Prompt "prompt" "A prompt on stdin, any text with a patch on stdout"
    Edit "edit" "The agent edits a copy; the difference is the patch"
}

words! { Color:
    Auto "auto" "On a terminal, unless `NO_COLOR` is set"
    Always "always" "Always"
    Never "never" "Never"
}

/// A rung of the ladder; `auto` lets the failure choose.
pub(super) fn level(text: &str) -> Result<super::LevelChoice, String> {
    if text == "auto" {
        return Ok(super::LevelChoice::Auto);
    }
    let level = text.parse().ok().and_then(Level::from_number);
    let level = level.ok_or_else(|| "auto or a number from 0 to 4 is expected".to_owned())?;
    Ok(super::LevelChoice::Exactly(level))
}

/// A level that a repair climbs to by itself.
pub(super) fn repair_level(text: &str) -> Result<Level, String> {
    let level = text.parse().ok().and_then(Level::from_number);
    level
        .filter(|level| *level <= Level::Requested)
        .ok_or_else(|| "a number from 0 to 3 is expected".to_owned())
}

pub(super) fn stop_reason(text: &str) -> Result<StopReason, String> {
    text.parse()
        .map_err(|error: serde::de::value::Error| error.to_string())
}

pub(super) fn profile(text: &str) -> Result<Profile, String> {
    match text {
        "ranked" => Ok(Profile::Ranked),
        "spec" => Ok(Profile::Spec),
        _ => Err("`ranked` or `spec` is expected".to_owned()),
    }
}

/// A part of a whole.
///
/// # Errors
/// What is no number from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "a share from 0 to 1 is expected, such as 0.8".to_owned())
}
