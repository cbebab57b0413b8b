//! `git apply` by git's own rules: what it reads, where it places hunks, what it says.

mod check;
mod data;
mod destination;
mod hunks;
mod line_ends;
mod merge;
mod messages;
mod options;
mod place;
mod reader;
mod report;
mod run;
mod table;
mod write;

pub use options::{GitApplyOptions, Verbosity, WhiteSpace};
pub use run::GitApply;
