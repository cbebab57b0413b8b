//! Floor 2: the only module that names gix. Opens repositories and turns what is in them into
//! [`Source`](crate::source::Source)s; runs no program, whatever git configuration says.

mod attributes;
mod diff;
mod disk_entry;
mod error;
mod guard;
mod history;
mod index;
mod merge;
mod objects;
mod repository;
mod scratch;
mod scratch_fill;
mod scratch_repository;
mod staging;
mod tree;

pub use attributes::{Attribute, Attributes};
pub use diff::{changed_lines, unified_hunks};
pub use disk_entry::{Stamp, open_folder, remove_entry, write_entry};
pub use error::{GitError, ScratchError};
pub use history::Step;
pub use index::IndexChange;
pub use merge::MergeConflict;
pub use repository::Repository;
pub use scratch::{Scratch, ScratchPlan};
pub use scratch_repository::first_commit;
pub use staging::{Staged, Staging};
pub use tree::TreeSource;
