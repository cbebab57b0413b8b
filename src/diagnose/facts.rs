use std::sync::Arc;

use super::rules::UserRules;

/// What is known of the run beside its log.
#[derive(Debug, Clone, Default)]
pub struct LogFacts {
    /// The command's exit code; a negative number is a signal.
    pub exit_code: Option<i32>,
    /// The command line.
    pub command: Option<String>,
    /// Whether a time limit ended it.
    pub timed_out: bool,
    /// Rules of the user's own, asked before the built-in ones.
    pub rules: Arc<UserRules>,
}
