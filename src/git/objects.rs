pub use gix::merge::blob::builtin_driver::text::Conflict as MergeConflict;
use gix::merge::blob::builtin_driver::text::{Labels, Options};

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

    /// Merges what leads from `base` to `theirs` into `ours`, with conflicts settled or else marked as the
    /// configuration says; gives the text, and whether conflicts are left.
    #[must_use]
    pub fn merge_texts(
        &self,
        [ours, base, theirs]: [&[u8]; 3],
        settled: Option<MergeConflict>,
    ) -> (Vec<u8>, bool) {
        let options = self.local().blob_merge_options();
        let mut options = options.map_or_else(|_| Options::default(), |options| options.text);
        options.conflict = settled.unwrap_or(options.conflict);
        let labels = Labels {
            ancestor: Some("base".into()),
            current: Some("ours".into()),
            other: Some("theirs".into()),
        };
        let (mut out, mut input) = (Vec::new(), gix::diff::blob::InternedInput::default());
        let resolution = gix::merge::blob::builtin_driver::text(
            &mut out, &mut input, labels, ours, base, theirs, options,
        );
        (out, resolution == gix::merge::blob::Resolution::Conflict)
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
