use std::sync::{Mutex, PoisonError};

/// Repositories of single threads, made once and used again: opening one for every object read
/// would cost more than the read.
pub(super) struct Pool {
    shared: gix::ThreadSafeRepository,
    free: Mutex<Vec<gix::Repository>>,
}

impl Pool {
    pub(super) fn new(shared: gix::ThreadSafeRepository) -> Self {
        Self {
            shared,
            free: Mutex::new(Vec::new()),
        }
    }

    /// Lends a repository to the calling thread.
    pub(super) fn with<T>(&self, work: impl FnOnce(&gix::Repository) -> T) -> T {
        let free = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = free().pop();
        let repo = taken.unwrap_or_else(|| self.shared.to_thread_local());
        let result = work(&repo);
        free().push(repo);
        result
    }
}
