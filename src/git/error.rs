/// What went wrong with a repository, by what a person can do about it.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The revision names nothing, or nothing with files.
    #[error("`{revision}` is not a revision of this repository: {reason}")]
    Revision {
        /// As the caller wrote it.
        revision: String,
        /// The library's words.
        reason: String,
    },
    /// The repository has no worktree, and one is needed.
    #[error("this repository is bare: it has no worktree")]
    Bare,
    /// The repository is there and cannot be read.
    #[error("cannot read the git repository: {0}")]
    Unreadable(String),
}

impl GitError {
    pub(super) fn unreadable(error: impl std::fmt::Display) -> Self {
        Self::Unreadable(error.to_string())
    }
}
