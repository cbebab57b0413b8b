use std::ffi::OsStr;

pub(super) use clap::{Args, ValueEnum};

use clap::builder::{PossibleValue, TypedValueParser};

use crate::config::{Color, CommandLines, Settings};
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
/// stands the setting that a flag is put before, and how: `set` in its place, `add` to its list, switch it
/// `on` or `off`.
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
                $($($crate::app::flags::$put(&self.$field, &mut settings.$section.$key);)?)*
            }
        }
    };
}

pub(super) use request;

/// A value that may be given in the place of a setting.
pub(super) trait Given<T> {
    /// Takes its place, when it is given.
    fn over(&self, setting: &mut T);
}

impl<T: Clone> Given<T> for Option<T> {
    fn over(&self, setting: &mut T) {
        if let Some(value) = self {
            setting.clone_from(value);
        }
    }
}

impl<T: Clone> Given<Option<T>> for Option<T> {
    fn over(&self, setting: &mut Option<T>) {
        if self.is_some() {
            setting.clone_from(self);
        }
    }
}

impl<T: Clone> Given<Vec<T>> for Vec<T> {
    fn over(&self, setting: &mut Vec<T>) {
        if !self.is_empty() {
            setting.clone_from(self);
        }
    }
}

impl Given<CommandLines> for Vec<String> {
    fn over(&self, setting: &mut CommandLines) {
        self.over(&mut setting.0);
    }
}

pub(super) fn set<T>(given: &impl Given<T>, setting: &mut T) {
    given.over(setting);
}

pub(super) fn add<T: Clone>(given: &[T], setting: &mut Vec<T>) {
    setting.extend_from_slice(given);
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as the others take it")]
pub(super) fn on(given: &bool, setting: &mut bool) {
    *setting |= *given;
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as the others take it")]
pub(super) fn off(given: &bool, setting: &mut bool) {
    *setting &= !*given;
}

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

/// Reads any text, and tells words that shells complete.
#[derive(Clone)]
pub struct Suggested<T: 'static> {
    /// Reads one.
    pub parse: fn(&str) -> Result<T, String>,
    /// The words.
    pub words: fn() -> Vec<&'static str>,
}

impl<T: Clone + Send + Sync> TypedValueParser for Suggested<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        self.parse.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.words)().into_iter().map(PossibleValue::new)))
    }
}

/// An agent: its name, or a command line.
pub const AGENT: Suggested<String> = Suggested {
    parse: |text| Ok(text.to_owned()),
    words: || super::PRESETS.iter().map(|it| it.name.as_str()).collect(),
};

/// A rung of the ladder; `auto` lets the failure choose.
pub(super) const LEVEL: Suggested<super::LevelChoice> = Suggested {
    parse: |text| match text {
        "auto" => Ok(super::LevelChoice::Auto),
        _ => level(text).map(super::LevelChoice::Exactly),
    },
    words: || vec!["auto", "0", "1", "2", "3", "4"],
};

fn level(text: &str) -> Result<Level, String> {
    let number = text.parse().ok();
    let level = number.and_then(Level::from_number);
    level.ok_or_else(|| "auto or a number from 0 to 4 is expected".to_owned())
}

/// A level that a repair climbs to by itself.
pub(super) fn repair_level(text: &str) -> Result<Level, String> {
    level(text)
        .ok()
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

/// What shells complete a name with.
pub(super) const FILE: clap::ValueHint = clap::ValueHint::AnyPath;

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
