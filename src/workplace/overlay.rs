//! The isolated copy as an overlay at the worktree's own path, so that absolute paths in tools and
//! caches hold.

use std::fs;
use std::path::{Path, PathBuf};

use super::WorkplaceError;
use super::error::clear_path;
use super::layers::{changed, match_metadata, write};
use super::plan::{Edits, Plan};
use crate::exec::{CommandLine, ExecError, Job, Overlay, Stop};
use crate::git::Repository;
use crate::model::{AtPath as _, RepoPath};
use crate::patch::{Change, FileState};
use crate::source::{self, EntryKind, Source};

/// The worktree at its own path, each command with a private folder over it. What a command
/// changes is gone with [`Overlaid::reset`]; what is kept is written into each fresh folder again.
pub(super) struct Overlaid<'s> {
    base: &'s dyn Source,
    root: PathBuf,
    covers: Vec<OverlayLayer>,
    exclude: String,
    /// What the set-up changed; it is in layers of its own.
    laid: Edits,
    kept: Edits,
    trial: Edits,
}

// One folder that is covered: the worktree, a git directory outside it.
struct OverlayLayer {
    at: PathBuf,
    slot: PathBuf,
    layers: usize,
}

fn kind_of(state: &FileState) -> EntryKind {
    match state.mode {
        0o120_000 => EntryKind::Symlink {
            target: String::from_utf8_lossy(&state.bytes).into_owned(),
        },
        mode => EntryKind::File {
            executable: mode == 0o100_755,
        },
    }
}

impl<'s> Overlaid<'s> {
    /// Lays the folders out below `slot` and runs a command that does nothing.
    ///
    /// # Errors
    /// Why it is not available here, in words.
    pub(super) fn open(plan: &Plan<'s>, slot: &Path) -> Result<Self, String> {
        let root = plan.root.canonicalize();
        let root =
            root.map_err(|error| format!("cannot resolve the worktree: {}", error.kind()))?;
        if has_mounts_below(&root) {
            return Err("another file system is mounted in the worktree".to_owned());
        }
        // The worktree is the first.
        let mut folders = vec![root.clone()];
        if let Some(common) = plan.git.map(Repository::common_dir)
            && let Ok(common) = common.canonicalize()
            && !common.starts_with(&root)
        {
            folders.push(common);
        }
        clear_path(slot).map_err(|error| error.to_string())?;
        let covers = folders.into_iter().enumerate().map(|(number, at)| OverlayLayer {
            at,
            slot: slot.join(number.to_string()),
            layers: 0,
        });
        let exclude = plan.git.map(|git| git.common_dir().join("info/exclude"));
        let mut place = Self {
            base: plan.source,
            root,
            covers: covers.collect(),
            exclude: exclude.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default(),
            laid: Edits::new(),
            kept: Edits::new(),
            trial: Edits::new(),
        };
        place.reset().map_err(|error| error.to_string())?;
        place.probe_mount()?;
        place.reset().map_err(|error| error.to_string())?;
        Ok(place)
    }

    fn probe_mount(&self) -> Result<(), String> {
        let mut job = Job::new(CommandLine::Program(vec!["true".into()]), &self.root);
        self.confine(&mut job);
        let outcome = crate::exec::run(&job, &Stop::new(), &mut crate::exec::Discard);
        match outcome {
            Ok(_) => Ok(()),
            Err(ExecError::Place(why)) => Err(why),
            Err(error) => Err(error.to_string()),
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn confine(&self, job: &mut Job) {
        job.overlays = self.covers.iter().map(OverlayLayer::overlay).collect();
        let covered = self.covers.iter().map(|cover| cover.at.clone());
        job.sandbox.writable.extend(covered);
    }

    #[expect(clippy::unnecessary_wraps, reason = "asked as a copy is")]
    pub(super) fn source(&self) -> Result<source::Overlay<'s>, WorkplaceError> {
        Ok(self.overlay_view())
    }

    /// Returns what was changed since the last fresh start, the trial aside.
    pub(super) fn changes(&self) -> Result<Vec<Change>, WorkplaceError> {
        let before = self.overlay_view();
        let changes = self.changed_edits()?.into_iter().map(|(path, after)| {
            Change::between(path.clone(), FileState::read(&before, &path), after)
        });
        Ok(changes.collect())
    }

    fn overlay_view(&self) -> source::Overlay<'s> {
        let mut edits = self.laid.clone();
        edits.extend(self.kept.clone());
        edits.extend(self.trial.clone());
        let kept = edits.into_iter().map(|(path, state)| {
            let state = state.map(|state| (kind_of(&state), state.bytes));
            (path, state)
        });
        source::Overlay::with_kinds(self.base, kept.collect())
    }

    fn changed_edits(&self) -> Result<Edits, WorkplaceError> {
        let view = self.overlay_view();
        let worktree = self.covers.first().map(OverlayLayer::upper);
        let changed = worktree.map(|upper| changed(&upper, &view, &self.exclude));
        changed.unwrap_or_else(|| Ok(Edits::new()))
    }

    /// Takes what a set-up left for what lies below from now on.
    pub(super) fn settle(&mut self) -> Result<(), WorkplaceError> {
        let changed = self.changed_edits()?;
        self.laid.extend(changed);
        for cover in &mut self.covers {
            let layer = cover.layer_folder(cover.layers);
            fs::rename(cover.upper(), &layer).at(&layer)?;
            cover.layers += 1;
        }
        self.reset()
    }

    /// Lays the change of a trial over the files.
    pub(super) fn write(&mut self, changes: &[Change]) -> Result<(), WorkplaceError> {
        self.trial = changes
            .iter()
            .map(|change| (change.path.clone(), change.after.clone()))
            .collect();
        self.fresh_with_trial()
    }

    /// Keeps the change of the trial and drops what the commands did.
    pub(super) fn adopt(&mut self) -> Result<(), WorkplaceError> {
        let trial = std::mem::take(&mut self.trial);
        self.kept.extend(trial);
        self.reset()
    }

    /// Drops the trial and what the commands did.
    pub(super) fn reset(&mut self) -> Result<(), WorkplaceError> {
        self.trial.clear();
        self.fresh_with_trial()
    }

    fn fresh_with_trial(&mut self) -> Result<(), WorkplaceError> {
        for cover in &self.covers {
            cover.start_fresh()?;
        }
        let Some(cover) = self.covers.first() else {
            return Ok(());
        };
        let mut edits = self.kept.clone();
        edits.extend(self.trial.clone());
        // Hidden, so that tests cannot detect that mendit runs them.
        if let (false, Ok(notes)) = (
            self.base.listing().has_directory(NOTES),
            RepoPath::new(NOTES),
        ) {
            edits.entry(notes).or_default();
        }
        let layers = cover.layer_folders();
        let mut lower: Vec<&Path> = layers.iter().map(PathBuf::as_path).collect();
        lower.push(&cover.at);
        write(&cover.upper(), &lower, &edits)
    }
}

const NOTES: &str = ".mendit";

impl OverlayLayer {
    fn upper(&self) -> PathBuf {
        self.slot.join("upper")
    }

    fn layer_folder(&self, number: usize) -> PathBuf {
        self.slot.join(format!("layer-{number}"))
    }

    fn layer_folders(&self) -> Vec<PathBuf> {
        (0..self.layers).rev().map(|number| self.layer_folder(number)).collect()
    }

    fn overlay(&self) -> Overlay {
        Overlay {
            at: self.at.clone(),
            layers: self.layer_folders(),
            upper: self.upper(),
            work: self.slot.join("work"),
        }
    }

    fn start_fresh(&self) -> Result<(), WorkplaceError> {
        for folder in [self.upper(), self.slot.join("work")] {
            clear_path(&folder)?;
            fs::create_dir_all(&folder).at(&folder)?;
        }
        if let Ok(model) = self.at.symlink_metadata() {
            match_metadata(&self.upper(), &model);
        }
        Ok(())
    }
}

// Whether another file system is mounted in the worktree: an overlay would show what lies below it instead.
fn has_mounts_below(root: &Path) -> bool {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut places = table.lines().filter_map(|line| line.split(' ').nth(4));
    // The kernel writes a blank of a path as an octal number.
    places.any(|at| {
        let at = PathBuf::from(at.replace("\\040", " "));
        at != root && at.starts_with(root) && at.is_dir()
    })
}
