use std::collections::HashMap;
use std::sync::Arc;

use gix::index::entry::{Mode, Stage};

use super::index::blob_id;
use super::pool::Pool;
use super::{GitError, Repository};
use crate::model::{BlobId, RepoPath};
use crate::source::{Entry, EntryKind, Listing, MAX_READ_BYTES, ReadError, Skipped, Source};

/// The files that the index records.
pub struct IndexSource {
    repo: Pool,
    listing: Listing,
    ids: HashMap<RepoPath, gix::ObjectId>,
}

impl Repository {
    /// The files that the index records. Entries of an unfinished merge are left out.
    ///
    /// # Errors
    /// [`GitError::Unreadable`] for a damaged index.
    pub fn index_source(&self) -> Result<IndexSource, GitError> {
        let repo = self.local();
        let index = repo.index_or_empty().map_err(GitError::unreadable)?;
        let mut ids = HashMap::with_capacity(index.entries().len());
        let mut entries = Vec::with_capacity(index.entries().len());
        let mut skipped = Vec::new();
        for entry in index.entries() {
            let name = entry.path(&index);
            if entry.stage() != Stage::Unconflicted {
                continue;
            }
            let path = std::str::from_utf8(name)
                .ok()
                .and_then(|text| RepoPath::new(text).ok());
            let Some(path) = path else {
                skipped.push(Skipped {
                    lossy_path: String::from_utf8_lossy(name).into_owned(),
                    reason: "its name is not UTF-8".to_owned(),
                });
                continue;
            };
            let kind = if entry.mode == Mode::COMMIT {
                let commit = Some(entry.id.to_string());
                EntryKind::Submodule { commit }
            } else if entry.mode == Mode::SYMLINK {
                let target = repo
                    .find_blob(entry.id)
                    .map(|blob| String::from_utf8_lossy(&blob.data).into_owned())
                    .unwrap_or_default();
                EntryKind::Symlink { target }
            } else {
                ids.insert(path.clone(), entry.id);
                let executable = entry.mode == Mode::FILE_EXECUTABLE;
                EntryKind::File { executable }
            };
            // The size is looked up when the file is read.
            entries.push(Entry {
                path,
                kind,
                bytes: u64::from(entry.stat.size),
            });
        }
        drop(index);
        Ok(IndexSource {
            repo: Pool::new(repo.into_sync()),
            listing: Listing::new(entries, skipped),
            ids,
        })
    }
}

impl Source for IndexSource {
    fn listing(&self) -> &Listing {
        &self.listing
    }

    fn read(&self, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
        let id = match self.ids.get(path) {
            Some(id) => *id,
            None if self.listing.get(path.as_str()).is_some() => return Err(ReadError::NotAFile),
            None => return Err(ReadError::NotFound),
        };
        // Where the index records a size there is no need to look for one.
        let io = |error: gix::Error| ReadError::Io(error.to_string());
        let recorded = self.listing.get(path.as_str()).map_or(0, |it| it.bytes);
        self.repo.with(|repo| {
            let bytes = match recorded {
                0 => repo.find_header(id).map_err(io)?.size(),
                recorded => recorded,
            };
            if bytes > MAX_READ_BYTES {
                return Err(ReadError::TooLarge {
                    bytes,
                    limit: MAX_READ_BYTES,
                });
            }
            let blob = repo.find_blob(id).map_err(io)?;
            Ok(blob.data.as_slice().into())
        })
    }

    fn blob_id(&self, path: &RepoPath) -> Option<BlobId> {
        self.ids.get(path).copied().and_then(blob_id)
    }
}
