//! Changes to disk: all of them or none, whatever happens on the way.

mod directory;
mod error;
mod journal;
mod worktree;

pub(super) use directory::Directory;
pub use error::WriteError;
pub(super) use error::is_absent;
pub use journal::{Recovered, is_interrupted, recover};
pub use worktree::write_worktree;
