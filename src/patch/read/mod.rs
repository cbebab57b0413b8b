//! Bytes to a [`PatchSet`](super::PatchSet), whatever the format.

mod alternatives;
mod amid;
mod binary;
mod blocks;
mod calls;
mod claims;
mod clean;
mod command;
mod diff;
mod duplicates;
mod envelope;
mod fence;
mod fenced;
mod file_line;
mod hunk;
mod json;
#[cfg(test)]
mod json_table;
mod keys;
mod literal;
mod name;
mod reader;
mod thoughts;
mod turns;
mod wrapping;
mod xml;

pub(super) use binary::ALPHABET;
#[cfg(feature = "program")]
pub(super) use binary::git_binary;
pub(super) use fenced::is_markdown;
#[cfg(feature = "program")]
pub(super) use hunk::range;
pub(super) use name::{name, quoted};
use reader::problem;
pub use reader::{ReadOptions, read};
pub use thoughts::without_thoughts;
