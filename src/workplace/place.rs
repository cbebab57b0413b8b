//! Chooses the kind of isolated copy: overlay, copy or in place.

use std::path::{Path, PathBuf};

use super::WorkplaceError;
use super::copy::Copied;
use super::fingerprint::Found;
use super::overlay::Overlaid;
use super::plan::Plan;
use crate::exec::{Job, Temporary};
use crate::git::Repository;
use crate::model::{AtPath as _, RepoPath, WorkplaceMode};
use crate::patch::{Change, FileState};
use crate::source::Source;

/// Where commands and agents run. What they change is dropped by [`Workplace::reset`]; a patch is
/// laid in by [`Workplace::write`] and stays after [`Workplace::adopt`].
pub struct Workplace<'a> {
    place: Inner<'a>,
    why: String,
    private: PathBuf,
    // What holds `private`; its path is short, as that of a socket must be.
    _held: Temporary,
    closed: Vec<PathBuf>,
    git: Option<&'a Repository>,
    /// Where the worktree itself shows through: its files as they were when this was opened.
    found: Option<Found>,
}

enum Inner<'a> {
    Overlay(Overlaid<'a>),
    Copy(Box<Copied>),
}

/// Asks whichever place there is.
macro_rules! ask {
    ($inner:expr, $place:ident => $answer:expr) => {
        match $inner {
            Inner::Overlay($place) => $answer,
            Inner::Copy($place) => $answer,
        }
    };
}

impl<'a> Workplace<'a> {
    /// Makes the isolated copy that the plan asks for, or the best that is available.
    ///
    /// # Errors
    /// [`WorkplaceError`] when the one that is named is not available, or the disk refuses.
    pub fn open(plan: &Plan<'a>) -> Result<Self, WorkplaceError> {
        let held = Temporary::new().at(std::env::temp_dir())?;
        let private = held.path().join("own");
        std::fs::create_dir_all(&private).at(&private)?;
        let asked = "requested".to_owned();
        let copy = || {
            let place = Copied::open(plan, &plan.slot.join("copy"))?;
            Ok::<_, WorkplaceError>(Inner::Copy(Box::new(place)))
        };
        let (place, why) = match plan.choice {
            WorkplaceMode::Copy => (copy()?, asked),
            mode => match Overlaid::open(plan, &plan.slot.join("overlay")) {
                Ok(place) if mode == WorkplaceMode::Overlay => (Inner::Overlay(place), asked),
                Ok(place) => (Inner::Overlay(place), "supported here".to_owned()),
                Err(why) if mode == WorkplaceMode::Overlay => {
                    return Err(WorkplaceError::Unavailable(why));
                }
                Err(why) => (copy()?, format!("no overlay: {why}")),
            },
        };
        let is_copy = matches!(place, Inner::Copy(_));
        let mut closed = plan.closed.clone();
        closed.push(plan.slot.to_owned());
        if is_copy {
            closed.push(plan.root.to_owned());
        }
        tracing::info!(is_copy, "running in an isolated copy: {why}");
        Ok(Self {
            found: (!is_copy).then(|| Found::take(plan.root, plan.source)),
            place,
            why,
            private,
            _held: held,
            closed,
            git: plan.git,
        })
    }

    /// Returns its word in documents.
    pub fn kind(&self) -> &'static str {
        match self.place {
            Inner::Overlay(_) => "overlay",
            Inner::Copy(_) => "copy",
        }
    }

    /// Why it is that one, in a few words.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The worktree as whatever runs there sees it.
    pub fn root(&self) -> &Path {
        ask!(&self.place, place => place.root())
    }

    /// Makes a job run there: it may write the isolated copy, its private folder and what it says.
    pub fn confine(&self, job: &mut Job) {
        job.private = Some(self.private.clone());
        job.sandbox.closed.extend(self.closed.iter().cloned());
        job.sandbox.writable.push(self.root().to_owned());
        ask!(&self.place, place => place.confine(job));
    }

    /// A file of the worktree that somebody changed since this was opened and that shows here, so
    /// that what runs is no longer what was changed here.
    ///
    /// # Errors
    /// [`WorkplaceError`] when the worktree cannot be listed.
    pub fn moved(&self) -> Result<Option<RepoPath>, WorkplaceError> {
        match &self.found {
            Some(found) => Ok(found.find_moved(self.root(), self.git)?),
            None => Ok(None),
        }
    }

    /// A folder that whatever runs there may write, outside the worktree.
    pub fn private(&self) -> &Path {
        &self.private
    }

    /// The files with all that was kept and the patch on trial, as if no command had run.
    ///
    /// # Errors
    /// [`WorkplaceError`] when they cannot be listed.
    pub fn source(&self) -> Result<Box<dyn Source + 'a>, WorkplaceError> {
        Ok(ask!(&self.place, place => Box::new(place.source()?)))
    }

    /// What was changed by whatever ran there since the last [`Workplace::reset`], litter aside.
    ///
    /// # Errors
    /// [`WorkplaceError::TooMuch`] when it is more than can be a patch.
    pub fn changes(&self) -> Result<Vec<Change>, WorkplaceError> {
        ask!(&self.place, place => place.changes())
    }

    /// Makes the changes of a set-up command part of the state that a reset returns to.
    ///
    /// # Errors
    /// [`WorkplaceError`] when the disk refuses.
    pub fn settle(&mut self) -> Result<(), WorkplaceError> {
        ask!(&mut self.place, place => place.settle())
    }

    /// Lays a patch in, to be tried.
    ///
    /// # Errors
    /// [`WorkplaceError`] when the disk refuses.
    pub fn write(&mut self, changes: &[Change]) -> Result<(), WorkplaceError> {
        ask!(&mut self.place, place => place.write(changes))
    }

    /// Keeps the patch on trial, and drops what else was changed.
    ///
    /// # Errors
    /// [`WorkplaceError`] when the disk refuses.
    pub fn adopt(&mut self) -> Result<(), WorkplaceError> {
        ask!(&mut self.place, place => place.adopt())
    }

    /// Drops the patch on trial and all that was changed.
    ///
    /// # Errors
    /// [`WorkplaceError`] when the disk refuses.
    pub fn reset(&mut self) -> Result<(), WorkplaceError> {
        ask!(&mut self.place, place => place.reset())
    }

    /// A file with its mode; `None` when there is none.
    ///
    /// # Errors
    /// As [`Workplace::source`].
    pub fn state(&self, path: &RepoPath) -> Result<Option<FileState>, WorkplaceError> {
        Ok(FileState::read(&self.source()?, path))
    }
}
