//! The tools: a table, one file for each kind.

mod context;
mod diagnose;
mod explain;
mod hint;
mod imports;
mod patch;
mod redact;
mod table;

pub(super) use table::TOOLS;
