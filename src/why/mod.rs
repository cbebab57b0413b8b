//! Floor 5: which change made it fail. Pure: from two states of the files to their difference in
//! hunks, from a failure to their order, from what was tried to what is tried next.

mod difference;
mod rank;
mod search;

pub use difference::{Difference, Hunk, What};
pub use rank::{Clues, Suspect, rank, words_of};
pub use search::{Outcomes, Step, bisect, next};
