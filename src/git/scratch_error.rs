use std::io;

use super::GitError;
use crate::model::RepoPath;
use crate::source::ReadError;

/// Why a scratch copy cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// The disk refused.
    #[error("cannot write the scratch copy `{path}`: {kind}")]
    Io {
        /// The path.
        path: String,
        /// What the system said.
        kind: io::ErrorKind,
    },
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
