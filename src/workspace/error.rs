use std::path::PathBuf;

use crate::git::GitError;
use crate::model::Code;
use crate::source::ReadError;

/// Why there is nothing to work on.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The directory is not there, or may not be entered.
    #[error("cannot enter `{}`: {reason}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        reason: std::io::ErrorKind,
    },
    /// A commit or the index was asked for, outside a repository.
    #[error("`{}` is not in a git repository", path.display())]
    NoGit {
        /// The directory.
        path: PathBuf,
    },
    /// The repository cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The directory cannot be listed.
    #[error("cannot read the directory: {0}")]
    Read(#[from] ReadError),
}

impl WorkspaceError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Directory { .. } => Code::U304,
            Self::NoGit { .. } => Code::U204,
            Self::Git(GitError::Revision { .. }) => Code::U201,
            Self::Git(GitError::Bare) => Code::U202,
            Self::Git(GitError::Unreadable(_)) => Code::U203,
            Self::Read(_) => Code::U301,
        }
    }
}
