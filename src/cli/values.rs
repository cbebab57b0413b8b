use clap::ValueEnum;
use clap::builder::{PossibleValue, TypedValueParser};

use crate::app::settings::Color;
use crate::model::{AgentProtocol, SandboxMode, TestChanges, WorkplaceMode};

/// How a document is printed, where there are two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TextOrJson {
    /// For people
    Text,
    /// For programs
    Json,
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
    Told "told" "It is told"
    Refused "refused" "It is refused"
}

words! { WorkplaceMode:
    Auto "auto" "An overlay where the system has it, else a copy"
    Overlay "overlay" "The worktree at its own path; what is changed there lands in a private folder"
    Copy "copy" "A copy in another folder"
    InPlace "in-place" "The worktree itself"
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
pub(super) struct Suggested<T: 'static> {
    pub(super) parse: fn(&str) -> Result<T, String>,
    pub(super) words: fn() -> Vec<&'static str>,
}

impl<T: Clone + Send + Sync> TypedValueParser for Suggested<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<T, clap::Error> {
        self.parse.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.words)().into_iter().map(PossibleValue::new)))
    }
}

/// An agent: its name, or a command line.
pub(super) const AGENT: Suggested<String> = Suggested {
    parse: |text| Ok(text.to_owned()),
    words: || {
        crate::app::PRESETS
            .iter()
            .map(|it| it.name.as_str())
            .collect()
    },
};

/// A flag that goes before what a setting says, when it is given.
pub(super) trait Flag<T> {
    /// Puts it in the setting's place.
    fn over(&self, setting: &mut T);
}

impl<T: Clone> Flag<T> for Option<T> {
    fn over(&self, setting: &mut T) {
        if let Some(value) = self {
            setting.clone_from(value);
        }
    }
}

impl<T: Clone> Flag<Option<T>> for Option<T> {
    fn over(&self, setting: &mut Option<T>) {
        if self.is_some() {
            setting.clone_from(self);
        }
    }
}

impl<T: Clone> Flag<Vec<T>> for Vec<T> {
    fn over(&self, setting: &mut Vec<T>) {
        if !self.is_empty() {
            setting.clone_from(self);
        }
    }
}

/// A part of a whole.
pub(super) fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "a share from 0 to 1 is expected, such as 0.8".to_owned())
}
