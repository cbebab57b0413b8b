//! Validation of one patch: read, resolve, place, check, emit.

mod checks;
mod facade;
mod options;
mod pipeline;
mod report;
mod section;
#[cfg(feature = "program")]
mod three_way;

pub use facade::Judge;
pub use options::{After, JudgeOptions, Judged};
pub use pipeline::judge;
pub(super) use section::read_original;
#[cfg(feature = "program")]
pub use three_way::{judge_merged, merge_change};
