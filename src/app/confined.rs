use std::path::{Path, PathBuf};

use super::shared::shared;
use super::{App, AppError, Progress, runs};
use crate::exec::{CommandLine, Job, Sandbox, SandboxState, Temporary};
use crate::git::Repository;
use crate::model::{Code, NotConfined, SandboxMode, WorkplaceMode, walls_in_words};
use crate::workplace::{Plan, Workplace};
use crate::workspace::At;

/// How far a command of the user is confined.
#[derive(Default)]
pub(super) struct Confinement<'a> {
    pub(super) sandbox: SandboxMode,
    /// What it may write besides the worktree.
    pub(super) writable: &'a [PathBuf],
    pub(super) no_network: bool,
}

/// A job in the worktree itself: it may write all of it, wherever in it the command is run, but
/// not what git reads later; without git, the folder it is run in.
pub(super) fn confined(
    app: &App,
    command: CommandLine,
    how: &Confinement<'_>,
) -> Result<Job, AppError> {
    let mut writable = how.writable.to_vec();
    let repository = Repository::discover(app.directory())?;
    let mut closed = Vec::new();
    if let Some(git) = &repository {
        writable.extend(git.workdir().map(Path::to_owned));
        let homes = [git.git_dir().to_owned(), git.common_dir()];
        closed.extend(homes.iter().filter_map(|home| home.canonicalize().ok()));
        closed.extend(git.workdir().map(nested_repositories).unwrap_or_default());
    }
    closed.retain(|place| !writable.contains(place));
    Ok(Job {
        sandbox: Sandbox {
            mode: how.sandbox,
            writable,
            closed,
            no_network: how.no_network,
        },
        ..Job::new(command, app.directory())
    })
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

/// Moves a job from the worktree to a workplace of its own, which lasts as long as the value.
pub(super) fn stand_in(
    app: &App,
    job: &mut Job,
    choice: WorkplaceMode,
    progress: &dyn Progress,
) -> Result<Option<Temporary>, AppError> {
    let workspace = app.workspace(At::Worktree, progress)?;
    let Some(root) = &workspace.root else {
        return Ok(None);
    };
    let state = runs::state(app)?;
    let slot = Temporary::within(state.directory())
        .map_err(|error| AppError::environment(format!("no workplace: {error}")))?;
    let commands = [job.command.to_string()];
    let report = |done, all| {
        progress.step(&format!("copying the worktree: {done} of {all} files"));
    };
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
    let place = Workplace::open(&plan, &report)?;
    let below = job.directory.strip_prefix(root).unwrap_or(Path::new(""));
    job.directory = place.root().join(below);
    job.sandbox.writable.retain(|it| it != root);
    job.sandbox.closed.clear();
    let private = job.private.clone();
    place.confine(job);
    // The caller's own last as long as the job.
    if private.is_some() {
        job.private = private;
    }
    let message = format!("workplace: {} ({})", place.kind().as_str(), place.why());
    progress.note(&message);
    Ok(Some(slot))
}

/// Says when a sandbox that was to be had is not in force.
pub(super) fn say_unconfined(
    state: SandboxState,
    missing: &[NotConfined],
    progress: &dyn Progress,
) {
    let how = match state {
        SandboxState::Enforced => return,
        SandboxState::Partial => "only partly",
        SandboxState::None => "not",
    };
    let what = match walls_in_words(missing) {
        words if words.is_empty() => words,
        words => format!("; not confined: {words}"),
    };
    progress.note(&format!(
        "{}: the sandbox is {how} in force{what}",
        Code::R211
    ));
}
