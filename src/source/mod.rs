//! Layer 1: where the bytes of a repository come from, behind one trait.
//!
//! A [`Source`] has a [`Listing`], frozen when it was opened, the bytes of each file, and git's id of those bytes. There are
//! four: [`Worktree`], the files on disk; [`Memory`], for tests and for callers without a disk; [`Overlay`], edits on top of
//! another source, which is how a patch is looked at before it is written; and `git::TreeSource`, a commit or the index.
//!
//! No implementation follows a symbolic link, reads a pipe or runs a program, and what git ignores is not listed.
//! [`Installed`] is apart from that: it looks up packages by name in `node_modules` and `site-packages`.

mod consoles;
#[cfg(feature = "program")]
mod ignored;
mod installed;
mod listing;
mod memory;
mod overlay;
mod read;
#[cfg(feature = "program")]
mod worktree;

pub use consoles::{undo_code_page, without_colors};
#[cfg(feature = "program")]
pub use ignored::Ignored;
pub use installed::{Distribution, Installed, interpreter_version};
pub use listing::{Entry, EntryKind, Listing, Skipped};
pub use memory::Memory;
pub use overlay::Overlay;
pub use read::{MAX_READ_BYTES, ReadError, Source};
#[cfg(feature = "program")]
pub use worktree::{Tracked, TrackedKind, Untracked, Worktree};
