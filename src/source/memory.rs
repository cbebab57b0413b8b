use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Entry, EntryKind, Listing, ReadError, Skipped, Source};
use crate::model::{BlobId, RepoPath};

/// Files held in memory, for tests and for callers that have no repository on disk.
pub struct Memory {
    files: BTreeMap<RepoPath, Arc<[u8]>>,
    listing: Listing,
}

impl Memory {
    /// Takes the files as they are; none is executable.
    pub fn new(files: impl IntoIterator<Item = (RepoPath, Vec<u8>)>) -> Self {
        Self::with_skipped(files, Vec::new())
    }

    /// As [`Memory::new`], with what was given and could not be taken.
    pub fn with_skipped(
        files: impl IntoIterator<Item = (RepoPath, Vec<u8>)>,
        skipped: Vec<Skipped>,
    ) -> Self {
        let files: BTreeMap<RepoPath, Arc<[u8]>> = files
            .into_iter()
            .map(|(path, bytes)| (path, bytes.into()))
            .collect();
        let entries = files
            .iter()
            .map(|(path, bytes)| Entry {
                path: path.clone(),
                kind: EntryKind::File { executable: false },
                bytes: bytes.len() as u64,
            })
            .collect();
        Self {
            files,
            listing: Listing::new(entries, skipped),
        }
    }
}

impl Source for Memory {
    fn listing(&self) -> &Listing {
        &self.listing
    }

    fn read(&self, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
        self.files.get(path).cloned().ok_or(ReadError::NotFound)
    }

    fn blob_id(&self, path: &RepoPath) -> Option<BlobId> {
        self.files.get(path).map(|bytes| BlobId::of(bytes))
    }
}
