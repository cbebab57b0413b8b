use std::path::Path;
use std::sync::Arc;

use super::read_file::{Root, read_regular};
use super::worktree::entry_at;
use super::{Entry, EntryKind, Listing, ReadError, Source};
use crate::model::{BlobId, RepoPath};

/// Only the named files below a directory, ignored or not, and what stands in their way.
pub struct Named {
    root: Root,
    listing: Listing,
}

impl Named {
    /// Looks at each path, and at the directories above it up to the first that is none.
    ///
    /// # Errors
    /// [`ReadError::Io`] when `root` cannot be opened as a directory.
    pub fn open(root: &Path, paths: &[RepoPath]) -> Result<Self, ReadError> {
        let handle = Root::open(root).map_err(|error| ReadError::Io(error.to_string()))?;
        let mut entries: Vec<Entry> = Vec::new();
        for path in paths {
            let mut above: Vec<&str> = path.ancestors().filter(|it| !it.is_empty()).collect();
            above.reverse();
            let blocked = above.into_iter().find_map(|directory| {
                let path = RepoPath::new(directory).ok()?;
                entry_at(root, &path)
            });
            entries.extend(blocked.or_else(|| entry_at(root, path)));
        }
        Ok(Self {
            root: handle,
            listing: Listing::new(entries, Vec::new()),
        })
    }
}

impl Source for Named {
    fn listing(&self) -> &Listing {
        &self.listing
    }

    fn read(&self, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
        match self.listing.get(path.as_str()) {
            None => Err(ReadError::NotFound),
            Some(entry) if !matches!(entry.kind, EntryKind::File { .. }) => {
                Err(ReadError::NotAFile)
            }
            Some(_) => read_regular(&self.root, path),
        }
    }

    fn blob_id(&self, path: &RepoPath) -> Option<BlobId> {
        self.read(path).ok().map(|bytes| BlobId::of(&bytes))
    }
}
