use std::fmt;
use std::sync::Arc;

use super::Listing;
use crate::model::{BlobId, RepoPath};

/// A tree of files: a worktree, a commit, an index, a map in memory, or edits on top of another.
///
/// Implementations answer from one frozen listing, so the same source gives the same answers
/// while it lives. Nothing here follows a symlink or runs a program.
pub trait Source: Sync {
    /// Every entry, sorted by path bytes.
    fn listing(&self) -> &Listing;

    /// The bytes of a regular file.
    ///
    /// # Errors
    /// A [`ReadError`] that says why there are none.
    fn read(&self, path: &RepoPath) -> Result<Arc<[u8]>, ReadError>;

    /// The git blob id of the file's bytes, without reading them when something else knows it.
    /// `None` for what is not a readable regular file.
    fn blob_id(&self, path: &RepoPath) -> Option<BlobId>;
}

impl<T: Source + ?Sized> Source for Box<T> {
    fn listing(&self) -> &Listing {
        (**self).listing()
    }

    fn read(&self, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
        (**self).read(path)
    }

    fn blob_id(&self, path: &RepoPath) -> Option<BlobId> {
        (**self).blob_id(path)
    }
}

/// Why a file's bytes are not to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    /// No such entry.
    NotFound,
    /// The entry is a symlink, submodule, directory, pipe or device.
    NotAFile,
    /// The file is larger than anything a packet or parser takes.
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The system or the object database refused.
    Io(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("there is no such file"),
            Self::NotAFile => f.write_str("it is not a regular file"),
            Self::TooLarge { bytes, limit } => write!(f, "it has {bytes} bytes, more than {limit}"),
            Self::Io(said) => f.write_str(said),
        }
    }
}

impl std::error::Error for ReadError {}

/// Files above this size are listed and never read whole.
pub const MAX_READ_BYTES: u64 = 64 * 1024 * 1024;
