use super::open::listen;
use super::{AppError, Stop};
use crate::model::Event;

/// How a task speaks to whoever waits for it, while it works.
pub trait Progress: Sync {
    /// Says what is done next. Gives `false` when nobody waits any more.
    fn step(&self, _what: &str) -> bool {
        true
    }

    /// Says something that a person should know and the document does not hold.
    fn note(&self, text: &str);

    /// Says that a trial begins, in words that stand until the next one.
    fn trial(&self, _what: &str) {}

    /// Says what happened in a repair.
    fn event(&self, _event: &Event) {}

    /// What ends the commands that the task runs: Ctrl-C, unless whoever waits has a way of its own.
    ///
    /// # Errors
    /// When the system takes no handler.
    fn stop(&self) -> Result<Stop, AppError> {
        listen()
    }
}

/// Says nothing to anybody.
pub struct Silent;

impl Progress for Silent {
    fn note(&self, _text: &str) {}
}

/// Says what is done next, and ends the task when nobody waits any more.
pub(super) fn go_on(progress: &dyn Progress, what: &str) -> Result<(), AppError> {
    if progress.step(what) {
        Ok(())
    } else {
        Err(AppError::cancelled())
    }
}
