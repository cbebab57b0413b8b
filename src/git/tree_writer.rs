//! Writes trees and commits, and nothing that points to them.

use super::index::object_id;
use super::repository::{commit_of, tree_of};
use super::scratch_repository::tree_kind;
use super::{GitError, IndexChange, Repository};

impl Repository {
    /// Writes the tree of `base` with changes, and gives its id. No ref, index or file changes.
    ///
    /// # Errors
    /// [`GitError::Revision`] for an unknown base, [`GitError::Unreadable`] when objects cannot be read or written.
    pub fn write_tree(&self, base: &str, changes: &[IndexChange]) -> Result<String, GitError> {
        let repo = self.local();
        let tree = tree_of(&repo, base)?;
        let mut editor = repo.edit_tree(tree.id).map_err(GitError::unreadable)?;
        // Removed first, so that a folder can take the place of a file.
        for change in changes.iter().filter(|change| change.entry.is_none()) {
            let removed = editor.remove_leaf(change.path.as_str());
            removed.map_err(GitError::unreadable)?;
        }
        for change in changes {
            if let Some((id, mode)) = change.entry {
                let added = editor.upsert(change.path.as_str(), tree_kind(mode), object_id(id));
                added.map_err(GitError::unreadable)?;
            }
        }
        let id = editor.write().map_err(GitError::unreadable)?;
        Ok(id.to_string())
    }

    /// Writes a commit of a tree on top of `parent`, and gives its id. No ref changes.
    ///
    /// # Errors
    /// [`GitError::Revision`] for an unknown parent, [`GitError::Unreadable`] when the author is unknown or the object
    /// cannot be written.
    pub fn write_commit(
        &self,
        tree: &str,
        parent: &str,
        message: &str,
    ) -> Result<String, GitError> {
        let repo = self.local();
        let parent = commit_of(&repo, parent)?;
        let tree = gix::ObjectId::from_hex(tree.as_bytes()).map_err(GitError::unreadable)?;
        let commit = repo.new_commit(message, tree, Some(parent.id));
        Ok(commit.map_err(GitError::unreadable)?.id.to_string())
    }
}
