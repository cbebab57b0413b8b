//! Maps a list on all threads and keeps its order, so that results do not depend on the number of
//! threads.

#[cfg(feature = "program")]
use rayon::prelude::*;

/// What comes of each item, in their order: on all threads, and on this one where there is one item alone, since
/// threads cost more than a small file. Without the program there are no threads.
pub(crate) fn map<T: Send, R: Send>(items: Vec<T>, of: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    #[cfg(feature = "program")]
    if items.len() > 1 {
        return items.into_par_iter().map(of).collect();
    }
    items.into_iter().map(of).collect()
}
