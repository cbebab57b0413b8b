//! The files of a commit, tree or index as a source.

use std::collections::HashMap;
use std::sync::Arc;

use gix::objs::tree::EntryKind as GitKind;

use super::GitError;
use super::index::{blob_id, path_of};
use super::repository::{Pool, tree_of};
use crate::model::{BlobId, RepoPath};
use crate::parallel;
use crate::source::{Entry, EntryKind, Listing, MAX_READ_BYTES, ReadError, Skipped, Source};

/// The files of one tree object (a commit, a tag or a tree) or of the index.
pub struct TreeSource {
    repo: Pool,
    listing: Listing,
    ids: HashMap<RepoPath, gix::ObjectId>,
}

impl TreeSource {
    pub(super) fn open(repo: &gix::ThreadSafeRepository, revision: &str) -> Result<Self, GitError> {
        let local = repo.to_thread_local();
        let found = tree_of(&local, revision)?
            .traverse()
            .breadthfirst
            .files()
            .map_err(GitError::unreadable)?;

        let entries = found.into_iter();
        let entries = entries.map(|entry| (entry.filepath.into(), entry.mode.kind(), entry.oid));
        Ok(Self::new(repo, entries))
    }

    /// The files of some rows of a tree or an index: names, kinds and ids.
    pub(super) fn new(
        repo: &gix::ThreadSafeRepository,
        found: impl Iterator<Item = (Vec<u8>, GitKind, gix::ObjectId)>,
    ) -> Self {
        let mut skipped = Vec::new();
        let mut ids = HashMap::new();
        let mut rows = Vec::new();
        for (name, kind, id) in found.filter(|(_, kind, _)| *kind != GitKind::Tree) {
            let Some(path) = path_of(&name) else {
                skipped.push(Skipped::unnamed(String::from_utf8_lossy(&name)));
                continue;
            };
            ids.insert(path.clone(), id);
            rows.push((path, kind, id));
        }
        let repo = Pool::new(repo.clone());
        let entries = parallel::map(rows, |(path, kind, id)| {
            repo.with(|repo| entry_of(repo, path, kind, id))
        });
        Self {
            repo,
            listing: Listing::new(entries, skipped),
            ids,
        }
    }
}

// A blob that a partial or damaged clone lacks is listed as not checked out.
fn entry_of(repo: &gix::Repository, path: RepoPath, kind: GitKind, id: gix::ObjectId) -> Entry {
    let (kind, bytes) = match kind {
        GitKind::Blob | GitKind::BlobExecutable => match repo.find_header(id) {
            Ok(header) => {
                let executable = kind == GitKind::BlobExecutable;
                (EntryKind::File { executable }, header.size())
            }
            Err(_) => (EntryKind::NotCheckedOut, 0),
        },
        GitKind::Link => {
            let target = repo
                .find_blob(id)
                .map(|blob| String::from_utf8_lossy(&blob.data).into_owned())
                .unwrap_or_default();
            (EntryKind::Symlink { target }, 0)
        }
        GitKind::Commit => {
            let commit = Some(id.to_string());
            (EntryKind::Submodule { commit }, 0)
        }
        GitKind::Tree => (EntryKind::Special, 0),
    };
    Entry { path, kind, bytes }
}

impl Source for TreeSource {
    fn listing(&self) -> &Listing {
        &self.listing
    }

    fn read(&self, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
        let entry = self.listing.get(path.as_str()).ok_or(ReadError::NotFound)?;
        if !matches!(entry.kind, EntryKind::File { .. }) {
            return Err(ReadError::NotAFile);
        }
        if entry.bytes > MAX_READ_BYTES {
            return Err(ReadError::TooLarge {
                bytes: entry.bytes,
                limit: MAX_READ_BYTES,
            });
        }
        let id = self.ids.get(path).ok_or(ReadError::NotFound)?;
        self.repo.with(|repo| {
            let blob = repo.find_blob(*id).map_err(|error| ReadError::Io(error.to_string()))?;
            Ok(blob.data.as_slice().into())
        })
    }

    fn blob_id(&self, path: &RepoPath) -> Option<BlobId> {
        self.listing
            .has_file(path.as_str())
            .then(|| self.ids.get(path).copied().and_then(blob_id))
            .flatten()
    }
}
