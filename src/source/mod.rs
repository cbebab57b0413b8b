//! Floor 1: where the bytes of a repository come from, behind one trait.

mod ignored;
mod listing;
mod memory;
mod overlay;
mod read;
mod read_file;
mod worktree;

pub use ignored::Ignored;
pub use listing::{Entry, EntryKind, Listing, Skipped};
pub use memory::Memory;
pub use overlay::Overlay;
pub use read::{MAX_READ_BYTES, ReadError, Source};
pub use worktree::{Tracked, TrackedKind, Untracked, Worktree};
