//! The interface of a source: a frozen listing and the bytes of its files.

use std::sync::Arc;

use super::{Entry, Listing};
use crate::model::{BlobId, RepoPath};

/// A tree of files: a worktree, a commit, an index, a map in memory, or edits on top of another.
///
/// Implementations answer from one frozen listing, so the same source gives the same answers
/// while it lives. Nothing here follows a symlink or runs a program.
pub trait Source: Sync {
    /// Every entry, sorted by path bytes.
    fn listing(&self) -> &Listing;

    /// The entry at exactly this path, without listing all where something else knows it.
    fn entry(&self, path: &str) -> Option<Entry> {
        self.listing().get(path).cloned()
    }

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

    fn entry(&self, path: &str) -> Option<Entry> {
        (**self).entry(path)
    }

    fn read(&self, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
        (**self).read(path)
    }

    fn blob_id(&self, path: &RepoPath) -> Option<BlobId> {
        (**self).blob_id(path)
    }
}

/// Why a file's bytes are not available.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// No such entry.
    #[error("there is no such file")]
    NotFound,
    /// The entry is a symlink, submodule, directory, pipe or device.
    #[error("it is not a regular file")]
    NotAFile,
    /// The file is larger than anything a packet or parser takes.
    #[error("it has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The system or the object database refused.
    #[error("{0}")]
    Io(String),
}

/// Files above this size are listed and never read whole.
pub const MAX_READ_BYTES: u64 = 64 * 1024 * 1024;
