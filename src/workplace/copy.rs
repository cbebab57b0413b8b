use std::fs;
use std::path::{Path, PathBuf};

use super::WorkplaceError;
use super::extras::Extras;
use super::litter::is_litter;
use super::plan::Plan;
use super::relink::Relink;
use super::view::{Edits, state_of};
use crate::git::{Scratch, ScratchPlan};
use crate::model::RepoPath;
use crate::patch::{Change, FileState, write_worktree};
use crate::source::Worktree;

/// A copy of the worktree in a folder of its own: its files in a repository of their own, what git
/// ignores beside them, and the folders of installed packages linked again.
pub(super) struct Copied {
    scratch: Scratch,
    original: PathBuf,
    state: PathBuf,
    installed: Vec<RepoPath>,
    extras: Extras,
    trial: Vec<RepoPath>,
    /// A set-up has made ignored files and packages what they are now.
    settled: bool,
}

impl Copied {
    pub(super) fn open(plan: &Plan<'_>, slot: &Path) -> Result<Self, WorkplaceError> {
        let io = |error: std::io::Error| WorkplaceError::io(slot, &error);
        fs::create_dir_all(slot).map_err(io)?;
        let original = plan.root.canonicalize().map_err(io)?;
        let extras = Extras::find(&original, plan.source, &plan.shared);
        let mut apart = plan.shared.clone();
        apart.extend(extras.tops().cloned());
        let root = slot.join("tree");
        for path in &apart {
            super::layers::clear_any(&root.join(path.as_str()))?;
        }
        let scratch = Scratch::prepare(&ScratchPlan {
            slot,
            from: plan.source,
            original: plan.root,
            git: plan.git,
            apart: &apart,
        })?;
        let mut copied = Self {
            scratch,
            original,
            state: slot.join("state"),
            installed: plan.shared.clone(),
            extras,
            trial: Vec::new(),
            settled: false,
        };
        copied.fill()?;
        Ok(copied)
    }

    pub(super) fn root(&self) -> &Path {
        self.scratch.root()
    }

    pub(super) fn source(&self) -> Result<Worktree, WorkplaceError> {
        Ok(self.scratch.source()?)
    }

    pub(super) fn changes(&self) -> Result<Vec<Change>, WorkplaceError> {
        let state = |(bytes, mode)| FileState { bytes, mode };
        let changes = self.scratch.changes()?;
        Ok(changes
            .into_iter()
            .filter(|it| it.before.is_some() || !is_litter(it.path.as_str()))
            .map(|it| Change::between(it.path, it.before.map(state), it.after.map(state)))
            .collect())
    }

    pub(super) fn write(&mut self, changes: &[Change]) -> Result<(), WorkplaceError> {
        write_worktree(self.scratch.root(), &self.state, changes)?;
        self.trial = changes.iter().map(|it| it.path.clone()).collect();
        Ok(())
    }

    pub(super) fn settle(&mut self) -> Result<(), WorkplaceError> {
        let changed = self.scratch.changes()?;
        self.scratch.adopt(changed.iter().map(|it| &it.path))?;
        self.scratch.keep_ignored()?;
        self.settled = true;
        Ok(())
    }

    pub(super) fn adopt(&mut self) -> Result<(), WorkplaceError> {
        let source = self.source()?;
        let trial = std::mem::take(&mut self.trial);
        let states: Edits = trial
            .iter()
            .map(|path| (path.clone(), state_of(&source, path)))
            .collect();
        // What the commands left behind or rewrote does not belong to the change.
        self.fresh()?;
        let before = self.source()?;
        let changes: Vec<Change> = states
            .into_iter()
            .map(|(path, after)| Change::between(path.clone(), state_of(&before, &path), after))
            .collect();
        write_worktree(self.scratch.root(), &self.state, &changes)?;
        self.scratch.adopt(&trial)?;
        Ok(())
    }

    pub(super) fn fresh(&mut self) -> Result<(), WorkplaceError> {
        self.trial.clear();
        if !self.settled {
            for path in &self.installed {
                super::layers::clear_any(&self.scratch.root().join(path.as_str()))?;
            }
        }
        self.scratch.reset()?;
        if self.settled { Ok(()) } else { self.fill() }
    }

    fn fill(&mut self) -> Result<(), WorkplaceError> {
        let relink = Relink {
            original: &self.original,
            copy: self.scratch.root(),
        };
        self.extras.copy(&relink)?;
        for path in &self.installed {
            let at = self.scratch.root().join(path.as_str());
            let made = relink.folder(path.as_str());
            made.map_err(|error| WorkplaceError::io(&at, &error))?;
        }
        Ok(())
    }
}
