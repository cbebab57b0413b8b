//! Floor 2: the only module that names gix. Opens repositories and turns what is in them into
//! [`Source`](crate::source::Source)s; runs no program, whatever git configuration says.

mod diff;
mod error;
mod history;
mod index;
mod repository;
mod tree;

pub use diff::unified_hunks;
pub use error::GitError;
pub use history::Change;
pub use repository::Repository;
pub use tree::TreeSource;
