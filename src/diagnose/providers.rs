//! The table of prefixes and marks that CI services, log stores and task runners add to a tool's output.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::runners::{Cues, Pattern};

/// The table.
pub(super) static PROVIDERS: LazyLock<Providers> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "embedded and tested")]
    crate::model::read_table(embedded!("diagnose/providers.toml")).expect("providers.toml parses")
});

/// Words that are in the rows of [`Providers::end`].
pub(super) static ENDS: LazyLock<Cues> =
    LazyLock::new(|| PROVIDERS.end.iter().map(|row| row.cue.as_str()).zip(0..).collect());

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Providers {
    pub(super) end: Vec<Ending>,
    pub(super) fold: Vec<Fold>,
    /// Prefixes that no tool prints itself.
    pub(super) dress: Vec<Shape>,
    /// Prefixes that no tool prints before most of its lines.
    pub(super) shared: Vec<Shape>,
    /// Where scripts say that they run.
    pub(super) place: Vec<Shape>,
}

/// How a service says that a step, a job or a clean-up ended or begins.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ending {
    pub(super) cue: String,
    pub(super) line: Pattern,
    pub(super) event: Event,
    #[serde(default)]
    pub(super) error: bool,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Event {
    Exited,
    Step,
    Job,
    JobPassed,
    Passed,
    CleanUp,
    Failure,
}

/// Folds that are no work of the job, or not all of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fold {
    pub(super) names: Vec<String>,
    pub(super) clean_up: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    pub(super) line: Pattern,
}
