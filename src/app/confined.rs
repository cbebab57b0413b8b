use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::files::temporary;
use super::{App, AppError, Result, runs};
use crate::exec::{CommandLine, Job, Sandbox, SandboxState, Temporary};
use crate::git::Repository;
use crate::model::{Code, NotConfined, RepoPath, WorkplaceMode, walls_in_words};
use crate::source::Source;
use crate::workplace::{Plan, Workplace};

/// A job in the worktree itself, confined as the settings say: it may write all of the worktree, wherever in it the
/// command runs, but not what git reads later; without git, the folder it runs in.
/// Its private folder is gone with the second value.
pub(super) fn confined(app: &App, command: CommandLine) -> Result<(Job, Temporary)> {
    let private = temporary()?;
    let settings = &app.settings().sandbox;
    let mut writable = settings.allow_write.clone();
    let repository = Repository::discover(app.directory())?;
    let mut closed = Vec::new();
    if let Some(git) = &repository {
        writable.extend(git.workdir().map(Path::to_owned));
        let homes = [git.git_dir().to_owned(), git.common_dir()];
        closed.extend(homes.iter().filter_map(|home| home.canonicalize().ok()));
        closed.extend(git.workdir().map(nested_repositories).unwrap_or_default());
    }
    closed.retain(|place| !writable.contains(place));
    let mut job = Job::new(command, app.directory());
    job.private = Some(private.path().to_owned());
    job.sandbox = Sandbox {
        mode: settings.mode,
        writable,
        closed,
        no_network: settings.no_net,
    };
    Ok((job, private))
}

/// Folders of a worktree that are searched for repositories inside it.
const MAX_FOLDERS: usize = 20_000;

/// Finds the `.git` of every repository inside a worktree, whose hooks and settings git runs there.
/// Installed packages are passed over.
fn nested_repositories(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    let mut seen = 0;
    while let Some(folder) = open.pop().filter(|_| seen < MAX_FOLDERS) {
        seen += 1;
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match entry.file_name().to_str() {
                Some(".git") if folder == root => {}
                Some(".git") => found.push(entry.path()),
                Some("node_modules" | ".venv" | "target" | ".mendit") => {}
                _ if is_folder => open.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Moves a job from the worktree to an isolated copy, which lasts as long as its folder, where the settings ask for that.
pub(super) fn move_to_copy(app: &App, job: &mut Job) -> Result<Option<Temporary>> {
    let choice = app
        .settings()
        .sandbox
        .workplace
        .unwrap_or(WorkplaceMode::InPlace);
    if choice == WorkplaceMode::InPlace {
        return Ok(None);
    }
    let workspace = app.worktree()?;
    let Some(root) = &workspace.root else {
        return Ok(None);
    };
    let slot = Temporary::within(runs::state(app)?.directory())
        .map_err(|error| AppError::environment(format!("no isolated copy: {error}")))?;
    let commands = [job.command.to_string()];
    let plan = Plan {
        choice,
        slot: slot.path(),
        source: workspace.source.as_ref(),
        root,
        git: workspace.git.as_ref(),
        shared: shared(workspace.source.as_ref(), root, &[])?,
        commands: &commands,
        closed: Vec::new(),
    };
    app.progress.step("copying the worktree");
    let place = Workplace::open(&plan)?;
    let below = job.directory.strip_prefix(root).unwrap_or(Path::new(""));
    job.directory = place.root().join(below);
    job.sandbox.writable.retain(|path| path != root);
    job.sandbox.closed.clear();
    // The private folder of the caller lasts as long as the job.
    let private = job.private.take();
    place.confine(job);
    job.private = private.or(job.private.take());
    app.note(&format!("workplace: {} ({})", place.kind(), place.why()));
    Ok(Some(slot))
}

/// Says when a sandbox that was to be had is not in force.
pub(super) fn say_unconfined(state: SandboxState, missing: &[NotConfined], app: &App) {
    let how = match state {
        SandboxState::Enforced => return,
        SandboxState::Partial => "only partly",
        SandboxState::None => "not",
    };
    let what = match walls_in_words(missing) {
        words if words.is_empty() => words,
        words => format!("; not confined: {words}"),
    };
    app.note(&format!(
        "{}: the sandbox is {how} in force{what}",
        Code::R211
    ));
}

/// Installed packages: ignored by git and needed by tests, so a copy links to them. What is `named`
/// besides must be there.
pub(super) fn shared(source: &dyn Source, root: &Path, named: &[String]) -> Result<Vec<RepoPath>> {
    let mut found: BTreeSet<RepoPath> = BTreeSet::new();
    for entry in source.listing().files() {
        let folders: &[&str] = match entry.path.file_name() {
            "package.json" => &["node_modules"],
            "pyproject.toml" | "setup.py" | "requirements.txt" | "uv.lock" => &[".venv", "venv"],
            _ => &[],
        };
        let beside = |folder: &&str| RepoPath::resolve(entry.path.directory(), folder).ok();
        found.extend(folders.iter().filter_map(beside));
    }
    found.extend(
        ["node_modules", ".venv"]
            .into_iter()
            .flat_map(RepoPath::new),
    );
    // A file `.venv` leads to an environment, and is copied as other files are.
    found.retain(|path| root.join(path.as_str()).is_dir());
    for typed in named {
        let path = RepoPath::resolve("", typed.trim_end_matches('/')).ok();
        let path = path.filter(|path| root.join(path.as_str()).exists());
        let missing = || AppError::usage(format!("--share: there is no `{typed}` in the worktree"));
        found.insert(path.ok_or_else(missing)?);
    }
    found.retain(|path| !source.listing().has_directory(path.as_str()));
    Ok(found.into_iter().collect())
}
