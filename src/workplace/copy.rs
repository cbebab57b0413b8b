//! The isolated copy as files, for systems without overlays.

use std::fs;
use std::path::{Path, PathBuf};

use super::WorkplaceError;
use super::environments::{OutsideEnvironment, outer_environments};
use super::error::clear_path;
use super::extras::{UnlistedFiles, is_litter};
use super::plan::{Edits, Plan};
use super::relink::{Relink, replace_bytes};
use crate::exec::Job;
use crate::git::{Scratch, ScratchPlan};
use crate::model::{AtPath as _, RepoPath};
use crate::patch::{Change, FileState, write_worktree};
use crate::source::Worktree;

/// A copy of the worktree in a folder of its own: its files in a repository of their own, what git
/// ignores beside them, and the folders of installed packages linked again.
pub(super) struct Copied {
    scratch: Scratch,
    original: PathBuf,
    state: PathBuf,
    linked_folders: Vec<RepoPath>,
    extras: UnlistedFiles,
    outer: Vec<OutsideEnvironment>,
    /// Each outside environment: its path and the path of its relinked view.
    environments: Vec<(PathBuf, PathBuf)>,
    trial: Vec<RepoPath>,
    /// Whether a set-up command ran, so that a reset must keep its ignored files and packages.
    settled: bool,
}

impl Copied {
    pub(super) fn open(plan: &Plan<'_>, slot: &Path) -> Result<Self, WorkplaceError> {
        fs::create_dir_all(slot).at(slot)?;
        let original = plan.root.canonicalize().at(plan.root)?;
        let extras = UnlistedFiles::find(&original, plan.source, &plan.linked_folders);
        let mut apart = plan.linked_folders.clone();
        apart.extend(extras.tops.iter().cloned());
        let root = slot.join("tree");
        for path in &apart {
            clear_path(&root.join(path.as_str()))?;
        }
        let scratch = Scratch::prepare(&ScratchPlan {
            slot,
            from: plan.source,
            original: plan.root,
            git: plan.git,
            apart: &apart,
        })?;
        let outer = outer_environments(&original, plan.commands, &|name| std::env::var_os(name));
        let views = slot.join("environments");
        let environments = outer.iter().enumerate().map(|(number, env)| {
            let name = env.root.file_name().unwrap_or_default();
            (env.root.clone(), views.join(number.to_string()).join(name))
        });
        let mut copied = Self {
            scratch,
            original,
            state: slot.join("state"),
            linked_folders: plan.linked_folders.clone(),
            extras,
            environments: environments.collect(),
            outer,
            trial: Vec::new(),
            settled: false,
        };
        copied.fill_copy()?;
        Ok(copied)
    }

    pub(super) fn root(&self) -> &Path {
        self.scratch.root()
    }

    pub(super) fn source(&self) -> Result<Worktree, WorkplaceError> {
        Ok(self.scratch.source()?)
    }

    pub(super) fn changes(&self) -> Result<Vec<Change>, WorkplaceError> {
        let changes = self.scratch.changes()?;
        let changes = changes
            .into_iter()
            .filter(|change| change.before.is_some() || !is_litter(change.path.as_str()));
        let changes = changes.map(|change| {
            let [before, after] = [change.before, change.after]
                .map(|side| side.map(|(bytes, mode)| FileState::new(bytes, mode)));
            Change::between(change.path, before, after)
        });
        Ok(changes.collect())
    }

    pub(super) fn write(&mut self, changes: &[Change]) -> Result<(), WorkplaceError> {
        write_worktree(self.scratch.root(), &self.state, changes)?;
        self.trial = changes.iter().map(|change| change.path.clone()).collect();
        Ok(())
    }

    pub(super) fn settle(&mut self) -> Result<(), WorkplaceError> {
        let changed = self.scratch.changes()?;
        self.scratch.adopt(changed.iter().map(|c| &c.path))?;
        self.scratch.keep_ignored();
        self.settled = true;
        Ok(())
    }

    pub(super) fn adopt(&mut self) -> Result<(), WorkplaceError> {
        let source = self.source()?;
        let trial = std::mem::take(&mut self.trial);
        let states = trial.iter().map(|path| (path.clone(), FileState::read(&source, path)));
        let states: Edits = states.collect();
        // Reset first, because files that commands wrote do not belong to the change.
        self.reset()?;
        let before = self.source()?;
        let changes = states.into_iter().map(|(path, after)| {
            Change::between(path.clone(), FileState::read(&before, &path), after)
        });
        let changes: Vec<Change> = changes.collect();
        write_worktree(self.scratch.root(), &self.state, &changes)?;
        self.scratch.adopt(&trial)?;
        Ok(())
    }

    pub(super) fn reset(&mut self) -> Result<(), WorkplaceError> {
        self.trial.clear();
        if !self.settled {
            for path in &self.linked_folders {
                clear_path(&self.scratch.root().join(path.as_str()))?;
            }
        }
        self.scratch.reset()?;
        if self.settled { Ok(()) } else { self.fill_copy() }
    }

    /// Makes a job find the environments that lead to the copy.
    pub(super) fn confine(&self, job: &mut Job) {
        let mut path = job_value(job, "PATH");
        let mut active = job_value(job, "VIRTUAL_ENV");
        for (outer, (root, view)) in self.outer.iter().zip(&self.environments) {
            job.sandbox.writable.push(view.clone());
            let root = root.to_string_lossy();
            let view = view.to_string_lossy();
            job.command.substitute(&|word| swap_paths(word, &root, &view));
            path = path.map(|path| swap_paths(&path, &root, &view));
            active = active.map(|value| swap_paths(&value, &root, &view));
            // The tool would look for one that is called after the copy.
            if outer.kept && active.is_none() {
                path = Some(format!("{view}/bin:{}", path.unwrap_or_default()));
                active = Some(view.into_owned());
            }
        }
        if !self.outer.is_empty() {
            let set = [("PATH", path), ("VIRTUAL_ENV", active)];
            let set = set.into_iter().filter_map(|(name, value)| Some((name, value?)));
            let set = set.map(|(name, value)| format!("{name}={value}"));
            job.environment.allow.extend(set);
        }
    }

    fn fill_copy(&mut self) -> Result<(), WorkplaceError> {
        let relink = Relink {
            original: &self.original,
            copy: self.scratch.root(),
            environments: &self.environments,
        };
        self.extras.copy_all(&relink)?;
        for path in &self.linked_folders {
            let at = self.scratch.root().join(path.as_str());
            relink.relink_folder(path.as_str()).at(&at)?;
        }
        for (_, view) in &self.environments {
            clear_path(view)?;
        }
        Ok(relink.relink_outside().at(self.scratch.root())?)
    }
}

// The value of a variable as the job sees it.
fn job_value(job: &Job, name: &str) -> Option<String> {
    let variables = job.environment.variables(std::env::vars_os());
    variables.get(std::ffi::OsStr::new(name))?.to_str().map(str::to_owned)
}

fn swap_paths(text: &str, from: &str, to: &str) -> String {
    let bytes = replace_bytes(text.as_bytes(), from.as_bytes(), to.as_bytes());
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}
