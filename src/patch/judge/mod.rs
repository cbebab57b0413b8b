//! Validation of one patch: read, resolve, place, check, emit.

mod checks;
mod facade;
mod options;
mod pipeline;
mod report;
mod section;

pub use facade::Judge;
pub use options::{After, JudgeOptions, Judged};
pub use pipeline::judge;
