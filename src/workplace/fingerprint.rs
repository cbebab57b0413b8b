//! Notices edits to the worktree during a run, because an overlay would show them to the tests.

use super::extras::is_litter;
use crate::git::{Repository, Stamp};
use crate::languages::Language;
use crate::model::RepoPath;
use crate::source::{Entry, ReadError, Source, Untracked, Worktree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files of a worktree as a run found them, which its owner may go on editing meanwhile.
pub(super) struct Found {
    stamps: BTreeMap<PathBuf, Stamp>,
    states: BTreeMap<RepoPath, String>,
}

impl Found {
    /// As they are now.
    pub(super) fn take(root: &Path, source: &dyn Source) -> Self {
        let entries = source.listing().entries();
        // What is written between the two is read with its new content.
        let stamps = entries.iter().filter_map(|entry| {
            let at = root.join(entry.path.as_str());
            let found = at.symlink_metadata().ok()?;
            Some((at, Stamp::from_metadata(&found)))
        });
        let stamps = stamps.collect();
        let states = entries.iter().map(|entry| (entry.path.clone(), entry_state(source, entry)));
        Self {
            stamps,
            states: states.collect(),
        }
    }

    /// The first file that is not as it was: one that git tracks, or code beside those. What a tool
    /// writes down elsewhere, such as the log of this very run, is no change.
    ///
    /// # Errors
    /// [`ReadError`] when the worktree cannot be listed.
    pub(super) fn find_moved(
        &self,
        root: &Path,
        git: Option<&Repository>,
    ) -> Result<Option<RepoPath>, ReadError> {
        let tracked = git.and_then(|git| git.tracked().ok()).unwrap_or_else(|| Box::new(Untracked));
        let paths: BTreeSet<RepoPath> = tracked.paths().into_iter().map(|(path, _)| path).collect();
        let counts = |path: &RepoPath| {
            paths.contains(path)
                || Language::of_path(path.as_str()).is_some() && !is_litter(path.as_str())
        };
        let now = Worktree::open(root, tracked, 0)?;
        let mut gone = self.states.keys();
        if let Some(path) = gone.find(|p| counts(p) && now.listing().get(p.as_str()).is_none()) {
            return Ok(Some(path.clone()));
        }
        let mut entries = now.listing().entries().iter().filter(|entry| counts(&entry.path));
        let moved = entries.find(|entry| {
            let at = root.join(entry.path.as_str());
            let stamp = at.symlink_metadata().ok().map(|m| Stamp::from_metadata(&m));
            stamp.as_ref() != self.stamps.get(&at)
                && self.states.get(&entry.path) != Some(&entry_state(&now, entry))
        });
        Ok(moved.map(|entry| entry.path.clone()))
    }
}

fn entry_state(source: &dyn Source, entry: &Entry) -> String {
    let id = source.blob_id(&entry.path);
    let id = id.map_or_else(String::new, |id| id.to_string());
    format!("{:?} {id}", entry.kind)
}
