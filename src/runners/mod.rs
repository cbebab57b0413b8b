//! Floor 1: what the runners of tests take. Pure: from a command and tests that failed to the command
//! that runs these alone.

mod choose;

pub use choose::chosen;
