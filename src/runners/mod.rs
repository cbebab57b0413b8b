//! Layer 1: what the runners of tests take and say. Pure: from a command and tests that failed to the command
//! that runs these alone, and to the one that runs those beside them; from what was printed to the counts that
//! each runner closes with.

mod choose;
mod pattern;
mod programs;
mod summaries;

pub(crate) use pattern::{Cues, Pattern, compile_regex, pattern};

pub use choose::{WithOthers, choose_command, container_of, with_others};
pub(crate) use programs::is_python_tool;
pub use programs::missing_program;
pub(crate) use summaries::counts;
pub use summaries::{Closing, find_closings, is_checker};
