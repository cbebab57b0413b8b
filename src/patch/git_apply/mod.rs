//! `git apply` by git's own rules: what it reads, where it places hunks, what it says.

mod ancestor;
mod binary;
mod check;
mod data;
mod done;
mod ground;
mod header;
mod hunks;
mod image;
mod line_ends;
mod naming;
mod options;
mod place;
mod reader;
mod report;
mod run;
mod said;
mod section;
mod table;
mod three_way;
mod white_space;
mod write;

pub use options::{Favour, GitApplyOptions, Limit, Verbosity, WhiteSpace};
pub use run::{GitApplied, GitApply};
