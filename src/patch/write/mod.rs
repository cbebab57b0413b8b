//! Changes to disk: all of them or none, whatever happens on the way.

mod directory;
mod journal;
mod worktree;

pub(super) use directory::Directory;
pub use journal::{Recovered, is_interrupted, recover};
pub use worktree::{WriteError, write_worktree};
