use super::index::{blob_id, object_id};
use super::repository::tree_of;
use super::{GitError, Repository};
use crate::model::BlobId;

/// The object database of a repository: contents by id. Never fetches what is missing.
pub struct ObjectStore {
    inner: gix::ThreadSafeRepository,
    tree: Option<gix::ObjectId>,
}

impl Repository {
    /// The object database; [`ObjectStore::committed`] tells of this revision, or of `HEAD`.
    #[must_use]
    pub fn objects(&self, revision: Option<&str>) -> ObjectStore {
        let local = self.local();
        let tree = tree_of(&local, revision.unwrap_or("HEAD"));
        ObjectStore {
            tree: tree.ok().map(|it| it.id),
            inner: local.into_sync(),
        }
    }

    /// Stores a blob.
    ///
    /// # Errors
    /// [`GitError::Unreadable`] when the database cannot be written.
    pub fn store_blob(&self, bytes: &[u8]) -> Result<BlobId, GitError> {
        let repo = self.local();
        let id = repo.write_blob(bytes).map_err(GitError::unreadable)?;
        blob_id(id.detach())
            .ok_or_else(|| GitError::Unreadable("the repository does not use SHA-1".to_owned()))
    }
}

impl ObjectStore {
    /// Whether there is an object with this id.
    #[must_use]
    pub fn has(&self, id: BlobId) -> bool {
        let id = object_id(id);
        self.inner.to_thread_local().has_object(id)
    }

    /// The blob with this hex id, of at least seven digits.
    #[must_use]
    pub fn find(&self, hex: &str) -> Option<Vec<u8>> {
        let is_id = (7..=40).contains(&hex.len()) && hex.bytes().all(|it| it.is_ascii_hexdigit());
        if !is_id {
            return None;
        }
        let repo = self.inner.to_thread_local();
        let mut blob = repo
            .rev_parse_single(hex)
            .ok()?
            .object()
            .ok()?
            .try_into_blob()
            .ok()?;
        Some(blob.take_data())
    }

    /// What the commit has at a path.
    #[must_use]
    pub fn committed(&self, path: &str) -> Option<Vec<u8>> {
        let repo = self.inner.to_thread_local();
        let tree = repo.find_tree(self.tree?).ok()?;
        let entry = tree.lookup_entry_by_path(path).ok()??;
        let blob = entry.mode().is_blob().then(|| entry.object().ok())??;
        Some(blob.try_into_blob().ok()?.take_data())
    }
}
