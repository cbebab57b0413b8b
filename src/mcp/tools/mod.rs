//! The tools of the MCP server: a table of them, and one file for each kind.

mod context;
mod diagnose;
mod hint;
mod imports;
mod patch;
mod table;
mod tests;

pub(super) use table::TOOLS;
