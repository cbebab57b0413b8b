//! Facts about a run that its log does not contain, such as the exit code.

use crate::exec::{End, Outcome};

/// What is known of the run beside its log.
#[derive(Debug, Clone, Default)]
pub struct LogFacts {
    /// The command's exit code; a negative number is a signal.
    pub exit_code: Option<i32>,
    /// The command line.
    pub command: Option<String>,
    /// Whether a time limit ended it.
    pub timed_out: bool,
}

impl LogFacts {
    /// What the end of a run of `command` tells.
    #[must_use]
    pub fn new(outcome: &Outcome, command: &str) -> Self {
        Self {
            exit_code: outcome.end.code_or_signal(),
            command: Some(command.to_owned()),
            timed_out: matches!(outcome.end, End::TimedOut),
        }
    }
}
