//! The errors of reading a repository.

use crate::model::{PathError, RepoPath};
use crate::source::ReadError;

/// What went wrong with a repository, by what a person can do about it.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The revision names nothing, or nothing with files, in the library's words.
    #[error("`{0}` is not a revision of this repository: {1}")]
    Revision(String, String),
    /// The repository has no worktree, and one is needed.
    #[error("this repository is bare: it has no worktree")]
    Bare,
    /// The repository is there and cannot be read.
    #[error("cannot read the git repository: {0}")]
    Unreadable(String),
    /// Another process writes the index, or left its lock.
    #[error("the index of the repository is locked: {0}")]
    Locked(String),
}

impl GitError {
    /// A revision that a shallow clone lacks is distinguished from one that nobody has.
    pub(super) fn revision(
        repository: &gix::Repository,
        revision: &str,
        error: &dyn std::fmt::Display,
    ) -> Self {
        let reason = if repository.is_shallow().unwrap_or(false) {
            "the clone is shallow, so older commits are not here; `git fetch --unshallow` \
             fetches them"
                .to_owned()
        } else {
            error.to_string()
        };
        Self::Revision(revision.to_owned(), reason)
    }

    pub(super) fn unreadable(error: impl std::fmt::Display) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// Why a scratch copy cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// The disk refused.
    #[error("cannot write the scratch copy {0}")]
    Disk(#[from] PathError),
    /// A file of the original cannot be copied.
    #[error("cannot copy `{path}`: {source}")]
    Read {
        /// The path.
        path: RepoPath,
        /// Why.
        source: ReadError,
    },
    /// The copy's repository refused.
    #[error(transparent)]
    Git(#[from] GitError),
}
