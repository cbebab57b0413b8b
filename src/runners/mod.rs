//! Floor 1: what the runners of tests take and say. Pure: from a command and tests that failed to the command
//! that runs these alone, and to the one that runs those beside them; from what was printed to the counts that
//! each runner closes with.

mod choose;
mod summaries;

pub use choose::{WithOthers, chosen, with_others};
pub use summaries::{Closing, closings};
