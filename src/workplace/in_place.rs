use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::WorkplaceError;
use super::litter::is_litter;
use super::plan::{Plan, Progress};
use crate::git::{Repository, Scratch, ScratchPlan};
use crate::model::RepoPath;
use crate::patch::{Change, FileState, write_worktree};
use crate::source::{Source, Untracked, Worktree};

/// The worktree itself. A copy beside it says what its files are to be, and puts them back; what
/// git ignores is not put back.
pub(super) struct InPlace<'s> {
    root: PathBuf,
    git: Option<&'s Repository>,
    reference: Scratch,
    state: PathBuf,
    trial: Vec<RepoPath>,
}

impl<'s> InPlace<'s> {
    pub(super) fn open(
        plan: &Plan<'s>,
        slot: &Path,
        progress: Progress<'_>,
    ) -> Result<Self, WorkplaceError> {
        let reference = Scratch::prepare(
            &ScratchPlan {
                slot,
                from: plan.source,
                original: plan.root,
                git: plan.git,
                apart: &[],
            },
            progress,
        )?;
        Ok(Self {
            root: plan.root.to_owned(),
            git: plan.git,
            reference,
            state: slot.join("state"),
            trial: Vec::new(),
        })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn source(&self) -> Result<Worktree, WorkplaceError> {
        let tracked = self.git.and_then(|git| git.tracked().ok());
        let tracked = tracked.unwrap_or_else(|| Box::new(Untracked));
        Ok(Worktree::open(&self.root, tracked, 0)?)
    }

    // From the reference to the worktree as it is now; the trial belongs to neither.
    fn drift(&self) -> Result<Vec<Change>, WorkplaceError> {
        let (now, old) = (self.source()?, self.reference.source()?);
        let listed = |source: &Worktree| -> BTreeSet<RepoPath> {
            source
                .listing()
                .entries()
                .iter()
                .map(|it| it.path.clone())
                .collect()
        };
        let paths: BTreeSet<RepoPath> = listed(&now).union(&listed(&old)).cloned().collect();
        Ok(paths
            .into_iter()
            .filter_map(|path| {
                let (before, after) = (FileState::of(&old, &path), FileState::of(&now, &path));
                (before != after).then(|| Change::between(path, before, after))
            })
            .collect())
    }

    pub(super) fn changes(&self) -> Result<Vec<Change>, WorkplaceError> {
        let mut changes = self.drift()?;
        changes.retain(|it| it.before.is_some() || !is_litter(it.path.as_str()));
        Ok(changes)
    }

    pub(super) fn write(&mut self, changes: &[Change]) -> Result<(), WorkplaceError> {
        write_worktree(&self.root, &self.state, changes)?;
        self.trial = changes.iter().map(|it| it.path.clone()).collect();
        Ok(())
    }

    pub(super) fn settle(&mut self) -> Result<(), WorkplaceError> {
        let changes = self.drift()?;
        self.keep(&changes)
    }

    pub(super) fn adopt(&mut self) -> Result<(), WorkplaceError> {
        let trial = std::mem::take(&mut self.trial);
        let mut drift = self.drift()?;
        let of_trial = |change: &Change| trial.contains(&change.path);
        let wanted: Vec<Change> = drift.iter().filter(|it| of_trial(it)).cloned().collect();
        drift.retain(|it| !of_trial(it));
        self.undo(&drift)?;
        self.keep(&wanted)
    }

    pub(super) fn fresh(&mut self) -> Result<(), WorkplaceError> {
        self.trial.clear();
        let drift = self.drift()?;
        self.undo(&drift)
    }

    /// Gives the files that a run changed back as they were.
    pub(super) fn put_back(
        &mut self,
        base: &BTreeMap<RepoPath, Option<crate::patch::FileState>>,
    ) -> Result<(), WorkplaceError> {
        self.fresh()?;
        let now = self.source()?;
        let changes: Vec<Change> = base
            .iter()
            .map(|(path, before)| {
                Change::between(path.clone(), FileState::of(&now, path), before.clone())
            })
            .filter(|change| change.before != change.after)
            .collect();
        Ok(write_worktree(&self.root, &self.state, &changes)?)
    }

    fn undo(&self, changes: &[Change]) -> Result<(), WorkplaceError> {
        let back: Vec<Change> = changes.iter().map(Change::undone).collect();
        Ok(write_worktree(&self.root, &self.state, &back)?)
    }

    fn keep(&mut self, changes: &[Change]) -> Result<(), WorkplaceError> {
        write_worktree(self.reference.root(), &self.state, changes)?;
        Ok(self.reference.adopt(changes.iter().map(|it| &it.path))?)
    }
}
