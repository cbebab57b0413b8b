//! Bytes to a [`PatchSet`](super::PatchSet), whatever the format.

mod amid;
mod binary;
mod blocks;
mod claims;
mod clean;
mod command;
mod diff;
mod envelope;
mod fence;
mod fenced;
mod file_line;
mod hunk;
mod json;
mod keys;
mod reader;
mod thoughts;

pub(super) use binary::ALPHABET;
pub(super) use binary::git_binary;
pub(super) use hunk::parse_range;
pub use reader::read;
pub use thoughts::without_thoughts;
