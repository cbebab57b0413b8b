use super::index::blob_id;
use super::{GitError, Repository};
use crate::model::BlobId;

impl Repository {
    /// The blob with this hex id, of at least seven digits; never fetches what is missing.
    #[must_use]
    pub fn find_blob(&self, hex: &str) -> Option<Vec<u8>> {
        let is_id =
            (7..=40).contains(&hex.len()) && hex.bytes().all(|digit| digit.is_ascii_hexdigit());
        if !is_id {
            return None;
        }
        let repo = self.local();
        let object = repo.rev_parse_single(hex).ok()?.object().ok()?;
        Some(object.try_into_blob().ok()?.take_data())
    }

    /// Stores a blob.
    ///
    /// # Errors
    /// [`GitError::Unreadable`] when the database cannot be written.
    pub fn store_blob(&self, bytes: &[u8]) -> Result<BlobId, GitError> {
        write_blob(&self.local(), bytes)
    }
}

/// Stores a blob in a repository of this thread.
pub(super) fn write_blob(repo: &gix::Repository, bytes: &[u8]) -> Result<BlobId, GitError> {
    let id = repo.write_blob(bytes).map_err(GitError::unreadable)?;
    blob_id(id.detach())
        .ok_or_else(|| GitError::Unreadable("the repository does not use SHA-1".to_owned()))
}
