//! Stages changes in the index and writes it in one step.

use std::collections::BTreeMap;
use std::io::BufWriter;
use std::path::Path;

use gix::index::entry::{Flags, Stage};

use super::index::{blob_id, index_mode, is_unchanged, object_id, stat_of};
use super::repository::{Pool, commit_of, tree_of, write_blob};
use super::scratch_repository::tree_kind;
use super::{GitError, IndexChange, Repository};
use crate::model::BlobId;

/// The index with changes that are not written yet, and the objects it names.
pub struct Staging {
    pool: Pool,
    index: gix::worktree::Index,
    stat_options: gix::index::entry::stat::Options,
    changes: BTreeMap<String, Vec<Staged>>,
    lock: Option<gix::lock::File>,
}

/// An entry of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Staged {
    /// The blob, or the commit of a submodule.
    pub id: BlobId,
    /// git's mode.
    pub mode: u32,
    /// 0, or the side of a conflict from 1 to 3.
    pub stage: u8,
    /// Recorded without content.
    pub intent_to_add: bool,
    /// The worktree has just got the same content.
    pub fresh: bool,
}

impl Staged {
    /// A blob that is in no conflict.
    pub fn new(id: BlobId, mode: u32) -> Self {
        Self {
            id,
            mode,
            stage: 0,
            intent_to_add: false,
            fresh: false,
        }
    }
}

impl Repository {
    /// The index, to be changed.
    ///
    /// # Errors
    /// [`GitError::Unreadable`] when it is damaged.
    pub fn staging(&self) -> Result<Staging, GitError> {
        let repo = self.local();
        let index = repo.index_or_empty().map_err(GitError::unreadable)?;
        let stat_options = repo.stat_options().map_err(GitError::unreadable)?;
        Ok(Staging {
            pool: Pool::new(repo.into_sync()),
            index,
            stat_options,
            changes: BTreeMap::new(),
            lock: None,
        })
    }
}

impl Staging {
    /// The entry of a path that is in no conflict, changes so far included.
    pub fn entry(&self, path: &str) -> Option<Staged> {
        if let Some(entries) = self.changes.get(path) {
            return entries.iter().find(|entry| entry.stage == 0).copied();
        }
        let stage = Stage::Unconflicted;
        let entry = self.index.entry_by_path_and_stage(path.into(), stage)?;
        Some(Staged {
            intent_to_add: entry.flags.contains(Flags::INTENT_TO_ADD),
            ..Staged::new(blob_id(entry.id)?, entry.mode.bits())
        })
    }

    /// Whether times and size of a file are what the index recorded.
    pub fn is_fresh(&self, path: &str, file: &Path) -> bool {
        if let Some(entries) = self.changes.get(path) {
            return entries.iter().any(|entry| entry.fresh);
        }
        let stage = Stage::Unconflicted;
        let Some(entry) = self.index.entry_by_path_and_stage(path.into(), stage) else {
            return false;
        };
        is_unchanged(entry, file, &self.index, self.stat_options)
    }

    /// Whether entries lie below a directory, changes so far included.
    pub fn has_below(&self, directory: &str) -> bool {
        let prefix = format!("{directory}/");
        let changed = self.changes.range(prefix.clone()..);
        let mut added = changed.take_while(|(path, _)| path.starts_with(&prefix));
        if added.any(|(_, entries)| !entries.is_empty()) {
            return true;
        }
        let entries = self.index.prefixed_entries(prefix.as_str().into());
        entries.is_some_and(|entries| {
            entries.iter().any(|entry| {
                let path = std::str::from_utf8(entry.path(&self.index));
                path.is_ok_and(|path| !self.changes.contains_key(path))
            })
        })
    }

    /// Sets what the index shall have for a path; nothing removes it.
    pub fn set(&mut self, path: &str, entries: Vec<Staged>) {
        self.changes.insert(path.to_owned(), entries);
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    /// [`GitError::Unreadable`] when it is missing or damaged.
    pub fn blob(&self, id: BlobId) -> Result<Vec<u8>, GitError> {
        self.pool.with(|repo| {
            let id = object_id(id);
            let mut blob = repo.find_blob(id).map_err(GitError::unreadable)?;
            Ok(blob.take_data())
        })
    }

    /// Whether there is an object with this id.
    pub fn has(&self, id: BlobId) -> bool {
        let id = object_id(id);
        self.pool.with(|repo| repo.has_object(id))
    }

    /// Stores a blob.
    ///
    /// # Errors
    /// [`GitError::Unreadable`] when the database cannot be written.
    pub fn store(&self, bytes: &[u8]) -> Result<BlobId, GitError> {
        self.pool.with(|repo| write_blob(repo, bytes))
    }

    /// Keeps others from writing the index until this is gone, so that [`Staging::write`] can be counted
    /// on.
    ///
    /// # Errors
    /// [`GitError::Locked`] when another process writes it.
    pub fn lock(&mut self) -> Result<(), GitError> {
        if self.lock.is_none() {
            let at_once = gix::lock::acquire::Fail::Immediately;
            let path = self.index.path();
            let lock = gix::lock::File::acquire_to_update_resource(path, at_once, None, 0);
            self.lock = Some(lock.map_err(|error| GitError::Locked(error.to_string()))?);
        }
        Ok(())
    }

    /// Writes the changes in one step. Times and sizes of fresh entries are taken from `workdir`.
    ///
    /// # Errors
    /// As [`Staging::lock`]; [`GitError::Unreadable`] when it cannot be written.
    pub fn write(&mut self, workdir: Option<&Path>) -> Result<(), GitError> {
        let changes = std::mem::take(&mut self.changes);
        if changes.is_empty() {
            return Ok(());
        }
        self.lock()?;
        let mut index = (**self.index).clone();
        index.remove_entries(|_, path, _| {
            std::str::from_utf8(path).is_ok_and(|path| changes.contains_key(path))
        });
        fill_index(&mut index, &changes, workdir);
        let Some(lock) = self.lock.take() else {
            return Ok(());
        };
        let mut out = BufWriter::new(lock);
        let written = index.write_to(&mut out, gix::index::write::Options::default());
        written.map_err(GitError::unreadable)?;
        let lock = out.into_inner().map_err(GitError::unreadable)?;
        lock.commit().map_err(GitError::unreadable)?;
        Ok(())
    }
}

fn fill_index(
    index: &mut gix::index::File,
    changes: &BTreeMap<String, Vec<Staged>>,
    workdir: Option<&Path>,
) {
    for (path, entries) in changes {
        for entry in entries {
            let root = workdir.filter(|_| entry.fresh);
            let stat = stat_of(root.map(|root| root.join(path)));
            let mode = index_mode(entry.mode);
            let mut flags = match entry.stage {
                1 => Flags::from_stage(Stage::Base),
                2 => Flags::from_stage(Stage::Ours),
                3 => Flags::from_stage(Stage::Theirs),
                _ => Flags::empty(),
            };
            if entry.intent_to_add {
                flags |= Flags::INTENT_TO_ADD | Flags::EXTENDED;
            }
            let id = object_id(entry.id);
            index.dangerously_push_entry(stat, id, flags, mode, path.as_str().into());
        }
    }
    index.sort_entries();
    // Dropped, because the cached trees belong to the old entries.
    index.remove_tree();
}

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
            editor.remove_leaf(change.path.as_str()).map_err(GitError::unreadable)?;
        }
        for change in changes {
            if let Some((id, mode)) = change.entry {
                let added = editor.upsert(change.path.as_str(), tree_kind(mode), object_id(id));
                added.map_err(GitError::unreadable)?;
            }
        }
        Ok(editor.write().map_err(GitError::unreadable)?.to_string())
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
