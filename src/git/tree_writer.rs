use gix::objs::tree::EntryKind;

use super::index::object_id;
use super::repository::{commit_of, tree_of};
use super::{GitError, IndexChange, Repository};

/// A commit to write.
#[derive(Debug, Clone, Copy)]
pub struct CommitRequest<'a> {
    /// Hex id of its tree.
    pub tree: &'a str,
    /// The revision it stands on.
    pub parent: &'a str,
    /// Its message.
    pub message: &'a str,
}

impl Repository {
    /// Writes the tree of `base` with changes, and gives its id. No ref, index or file changes.
    ///
    /// # Errors
    /// [`GitError::Revision`] for an unknown base, [`GitError::Unreadable`] when objects cannot be
    /// read or written.
    pub fn write_tree(&self, base: &str, changes: &[IndexChange]) -> Result<String, GitError> {
        let repo = self.local();
        let tree = tree_of(&repo, base)?;
        let mut editor = repo.edit_tree(tree.id).map_err(GitError::unreadable)?;
        for change in changes.iter().filter(|change| change.entry.is_none()) {
            editor
                .remove_leaf(change.path.as_str())
                .map_err(GitError::unreadable)?;
        }
        for change in changes {
            let Some((id, mode)) = change.entry else {
                continue;
            };
            editor
                .upsert(change.path.as_str(), tree_kind(mode), object_id(id))
                .map_err(GitError::unreadable)?;
        }
        let id = editor.write().map_err(GitError::unreadable)?;
        Ok(id.to_string())
    }

    /// Writes a commit and gives its id. No ref changes.
    ///
    /// # Errors
    /// [`GitError::Revision`] for an unknown parent, [`GitError::Unreadable`] when nobody is known
    /// to be the author or the object cannot be written.
    pub fn write_commit(&self, request: &CommitRequest<'_>) -> Result<String, GitError> {
        let repo = self.local();
        let parent = commit_of(&repo, request.parent)?;
        let tree =
            gix::ObjectId::from_hex(request.tree.as_bytes()).map_err(GitError::unreadable)?;
        let commit = repo
            .new_commit(request.message, tree, Some(parent.id))
            .map_err(GitError::unreadable)?;
        Ok(commit.id.to_string())
    }
}

/// git's mode of a file or link as a tree keeps it.
pub(super) fn tree_kind(mode: u32) -> EntryKind {
    match mode {
        0o120_000 => EntryKind::Link,
        0o100_755 => EntryKind::BlobExecutable,
        _ => EntryKind::Blob,
    }
}
