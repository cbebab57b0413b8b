//! The table of rules, one file per group of tools.
//!
//! The weight says how near to the root cause a line stands: 90 and more ended the process, 75 to
//! 89 kept the work from starting (configuration, syntax), 65 to 74 are imports and outside
//! services with exact words, 50 to 64 are typed errors, 40 to 49 errors at run time, 25 to 39
//! failed expectations and style, below that wrappers that only pass a failure on.

mod checkers;
mod environment;
mod javascript;
mod packages;
mod patches;
mod python;
mod tables;
mod testing;

pub(super) use tables::ENGINE;
use tables::{rules, word};
