//! Maps a list on all threads and keeps its order, so that results do not depend on the number of
//! threads.

use std::cell::Cell;
use std::num::NonZero;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{iter, panic, thread};

/// How many threads a person wants; without it, as many as there are processors.
pub(crate) static WANTED: OnceLock<usize> = OnceLock::new();

thread_local! {
    // What is mapped within a map stays on its thread.
    static IS_BUSY: Cell<bool> = const { Cell::new(false) };
}

/// What comes of each item, in their order: on all threads, and on this one where there is one item alone, since
/// threads cost more than a small file.
pub(crate) fn map<I: IntoIterator<Item: Send>, R: Send>(
    items: I,
    of: impl Fn(I::Item) -> R + Sync,
) -> Vec<R> {
    let items: Vec<I::Item> = items.into_iter().collect();
    let available = || thread::available_parallelism().map_or(1, NonZero::get);
    if items.len() < 2 || IS_BUSY.get() || *WANTED.get_or_init(available) == 1 {
        return items.into_iter().map(of).collect();
    }
    let threads = items.len().min(*WANTED.get_or_init(available));
    let left = Mutex::new(items.into_iter().enumerate());
    let work = || {
        IS_BUSY.set(true);
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        iter::from_fn(next)
            .map(|(at, item)| (at, of(item)))
            .collect::<Vec<(usize, R)>>()
    };
    let mut found: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let found = workers.into_iter().map(thread::ScopedJoinHandle::join);
        found
            .flat_map(|found| found.unwrap_or_else(|bug| panic::resume_unwind(bug)))
            .collect()
    });
    found.sort_unstable_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, found)| found).collect()
}
