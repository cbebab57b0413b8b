//! One patch against one source: every section in turn, then all of them together.

mod facade;
mod finish;
mod group;
mod options;
mod run;
mod section;

pub use facade::Judge;
pub use options::{After, JudgeOptions, Judged, Objects};
pub use run::judge;
