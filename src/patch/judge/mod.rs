//! One patch against one source: every section in turn, then all of them together.

mod copy;
mod finish;
mod group;
mod options;
mod run;
mod section;

pub use options::{JudgeOptions, Judged, Objects, judge};
pub(super) use run::Slot;
