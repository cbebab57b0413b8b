//! Layer 1: what this program keeps between its runs, where no repository, no command and no agent can write.
//!
//! [`StateHome`] is a folder of this user's own, closed to others; in it each worktree has a [`RepositoryState`]. That holds
//! the [`Runs`], one folder for each, the isolated copy in which commands run, and a cache.
//!
//! The cache is a set of [`Store`]s: sixteen files each, to which a run appends its new values. A key is the id of the bytes
//! that a value was computed from, so nothing has to be invalidated. A store of another release is thrown away, a full or
//! damaged file starts anew, and a folder that cannot be written is an empty store. [`Known`] is the three stores there are:
//! facts of files, their outlines, and what commits changed.

mod error;
mod home;
mod runs;
mod store;

pub use error::StateError;
pub use home::{RepositoryState, StateHome};
pub use runs::{RunId, Runs};
pub use store::{Key, Known, Store};
