//! Layer 9: one task for each command, from a request to a document. Everything that tasks build on
//! is opened once, by [`App`]; command line, server and library only translate.

mod agents;
mod bench;
mod command;
mod context;
mod diagnose;
mod doctor;
mod error;
mod files;
mod fix;
pub(crate) mod flags;
mod git_apply;
mod hint;
mod imports;
mod init;
mod open;
mod patch;
mod redact;
mod report;
mod run;
mod runs;
mod show_settings;
mod why;

/// What tasks give.
pub(crate) type Result<T, E = AppError> = std::result::Result<T, E>;

pub(crate) use crate::parallel::set_threads;
pub use crate::policy::Redactor;
pub use bench::*;
pub use command::find_test_command;
pub use context::*;
pub use diagnose::*;
pub use doctor::*;
pub use error::*;
pub use files::*;
pub use fix::*;
pub(crate) use flags::word;
pub use flags::{Flags, share};
pub use git_apply::*;
pub use hint::*;
pub use imports::*;
pub use init::*;
pub use open::*;
pub use patch::*;
pub use redact::*;
pub use report::*;
pub use run::*;
pub use runs::*;
pub use show_settings::*;
pub use why::*;

// What requests are made of.
pub use crate::bench::bench_failure;
pub(crate) use crate::config as settings;
pub use crate::context::LevelChoice;
pub use crate::exec::{Stop, guard_environment, own_program, set_supervisor, supervise};
pub use crate::git::MergeConflict;
pub use crate::patch::{GitApplyOptions, Judged, Recovered, Verbosity, WhiteSpace};
pub use crate::workspace::SettingsChoice;
