//! Floor 1: what the runners of tests take. Pure: from a command and tests that failed to the command
//! that runs these alone, and to the one that runs those beside them.

mod choose;

pub use choose::{WithOthers, chosen, with_others};
