use std::path::{Path, PathBuf};

use super::files::write_file;
use super::last_run::{AGAIN, is_command};
use super::{App, AppError, Progress};
use crate::git::Repository;
use crate::model::{Code, SCHEMA_VERSION};
use crate::state::{RepositoryState, RunFile, RunId, Runs, StateHome};
use crate::workspace::{At, Workspace, canonical};

/// A run that starts: where it is kept, and where people and CI read it.
pub(super) struct RunFolders {
    /// In the registry, out of reach of what is run.
    pub(super) kept: PathBuf,
    /// A copy that is written and never read back.
    pub(super) shown: Option<PathBuf>,
}

impl RunFolders {
    /// The name of the run.
    pub(super) fn id(&self) -> String {
        let name = self.kept.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The one that people are told.
    pub(super) fn named(&self) -> &Path {
        self.shown.as_deref().unwrap_or(&self.kept)
    }
}

/// What is kept for a repository: by its worktree, or by its git directory when it is bare.
pub(super) fn state(app: &App, workspace: &Workspace) -> Result<RepositoryState, AppError> {
    let git = workspace.git.as_ref().map(|git| git.git_dir().to_owned());
    let place = workspace.root.clone().or(git);
    let place = place.unwrap_or_else(|| app.directory().to_owned());
    Ok(StateHome::open()?.repository(&place)?)
}

/// The same of where one stands, without reading the repository.
pub(super) fn here(app: &App) -> Result<RepositoryState, AppError> {
    let git = Repository::discover(app.directory())?;
    let place = match &git {
        Some(git) => match git.workdir() {
            Some(root) => canonical(root)?,
            None => git.git_dir().to_owned(),
        },
        None => app.directory().to_owned(),
    };
    Ok(StateHome::open()?.repository(&place)?)
}

/// The folders of the runs of this worktree, the newest first.
pub(super) fn newest(app: &App) -> Result<impl Iterator<Item = PathBuf>, AppError> {
    let runs = here(app)?.runs();
    let names = runs.names().into_iter().rev();
    Ok(names.filter_map(move |name| runs.find(&name)))
}

/// Where one stands below the root of the worktree.
pub(super) fn prefix(app: &App) -> Result<String, AppError> {
    let git = Repository::discover(app.directory())?;
    let root = git.as_ref().and_then(Repository::workdir).map(canonical);
    let root = root.transpose()?;
    let below = root.and_then(|root| {
        let below = app.directory().strip_prefix(root).ok()?;
        Some(below.to_str()?.replace('\\', "/"))
    });
    Ok(below.unwrap_or_default())
}

/// Starts a run. The copy is written to `out`; without one below `.mendit` where `visible` asks
/// for it or the folder is there already.
pub(super) fn start(
    app: &App,
    workspace: &Workspace,
    out: Option<&Path>,
    visible: bool,
) -> Result<RunFolders, AppError> {
    let id = RunId::now();
    let shown = match out {
        Some(out) => Some(app.directory().join(out)),
        None => {
            own_folder(app, workspace, visible).map(|own| own.join("runs").join(id.to_string()))
        }
    };
    let kept = state(app, workspace)?.runs().start(&id)?;
    if let Some(shown) = &shown {
        write_file(&kept.join(SHOWN), shown.as_os_str().as_encoded_bytes())?;
    }
    Ok(RunFolders { kept, shown })
}

/// A run to go on with, by its name, `latest`, or the folder of its copy.
pub(super) fn resume(app: &App, run: &str, workspace: &Workspace) -> Result<RunFolders, AppError> {
    // A run of a command alone cannot be gone on with.
    let repairs = (run == "latest").then(|| newest(app)).transpose()?;
    let latest = repairs.and_then(|mut it| it.find(|folder| !is_command(folder)));
    let kept = latest.map_or_else(|| find(app, run, workspace), Ok)?;
    let shown = std::fs::read_to_string(kept.join(SHOWN)).ok();
    Ok(RunFolders {
        kept,
        shown: shown.map(PathBuf::from),
    })
}

// Says in the registry where the copy of a run is.
const SHOWN: &str = "shown";

/// A run by its name, `latest`, or the folder of its copy, which says its name.
pub(super) fn find(app: &App, run: &str, workspace: &Workspace) -> Result<PathBuf, AppError> {
    let runs = state(app, workspace)?.runs();
    let copy = app.directory().join(run).join("run.json");
    let name = std::fs::read(copy).ok().and_then(|bytes| {
        let key: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
        key["runId"].as_str().map(str::to_owned)
    });
    runs.find(name.as_deref().unwrap_or(run)).ok_or_else(|| {
        if run == "latest" {
            return AppError::new(Code::U306, "nothing was run here yet")
                .hint("`mendit run CMD` runs a test command, such as `mendit run pytest`");
        }
        AppError::new(Code::U306, format!("there is no run `{run}`")).hint(
            "only runs of this machine and this worktree are known; `mendit report` alone takes \
             the last",
        )
    })
}

/// The files of the last run that tell about it, sorted by name.
///
/// # Errors
/// A repository that cannot be read.
pub fn last_run(app: &App, progress: &dyn Progress) -> Result<(String, Vec<RunFile>), AppError> {
    let workspace = app.workspace(At::Worktree, progress)?;
    let Some(folder) = state(app, &workspace)?.runs().find("latest") else {
        return Ok((String::new(), Vec::new()));
    };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut files = Runs::files(&folder);
    files.retain(|file| file.name != SHOWN && file.name != AGAIN);
    Ok((name.into_owned(), files))
}

/// `.mendit` of the worktree, which git is never shown: when it is there or `make` asks for it.
/// `None` when there is none, or what stands there or for a folder in it is a link or the repository's
/// own.
pub(super) fn own_folder(app: &App, workspace: &Workspace, make: bool) -> Option<PathBuf> {
    let root = workspace.root.as_deref().unwrap_or(app.directory());
    let folder = root.join(".mendit");
    let listing = workspace.source.listing();
    match folder.symlink_metadata() {
        Ok(about) if !about.is_dir() || listing.has_directory(".mendit") => return None,
        Ok(_) => {}
        Err(_) if make => std::fs::create_dir(&folder).ok()?,
        Err(_) => return None,
    }
    let leads_away = |name: &&str| {
        let about = folder.join(name).symlink_metadata();
        about.is_ok_and(|about| !about.is_dir())
    };
    // What a repository brings may be hidden by rules of its own, and a link would be followed.
    if ["runs", "context"].iter().any(leads_away) {
        return None;
    }
    let ignore = folder.join(".gitignore");
    if ignore.symlink_metadata().is_err() {
        // What cannot be written shows at the write that follows.
        let _ = write_file(&ignore, "*\n");
    }
    Some(folder)
}

/// What shows that a run stands in a folder.
pub(super) const RUN: &[&str] = &["run.json", "result.json", "events.jsonl"];
/// What shows that it is a repair's.
pub(super) const REPAIR: &[&str] = &["result.json", "events.jsonl"];

/// Refuses a folder that shows these marks: two runs in one would be read as one.
pub(super) fn refuse_used(app: &App, typed: &Path, marks: &[&str]) -> Result<(), AppError> {
    let folder = app.directory().join(typed);
    if !marks.iter().any(|name| folder.join(name).exists()) {
        return Ok(());
    }
    let message = format!("`{}` holds a run already", typed.display());
    Err(AppError::new(Code::U303, message).hint(format!(
        "name a new folder, or continue that run with `mendit fix --resume {}`",
        typed.display()
    )))
}

/// What is kept of one worktree, as `mendit config clean` shows it.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptRow {
    /// The worktree.
    pub root: String,
    /// Whether it is still there.
    pub there: bool,
    /// How many runs are kept.
    pub runs: usize,
    /// Bytes of everything that is kept for it.
    pub bytes: u64,
    /// Whether it was removed now.
    pub removed: bool,
}

/// What is kept on this machine.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptDocument {
    /// The version of this document.
    pub schema_version: u32,
    /// `kept`.
    pub document: &'static str,
    /// A row for each worktree.
    pub repositories: Vec<KeptRow>,
}

/// What `mendit config clean` removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clean {
    /// Nothing.
    Show,
    /// What is kept for worktrees that are gone.
    Gone,
    /// What is kept for the worktree one stands in.
    Here,
    /// Everything.
    All,
}

/// Shows what is kept, and removes of it what is asked for. Nothing is removed while a run holds
/// it.
///
/// # Errors
/// What the system says.
pub fn clean(app: &App, what: Clean, progress: &dyn Progress) -> Result<KeptDocument, AppError> {
    let here = match what {
        Clean::Here => app.workspace(At::Worktree, progress)?.root,
        _ => None,
    };
    let mut rows = Vec::new();
    for kept in StateHome::open()?.all() {
        let root = kept.root().unwrap_or_default();
        let there = root.is_dir();
        let wanted = match what {
            Clean::Show => false,
            Clean::Gone => !there,
            Clean::Here => here.as_ref() == Some(&root),
            Clean::All => true,
        };
        let row = KeptRow {
            root: root.display().to_string(),
            there,
            runs: kept.runs().names().len(),
            bytes: bytes_below(kept.directory()),
            removed: wanted,
        };
        if wanted {
            let _lock = crate::repair::RunLock::take(kept.directory())?;
            kept.remove()?;
        }
        rows.push(row);
    }
    rows.sort_by(|a, b| a.root.cmp(&b.root));
    Ok(KeptDocument {
        schema_version: SCHEMA_VERSION,
        document: "kept",
        repositories: rows,
    })
}

fn bytes_below(folder: &Path) -> u64 {
    let mut bytes = 0;
    let mut open = vec![folder.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .flatten()
        {
            match entry.metadata() {
                Ok(about) if about.is_dir() => open.push(entry.path()),
                Ok(about) => bytes += about.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}
