//! A flag to stop a run. Clones share it, so that Ctrl-C reaches every thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::unix;

/// Whether a person wants it to end. Clones share one answer.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    pub(super) requested: Arc<AtomicBool>,
    forced: Arc<AtomicBool>,
}

impl Stop {
    /// Starts without a request to stop; [`Stop::request`] makes one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Listens to Ctrl-C and to the requests to end that systems send. The first asks for a clean
    /// stop, the second for one without grace, the third ends this process with exit code 130 (its
    /// commands end with it).
    ///
    /// # Errors
    /// When the system takes no handler.
    pub fn install() -> std::io::Result<Self> {
        let stop = Self::new();
        unix::listen(stop.clone())?;
        Ok(stop)
    }

    /// Asks for a clean stop; asked again, for one without grace.
    pub fn request(&self) {
        if self.requested.swap(true, Ordering::SeqCst) {
            self.forced.store(true, Ordering::SeqCst);
        }
    }

    /// Checks whether a stop was requested.
    pub fn requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }

    /// Checks whether a stop was requested twice.
    pub fn forced(&self) -> bool {
        self.forced.load(Ordering::SeqCst)
    }
}
