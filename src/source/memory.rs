//! A source of files in memory.

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

    /// The same by names. What is no path inside a repository is listed as skipped.
    pub fn named<P: AsRef<str>, B: Into<Vec<u8>>>(files: impl IntoIterator<Item = (P, B)>) -> Self {
        let (mut taken, mut skipped) = (Vec::new(), Vec::new());
        for (path, bytes) in files {
            match RepoPath::new(path.as_ref()) {
                Ok(path) => taken.push((path, bytes.into())),
                Err(problem) => skipped.push(Skipped {
                    lossy_path: path.as_ref().to_owned(),
                    reason: problem.to_string(),
                }),
            }
        }
        Self::with_skipped(taken, skipped)
    }

    fn with_skipped(
        files: impl IntoIterator<Item = (RepoPath, Vec<u8>)>,
        skipped: Vec<Skipped>,
    ) -> Self {
        let files: BTreeMap<RepoPath, Arc<[u8]>> =
            files.into_iter().map(|(path, bytes)| (path, bytes.into())).collect();
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
        self.files.get(path).map(|bytes| BlobId::from_content(bytes))
    }
}
