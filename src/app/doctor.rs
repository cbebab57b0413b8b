use super::agents::{PRESETS, is_installed};
use super::confined::{Confinement, confined};
use super::drift::{drift, lacking, unfetched};
use super::files::temporary;
use super::last_run::{LastCommand, found_its_packages, last_command};
use super::open::listen;
use super::{App, AppError, Progress, runs};
use crate::exec::{self, CommandLine, Discard, SandboxState};
use crate::git::Repository;
use crate::model::{Checkup, CheckupRow, CheckupState, SCHEMA_VERSION, SandboxMode};
use crate::patch::is_interrupted;
use crate::workspace::{At, Workspace};

/// Looks at repository, packages, sandbox, agents and the last run. Nothing of the repository is
/// run.
///
/// # Errors
/// A repository that cannot be read.
pub fn check_up(app: &App, progress: &dyn Progress) -> Result<Checkup, AppError> {
    let workspace = app.workspace(At::Worktree, progress)?;
    let mut rows = Vec::new();
    let mut row = |name, state, message: String, command: Option<&str>| {
        rows.push(CheckupRow {
            name,
            state,
            message,
            command: command.map(str::to_owned),
        });
    };
    let files = workspace.source.listing().entries().len();
    match (&workspace.git, &workspace.root) {
        (Some(_), Some(root)) => row(
            "repository",
            CheckupState::Good,
            format!("{} ({files} files)", root.display()),
            None,
        ),
        (Some(_), None) => row(
            "repository",
            CheckupState::Weak,
            "bare: patches can be judged, nothing can be run".to_owned(),
            None,
        ),
        (None, _) => row(
            "repository",
            CheckupState::Weak,
            format!("no git repository: all {files} files below this folder are read"),
            Some("git init"),
        ),
    }
    let unfinished = |git: &Repository| {
        let mut marks = UNFINISHED.iter();
        marks.find(|(mark, _)| git.git_dir().join(mark).exists())
    };
    if let Some((_, what)) = workspace.git.as_ref().and_then(unfinished) {
        let said = format!("{what} is in progress: finish it first");
        row("merge", CheckupState::Weak, said, Some("git status"));
    }
    match runs::here(app) {
        Ok(state) => {
            if is_interrupted(state.directory()) {
                let said = "an apply was interrupted: files may be half changed".to_owned();
                let command = Some("mendit apply --recover");
                row("apply", CheckupState::Missing, said, command);
            }
            row(
                "kept runs",
                CheckupState::Good,
                state.directory().display().to_string(),
                None,
            );
        }
        Err(error) => row("kept runs", CheckupState::Missing, error.message, None),
    }
    let (state, message) = sandbox(app)?;
    row("sandbox", state, message, None);
    for (state, said, command) in packages(app, &workspace)? {
        row("packages", state, said, command.as_deref());
    }
    match last_command(app)? {
        Some(LastCommand { again, passed, .. }) => {
            let line = again
                .line()
                .unwrap_or_else(|| "a command with a secret".to_owned());
            let said = if passed { "passed" } else { "failed" };
            row(
                "last run",
                [CheckupState::Weak, CheckupState::Good][usize::from(passed)],
                format!("`{line}` {said}"),
                (!passed).then_some("mendit fix"),
            );
        }
        None => row(
            "last run",
            CheckupState::Weak,
            "nothing was run here yet".to_owned(),
            Some("mendit run CMD"),
        ),
    }
    let found: Vec<&str> = PRESETS
        .iter()
        .filter(|it| is_installed(&it.command))
        .map(|it| it.name.as_str())
        .collect();
    if found.is_empty() {
        let said = "none is installed; what needs no model works without".to_owned();
        row("agents", CheckupState::Weak, said, None);
    } else {
        row("agents", CheckupState::Good, found.join(", "), None);
    }
    for name in [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"] {
        if app.directory().join(name).is_file() {
            let said = format!("`{name}` names MCP servers, which were not started");
            let command = format!("mendit doctor --mcp {name}");
            row("servers", CheckupState::Good, said, Some(&command));
        }
    }
    Ok(Checkup {
        schema_version: SCHEMA_VERSION,
        document: "checkup",
        rows,
    })
}

// What manifests and lock files ask for and is not installed so.
fn packages(
    app: &App,
    workspace: &Workspace,
) -> Result<Vec<(CheckupState, String, Option<String>)>, AppError> {
    let Some(root) = &workspace.root else {
        return Ok(Vec::new());
    };
    let works = found_its_packages(app)?;
    let source = workspace.source.as_ref();
    let missing = lacking(source, root, &workspace.prefix).into_iter();
    let rows = missing.chain(drift(source, root, &workspace.prefix));
    let rows = rows.chain(unfetched(None, source, root));
    let rows = rows.map(|it| {
        let mut said = it.problem;
        let mut state = CheckupState::Missing;
        if works {
            said.push_str("; the last run did without it");
            state = CheckupState::Weak;
        }
        let installer = it.command.iter().flat_map(|line| line.split_whitespace());
        if let Some(name) = installer.take(1).find(|name| !is_installed(name)) {
            said.push_str(&format!("; `{name}` is not installed here"));
        }
        (state, said, it.command)
    });
    Ok(rows.collect())
}

// What git leaves beside its index until something is brought to its end.
const UNFINISHED: &[(&str, &str)] = &[
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
];

// How far a command is confined, found out with one that does nothing.
fn sandbox(app: &App) -> Result<(CheckupState, String), AppError> {
    let confinement = Confinement {
        sandbox: SandboxMode::Auto,
        writable: &[],
        no_network: false,
    };
    let mut job = confined(app, CommandLine::Shell("exit 0".to_owned()), &confinement)?;
    let private = temporary()?;
    job.private = Some(private.path().to_owned());
    let outcome = exec::run(&job, &listen()?, &mut Discard)?;
    Ok(match outcome.sandbox {
        SandboxState::Enforced => (
            CheckupState::Good,
            "commands write only where they may".to_owned(),
        ),
        SandboxState::Partial => (
            CheckupState::Weak,
            "only partly in force on this kernel".to_owned(),
        ),
        SandboxState::None => (
            CheckupState::Weak,
            "this system has none: commands may write anywhere".to_owned(),
        ),
    })
}
