use std::time::Duration;

use clap::ValueEnum;

use crate::exec::SandboxMode;
use crate::model::Level;
use crate::workplace::{Choice, Kind};

/// How a document is printed, where there are two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TextOrJson {
    /// For people
    Text,
    /// For programs
    Json,
}

/// How far commands are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Confine {
    /// As far as the system can
    Auto,
    /// In full, or refuse to run
    Require,
    /// Not at all
    Off,
}

impl From<Confine> for SandboxMode {
    fn from(chosen: Confine) -> Self {
        match chosen {
            Confine::Auto => Self::Auto,
            Confine::Require => Self::Require,
            Confine::Off => Self::Off,
        }
    }
}

/// Where commands run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Where {
    /// An overlay where the system has it, else a copy
    Auto,
    /// The worktree at its own path; what is changed there lands in a private folder
    Overlay,
    /// A copy in another folder
    Copy,
    /// The worktree itself
    InPlace,
}

impl From<Where> for Choice {
    fn from(chosen: Where) -> Self {
        match chosen {
            Where::Auto => Self::Auto,
            Where::Overlay => Self::Exactly(Kind::Overlay),
            Where::Copy => Self::Exactly(Kind::Copy),
            Where::InPlace => Self::Exactly(Kind::InPlace),
        }
    }
}

/// A time that passes, such as `1.5`.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|seconds: &f64| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a number of seconds above 0 is expected".to_owned())
}

/// The highest rung that a loop may climb to.
pub(super) fn highest_level(text: &str) -> Result<Level, String> {
    text.parse()
        .ok()
        .and_then(Level::from_number)
        .filter(|level| *level <= Level::Requested)
        .ok_or_else(|| "a number from 0 to 3 is expected".to_owned())
}

/// A part of a whole.
pub(super) fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "a share from 0 to 1 is expected, such as 0.8".to_owned())
}
