//! The tools: a table, one file for each kind.

mod context;
mod diagnose;
mod explain;
mod hint;
mod imports;
mod patch;
mod redact;
mod table;
mod tests;

pub(super) use table::TOOLS;
