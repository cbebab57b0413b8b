use gix::merge::blob::Resolution;
use gix::merge::blob::builtin_driver::text::{Conflict, ConflictStyle, Labels, Options};

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

/// What becomes of conflicts in a merge of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conflicts {
    /// They are marked with both sides.
    Mark,
    /// They are marked with both sides and what they came from.
    MarkWithBase,
    /// The same, with common lines at the edges outside the marks.
    MarkZealously,
    /// Our side is taken.
    Ours,
    /// Their side is taken.
    Theirs,
    /// Both are taken, one after the other.
    Union,
}

/// Merges what leads from `base` to `theirs` into `ours`; gives the text, and whether it has
/// conflicts left.
#[must_use]
pub fn merge_texts(
    ours: &[u8],
    base: &[u8],
    theirs: &[u8],
    conflicts: Conflicts,
) -> (Vec<u8>, bool) {
    let marked = |style| match Conflict::default() {
        Conflict::Keep { marker_size, .. } => Conflict::Keep { style, marker_size },
        other => other,
    };
    let conflict = match conflicts {
        Conflicts::Mark => marked(ConflictStyle::Merge),
        Conflicts::MarkWithBase => marked(ConflictStyle::Diff3),
        Conflicts::MarkZealously => marked(ConflictStyle::ZealousDiff3),
        Conflicts::Ours => Conflict::ResolveWithOurs,
        Conflicts::Theirs => Conflict::ResolveWithTheirs,
        Conflicts::Union => Conflict::ResolveWithUnion,
    };
    let labels = Labels {
        ancestor: Some("base".into()),
        current: Some("ours".into()),
        other: Some("theirs".into()),
    };
    let options = Options {
        conflict,
        ..Options::default()
    };
    let mut out = Vec::new();
    let mut input = gix::diff::blob::InternedInput::default();
    let resolution = gix::merge::blob::builtin_driver::text(
        &mut out, &mut input, labels, ours, base, theirs, options,
    );
    (out, resolution == Resolution::Conflict)
}

#[cfg(test)]
mod tests {
    use super::{Conflicts, merge_texts};

    #[test]
    fn merges_and_marks() {
        let merge = |how| merge_texts(b"1\na\n3\n", b"1\n2\n3\n", b"1\nb\n3\n", how);
        let (text, left) = merge(Conflicts::Mark);
        assert!(left);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "1\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n3\n"
        );
        assert_eq!(merge(Conflicts::Theirs), (b"1\nb\n3\n".to_vec(), false));
        assert_eq!(merge(Conflicts::Union), (b"1\na\nb\n3\n".to_vec(), false));
    }
}
