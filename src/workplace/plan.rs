//! What an isolated copy is made of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::git::Repository;
use crate::model::{RepoPath, WorkplaceMode};
use crate::patch::FileState;
use crate::source::Source;

/// Files as they are to be; `None` for one that is to be gone.
pub(super) type Edits = BTreeMap<RepoPath, Option<FileState>>;

/// The plan of an isolated copy.
#[derive(Clone)]
pub struct Plan<'a> {
    /// Which one.
    pub choice: WorkplaceMode,
    /// A folder for it; nothing else may use it at the same time, and it lies outside the worktree.
    pub slot: &'a Path,
    /// The files.
    pub source: &'a dyn Source,
    /// Where they are on disk.
    pub root: &'a Path,
    /// Their repository.
    pub git: Option<&'a Repository>,
    /// Ignored folders that a copy needs, such as `node_modules`.
    pub linked_folders: Vec<RepoPath>,
    /// The lines that are to run there, which may name environments outside.
    pub commands: &'a [String],
    /// Folders that nothing which runs there may write.
    pub closed: Vec<PathBuf>,
}
