//! Floor 1: where the bytes of a repository come from, behind one trait.

#[cfg(feature = "program")]
mod ignored;
mod installed;
mod listing;
mod memory;
mod overlay;
mod read;
#[cfg(feature = "program")]
mod worktree;

#[cfg(feature = "program")]
pub use ignored::Ignored;
pub use installed::Installed;
pub use listing::{Entry, EntryKind, Listing, Skipped};
pub use memory::Memory;
pub use overlay::Overlay;
pub use read::{MAX_READ_BYTES, ReadError, Source};
#[cfg(feature = "program")]
pub use worktree::{Tracked, TrackedKind, Untracked, Worktree};
