//! Floor 7: the loop. What to do next is data ([`next`]); the rest performs it and writes it down.

mod plan;
#[cfg(test)]
mod plan_table;
mod split;
mod task;

pub use plan::{
    End, History, MAX_ESTIMATED_TURNS, MAX_HEALS, MAX_REQUESTS, MAX_SPLIT_DEPTH, Policy, SplitEnd,
    Step, next, standing,
};
pub use split::{MAX_PARTS, Part, Split, SplitInput, split};
pub use task::{Estimate, Task};
