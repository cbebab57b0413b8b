//! Layer 2: the only module that names gix. It runs no program, whatever a repository's configuration says.
//!
//! [`Repository`] is the way in: it is found from a folder upwards, after `guard` has looked at the files that gix would
//! read whole. A commit or the index becomes a [`TreeSource`], which the rest of the program reads as it reads a folder
//! (see [`Source`](crate::source::Source)). History is asked for in `history`: the changes of commits, newest first, and
//! the first-parent line. [`Staging`] changes the index in one step, under its lock.
//!
//! A [`Scratch`] is the copy of a worktree in which commands may do what they like: a repository of its own that borrows
//! the objects of the original and is brought back to its state between two trials. What is missing in a shallow or partial
//! clone is an answer, not an error.

mod attributes;
mod diff;
mod disk_entry;
mod error;
mod guard;
mod history;
mod index;
mod repository;
mod scratch;
mod scratch_fill;
mod scratch_repository;
mod staging;
mod tree;

pub use attributes::{Attribute, Attributes};
pub use diff::{MergeConflict, changed_lines, unified_hunks};
pub use disk_entry::{Stamp, open_folder, remove_entry, write_entry};
pub use error::{GitError, ScratchError};
pub use history::Step;
pub use index::IndexChange;
pub use repository::Repository;
pub use scratch::{Scratch, ScratchPlan};
pub use scratch_repository::first_commit;
pub use staging::{Staged, Staging};
pub use tree::TreeSource;
