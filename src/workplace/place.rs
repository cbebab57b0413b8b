use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::copy::Copied;
use super::error::clear;
use super::fingerprint::Found;
use super::in_place::InPlace;
use super::overlay::Overlaid;
use super::plan::{Edits, Plan, Progress};
use super::{Kind, WorkplaceError};
use crate::exec::{Job, Temporary};
use crate::git::{ObjectStore, Repository};
use crate::model::{RepoPath, WorkplaceMode};
use crate::patch::{Change, FileState};
use crate::source::Source;

/// Where commands and agents run. What they change is dropped by [`Workplace::reset`]; a patch is
/// laid in by [`Workplace::write`] and stays after [`Workplace::adopt`].
pub struct Workplace<'a> {
    place: Inner<'a>,
    why: String,
    private: PathBuf,
    /// Its temporary files stand apart: the path of a socket must be short.
    temporary: Option<Temporary>,
    // What holds `private`: its path tells nobody who runs there.
    _held: Option<Temporary>,
    closed: Vec<PathBuf>,
    /// Of a worktree in a temporary folder its surroundings there.
    beside: Option<PathBuf>,
    git: Option<&'a Repository>,
    /// Where the worktree itself shows through: its files as they were when this was opened.
    found: Option<Found>,
}

enum Inner<'a> {
    Overlay(Overlaid<'a>),
    Copy(Box<Copied>),
    InPlace(Box<InPlace<'a>>),
}

impl<'a> Workplace<'a> {
    /// Makes the workplace that the plan asks for, or the best that can be had.
    ///
    /// # Errors
    /// [`WorkplaceError`] when the one that is named cannot be had, or the disk refuses.
    pub fn open(plan: &Plan<'a>, progress: Progress<'_>) -> Result<Self, WorkplaceError> {
        let held = Temporary::new().ok();
        let private = held.as_ref().map(|it| it.path().join("own"));
        let private = private.unwrap_or_else(|| plan.slot.join("private"));
        clear(&private)?;
        std::fs::create_dir_all(&private).map_err(|error| WorkplaceError::io(&private, &error))?;
        let (place, why) = match plan.choice {
            WorkplaceMode::InPlace => {
                let place = InPlace::open(plan, &plan.slot.join("reference"), progress)?;
                (
                    Inner::InPlace(Box::new(place)),
                    "it was asked for".to_owned(),
                )
            }
            WorkplaceMode::Copy => (copy(plan, progress)?, "it was asked for".to_owned()),
            WorkplaceMode::Overlay => match overlay(plan) {
                Ok(place) => (place, "it was asked for".to_owned()),
                Err(why) => {
                    let kind = Kind::Overlay.as_str();
                    return Err(WorkplaceError::Unavailable { kind, why });
                }
            },
            WorkplaceMode::Auto => match overlay(plan) {
                Ok(place) => (place, "this system has it".to_owned()),
                Err(why) => (copy(plan, progress)?, format!("no overlay: {why}")),
            },
        };
        let mut closed = plan.closed.clone();
        closed.push(plan.slot.to_owned());
        match (&place, plan.git) {
            (Inner::Copy(_), _) => closed.push(plan.root.to_owned()),
            (Inner::InPlace(_), Some(git)) => {
                closed.extend([git.git_dir().to_owned(), git.common_dir()]);
            }
            _ => {}
        }
        let shows_through = matches!(place, Inner::Overlay(_));
        let place_name = match place {
            Inner::Overlay(_) => Kind::Overlay,
            Inner::Copy(_) => Kind::Copy,
            Inner::InPlace(_) => Kind::InPlace,
        };
        tracing::info!("running in {}: {why}", place_name.as_str());
        Ok(Self {
            found: shows_through.then(|| Found::of(plan.root, plan.source)),
            place,
            why,
            private,
            temporary: Temporary::new().ok(),
            _held: held,
            closed,
            beside: crate::exec::own_corner(plan.root),
            git: plan.git,
        })
    }

    /// Which one it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.place {
            Inner::Overlay(_) => Kind::Overlay,
            Inner::Copy(_) => Kind::Copy,
            Inner::InPlace(_) => Kind::InPlace,
        }
    }

    /// Why it is that one, in a few words.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The worktree as whatever runs there sees it.
    #[must_use]
    pub fn root(&self) -> &Path {
        match &self.place {
            Inner::Overlay(place) => place.root(),
            Inner::Copy(place) => place.root(),
            Inner::InPlace(place) => place.root(),
        }
    }

    /// Makes a job run there: it may write the workplace, its private folder and what it says.
    pub fn confine(&self, job: &mut Job) {
        job.private = Some(self.private.clone());
        job.temporary = self.temporary.as_ref().map(|it| it.path().to_owned());
        job.sandbox.closed.extend(self.closed.iter().cloned());
        job.sandbox.writable.push(self.root().to_owned());
        job.sandbox.beside.extend(self.beside.clone());
        match &self.place {
            Inner::Overlay(place) => place.confine(job),
            Inner::Copy(place) => place.confine(job),
            Inner::InPlace(_) => {}
        }
    }

    /// A file of the worktree that somebody changed since this was opened and that shows here, so
    /// that what runs is no longer what was changed here.
    ///
    /// # Errors
    /// [`WorkplaceError`] when the worktree cannot be listed.
    pub fn moved(&self) -> Result<Option<RepoPath>, WorkplaceError> {
        match &self.found {
            Some(found) => Ok(found.moved(self.root(), self.git)?),
            None => Ok(None),
        }
    }

    /// A folder that whatever runs there may write, outside the worktree.
    #[must_use]
    pub fn private(&self) -> &Path {
        &self.private
    }

    /// The files with all that was kept and the patch on trial, as if no command had run.
    ///
    /// # Errors
    /// [`WorkplaceError`] when they cannot be listed.
    pub fn source(&self) -> Result<Box<dyn Source + 'a>, WorkplaceError> {
        Ok(match &self.place {
            Inner::Overlay(place) => Box::new(place.view()),
            Inner::Copy(place) => Box::new(place.source()?),
            Inner::InPlace(place) => Box::new(place.source()?),
        })
    }

    /// The objects of its repository.
    #[must_use]
    pub fn objects(&self) -> Option<ObjectStore> {
        match &self.place {
            Inner::Overlay(_) | Inner::InPlace(_) => self.git.map(|git| git.objects(None)),
            Inner::Copy(place) => {
                let git = Repository::discover(place.root()).ok().flatten()?;
                Some(git.objects(None))
            }
        }
    }

    /// What was changed by whatever ran there since the last [`Workplace::reset`], litter aside.
    ///
    /// # Errors
    /// [`WorkplaceError::TooMuch`] when it is more than can be a patch.
    pub fn changes(&self) -> Result<Vec<Change>, WorkplaceError> {
        let (edits, before) = match &self.place {
            Inner::Overlay(place) => (place.changed()?, self.source()?),
            Inner::Copy(place) => return place.changes(),
            Inner::InPlace(place) => return place.changes(),
        };
        Ok(edits
            .into_iter()
            .map(|(path, after)| {
                Change::between(path.clone(), FileState::of(&before, &path), after)
            })
            .collect())
    }

    /// Takes what a set-up did for what was always there.
    ///
    /// # Errors
    /// [`WorkplaceError`] when the disk refuses.
    pub fn settle(&mut self) -> Result<(), WorkplaceError> {
        match &mut self.place {
            Inner::Overlay(place) => place.settle(),
            Inner::Copy(place) => place.settle(),
            Inner::InPlace(place) => place.settle(),
        }
    }

    /// Lays a patch in, to be tried.
    ///
    /// # Errors
    /// [`WorkplaceError`] when the disk refuses.
    pub fn write(&mut self, changes: &[Change]) -> Result<(), WorkplaceError> {
        match &mut self.place {
            Inner::Overlay(place) => place.write(edits_of(changes)),
            Inner::Copy(place) => place.write(changes),
            Inner::InPlace(place) => place.write(changes),
        }
    }

    /// Keeps the patch on trial, and drops what else was changed.
    ///
    /// # Errors
    /// [`WorkplaceError`] when the disk refuses.
    pub fn adopt(&mut self) -> Result<(), WorkplaceError> {
        match &mut self.place {
            Inner::Overlay(place) => place.adopt(),
            Inner::Copy(place) => place.adopt(),
            Inner::InPlace(place) => place.adopt(),
        }
    }

    /// Drops the patch on trial and all that was changed.
    ///
    /// # Errors
    /// [`WorkplaceError`] when the disk refuses.
    pub fn reset(&mut self) -> Result<(), WorkplaceError> {
        match &mut self.place {
            Inner::Overlay(place) => place.fresh(),
            Inner::Copy(place) => place.fresh(),
            Inner::InPlace(place) => place.fresh(),
        }
    }

    /// Where the worktree itself was worked in: gives its files back as they were in `base`.
    ///
    /// # Errors
    /// [`WorkplaceError`] when the disk refuses.
    pub fn put_back(
        &mut self,
        base: &BTreeMap<RepoPath, Option<FileState>>,
    ) -> Result<(), WorkplaceError> {
        match &mut self.place {
            Inner::InPlace(place) => place.put_back(base),
            Inner::Overlay(_) | Inner::Copy(_) => Ok(()),
        }
    }

    /// A file with its mode; `None` when there is none.
    ///
    /// # Errors
    /// As [`Workplace::source`].
    pub fn state(&self, path: &RepoPath) -> Result<Option<FileState>, WorkplaceError> {
        Ok(FileState::of(&self.source()?, path))
    }
}

fn overlay<'a>(plan: &Plan<'a>) -> Result<Inner<'a>, String> {
    let place = Overlaid::open(plan, &plan.slot.join("overlay"))?;
    Ok(Inner::Overlay(place))
}

fn copy<'a>(plan: &Plan<'_>, progress: Progress<'_>) -> Result<Inner<'a>, WorkplaceError> {
    let place = Copied::open(plan, &plan.slot.join("copy"), progress)?;
    Ok(Inner::Copy(Box::new(place)))
}

fn edits_of(changes: &[Change]) -> Edits {
    changes
        .iter()
        .map(|change| (change.path.clone(), change.after.clone()))
        .collect()
}
