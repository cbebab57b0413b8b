//! Maps a list on all threads and keeps its order, so that results do not depend on the number of
//! threads.

#[cfg(feature = "program")]
use rayon::prelude::*;

/// Sets how many threads a user wants; without it, there are as many as processors.
///
/// # Errors
/// When they cannot be started.
#[cfg(feature = "program")]
pub(crate) fn set_threads(count: usize) -> Result<(), rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(count).build_global()
}

/// What comes of each item, in their order: on all threads, and on this one where there is one item alone, since
/// threads cost more than a small file. Without the program there are no threads.
pub(crate) fn map<I: IntoIterator<Item: Send>, R: Send>(
    items: I,
    of: impl Fn(I::Item) -> R + Sync + Send,
) -> Vec<R> {
    let items: Vec<I::Item> = items.into_iter().collect();
    #[cfg(feature = "program")]
    if items.len() > 1 {
        return items.into_par_iter().map(of).collect();
    }
    items.into_iter().map(of).collect()
}
