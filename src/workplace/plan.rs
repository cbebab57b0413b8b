use std::path::{Path, PathBuf};

use super::Choice;
use crate::git::Repository;
use crate::model::RepoPath;
use crate::source::Source;

/// What a workplace is made of.
#[derive(Clone)]
pub struct Plan<'a> {
    /// Which one.
    pub choice: Choice,
    /// A folder for it; nothing else may use it at the same time, and it lies outside the worktree.
    pub slot: &'a Path,
    /// The files.
    pub source: &'a dyn Source,
    /// Where they stand on disk.
    pub root: &'a Path,
    /// Their repository.
    pub git: Option<&'a Repository>,
    /// Ignored folders that a copy needs, such as `node_modules`.
    pub shared: Vec<RepoPath>,
    /// The lines that are to run there, which may name environments outside.
    pub commands: &'a [String],
    /// Folders that nothing which runs there may write.
    pub closed: Vec<PathBuf>,
}

/// Told how many files of how many were copied, now and then.
pub type Progress<'p> = &'p dyn Fn(usize, usize);
