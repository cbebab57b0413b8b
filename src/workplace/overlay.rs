use std::fs;
use std::path::{Path, PathBuf};

use super::WorkplaceError;
use super::error::clear_path;
use super::layers::{changed, match_metadata, write};
use super::plan::{Edits, Plan};
use crate::exec::{CommandLine, ExecError, Job, Overlay, Stop};
use crate::git::Repository;
use crate::model::RepoPath;
use crate::patch::{Change, FileState};
use crate::source::{self, EntryKind, Source};

/// The worktree at its own path, each command with a private folder over it. What a command
/// changes is gone with [`Overlaid::fresh`]; what is kept is written into each fresh folder again.
pub(super) struct Overlaid<'s> {
    base: &'s dyn Source,
    root: PathBuf,
    covers: Vec<OverlayLayer>,
    exclude: String,
    /// What the set-up changed; it stands in layers of its own.
    laid: Edits,
    kept: Edits,
    trial: Edits,
}

// One folder that is covered: the worktree, what is mounted in it, a git directory outside it.
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
    /// Why it cannot be had here, in words.
    pub(super) fn open(plan: &Plan<'s>, slot: &Path) -> Result<Self, String> {
        let root = plan.root.canonicalize();
        let root =
            root.map_err(|error| format!("cannot resolve the worktree: {}", error.kind()))?;
        let mut folders = vec![root.clone()];
        folders.extend(mounted_below(&root));
        if let Some(common) = plan.git.map(Repository::common_dir)
            && let Ok(common) = common.canonicalize()
            && !common.starts_with(&root)
        {
            folders.push(common);
        }
        clear_path(slot).map_err(|error| error.to_string())?;
        let covers = folders
            .into_iter()
            .enumerate()
            .map(|(number, at)| OverlayLayer {
                at,
                slot: slot.join(number.to_string()),
                layers: 0,
            });
        let exclude = plan.git.map(|git| git.common_dir().join("info/exclude"));
        let mut place = Self {
            base: plan.source,
            root,
            covers: covers.collect(),
            exclude: exclude
                .and_then(|path| fs::read_to_string(path).ok())
                .unwrap_or_default(),
            laid: Edits::new(),
            kept: Edits::new(),
            trial: Edits::new(),
        };
        place.fresh().map_err(|error| error.to_string())?;
        place.probe_mount()?;
        place.fresh().map_err(|error| error.to_string())?;
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
        let change = |(path, after): (RepoPath, _)| {
            Change::between(path.clone(), FileState::read(&before, &path), after)
        };
        Ok(self.changed_edits()?.into_iter().map(change).collect())
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
        let mut edits = Edits::new();
        for cover in &self.covers {
            let Some(prefix) = self.cover_prefix(cover) else {
                continue;
            };
            edits.extend(changed(&cover.upper(), &prefix, &view, &self.exclude)?);
        }
        Ok(edits)
    }

    /// Takes what a set-up left for what lies below from now on.
    pub(super) fn settle(&mut self) -> Result<(), WorkplaceError> {
        let changed = self.changed_edits()?;
        self.laid.extend(changed);
        for cover in &mut self.covers {
            let layer = cover.layer_folder(cover.layers);
            fs::rename(cover.upper(), &layer)
                .map_err(|error| WorkplaceError::io(&layer, &error))?;
            cover.layers += 1;
        }
        self.fresh()
    }

    /// Lays the change of a trial over the files.
    pub(super) fn write(&mut self, changes: &[Change]) -> Result<(), WorkplaceError> {
        let edit = |change: &Change| (change.path.clone(), change.after.clone());
        self.trial = changes.iter().map(edit).collect();
        self.fresh_with_trial()
    }

    /// Keeps the change of the trial and drops what the commands did.
    pub(super) fn adopt(&mut self) -> Result<(), WorkplaceError> {
        let trial = std::mem::take(&mut self.trial);
        self.kept.extend(trial);
        self.fresh()
    }

    /// Drops the trial and what the commands did.
    pub(super) fn fresh(&mut self) -> Result<(), WorkplaceError> {
        self.trial.clear();
        self.fresh_with_trial()
    }

    fn fresh_with_trial(&mut self) -> Result<(), WorkplaceError> {
        for cover in &self.covers {
            cover.start_fresh()?;
        }
        let edits = self.kept.iter().chain(&self.trial);
        let mut of_cover: Vec<Edits> = self.covers.iter().map(|_| Edits::new()).collect();
        for (path, state) in edits {
            if let Some((number, path)) = self.cover_of(path)
                && let Some(edits) = of_cover.get_mut(number)
            {
                edits.insert(path, state.clone());
            }
        }
        // Where this program was used is not for the tests to see.
        let is_part = self.base.listing().has_directory(NOTES);
        if let (false, Some(edits), Ok(notes)) =
            (is_part, of_cover.first_mut(), RepoPath::new(NOTES))
        {
            edits.entry(notes).or_default();
        }
        for (cover, edits) in self.covers.iter().zip(&of_cover) {
            let layers = cover.layer_folders();
            let mut lower: Vec<&Path> = layers.iter().map(PathBuf::as_path).collect();
            lower.push(&cover.at);
            write(&cover.upper(), &lower, edits)?;
        }
        Ok(())
    }

    // The folder in which a path of the worktree is changed, and its path there.
    fn cover_of(&self, path: &RepoPath) -> Option<(usize, RepoPath)> {
        let at = self.root.join(path.as_str());
        let holds = |cover: &OverlayLayer| {
            let rest = at.strip_prefix(&cover.at).ok()?.to_str()?;
            RepoPath::new(rest).ok()
        };
        self.covers
            .iter()
            .enumerate()
            .filter(|(_, cover)| cover.at.starts_with(&self.root))
            .filter_map(|(number, cover)| Some((number, holds(cover)?)))
            .min_by_key(|(_, rest)| rest.as_str().len())
    }

    // Where in the worktree a covered folder stands; `None` for one outside.
    fn cover_prefix(&self, cover: &OverlayLayer) -> Option<String> {
        let rest = cover.at.strip_prefix(&self.root).ok()?;
        rest.to_str().map(str::to_owned)
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
        (0..self.layers)
            .rev()
            .map(|number| self.layer_folder(number))
            .collect()
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
            fs::create_dir_all(&folder).map_err(|error| WorkplaceError::io(&folder, &error))?;
        }
        if let Ok(model) = self.at.symlink_metadata() {
            match_metadata(&self.upper(), &model);
        }
        Ok(())
    }
}

// Folders of other file systems in the worktree: an overlay shows what lies below them instead.
fn mounted_below(root: &Path) -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut found: Vec<PathBuf> = table
        .lines()
        .filter_map(|line| Some(PathBuf::from(unescape_path(line.split(' ').nth(4)?))))
        .filter(|at| at != root && at.starts_with(root) && at.is_dir())
        .collect();
    found.sort();
    found.dedup();
    found
}

// The kernel writes blanks of a path as octal numbers.
fn unescape_path(text: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (code, sign)| {
        text.replace(code, sign)
    })
}
