use super::agents::{PRESETS, is_installed};
use super::confined::confined;
use super::files::temporary;
use super::open::listen;
use super::runs::{self, KeptRun, RunStore};
use super::{App, AppError, Progress};
use crate::exec::{self, CommandLine, Discard, Outcome, SandboxState};
use crate::inventory::{Project, find_problems};
use crate::model::CheckupState::{self, Good, Missing, Weak};
use crate::model::{CheckupRow, HealingResult, SandboxMode};
use crate::patch::is_interrupted;
use crate::workspace::{At, Workspace};

/// Looks at repository, packages, sandbox, agents and the last run. Nothing of the repository is
/// run.
///
/// # Errors
/// A repository that cannot be read.
pub fn check_up(app: &App, progress: &dyn Progress) -> Result<HealingResult, AppError> {
    let workspace = app.workspace(At::Worktree, progress)?;
    let mut rows = vec![repository(&workspace)];
    match runs::state(app) {
        Ok(state) => {
            if is_interrupted(state.directory()) {
                let text = "an apply was interrupted: files may be half changed";
                rows.push(row("apply", Missing, text, Some("mendit apply --recover")));
            }
            let message = state.directory().display().to_string();
            rows.push(row("kept runs", Good, message, None));
        }
        Err(error) => rows.push(row("kept runs", Missing, error.message, None)),
    }
    rows.push(sandbox(app)?);
    rows.extend(packages(app, &workspace)?);
    let last = RunStore::open(app)?.last_command();
    let line = last.as_ref().and_then(KeptRun::line);
    let line = line.unwrap_or_else(|| "a command with a secret".to_owned());
    rows.push(match &last {
        Some(last) if last.passed() => row("last run", Good, format!("`{line}` passed"), None),
        Some(_) => row(
            "last run",
            Weak,
            format!("`{line}` failed"),
            Some("mendit fix"),
        ),
        None => row(
            "last run",
            Weak,
            "nothing was run here yet",
            Some("mendit run CMD"),
        ),
    });
    let found = PRESETS.iter().filter(|it| is_installed(&it.command));
    let found: Vec<&str> = found.map(|it| it.name.as_str()).collect();
    rows.push(if found.is_empty() {
        let message = "none is installed; what needs no model works without";
        row("agents", Weak, message, None)
    } else {
        row("agents", Good, found.join(", "), None)
    });
    for name in [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"] {
        if app.directory().join(name).is_file() {
            let message = format!("`{name}` names MCP servers, which were not started");
            let command = format!("mendit doctor --mcp {name}");
            rows.push(row("servers", Good, message, Some(&command)));
        }
    }
    Ok(HealingResult::from_rows(rows))
}

// What was looked at, its state, and the command that fixes it.
fn row(
    name: &'static str,
    state: CheckupState,
    message: impl Into<String>,
    command: Option<&str>,
) -> CheckupRow {
    CheckupRow {
        name,
        state,
        message: message.into(),
        command: command.map(str::to_owned),
    }
}

fn repository(workspace: &Workspace) -> CheckupRow {
    let files = workspace.source.listing().entries().len();
    match (&workspace.git, &workspace.root) {
        (Some(_), Some(root)) => {
            let message = format!("{} ({files} files)", root.display());
            row("repository", Good, message, None)
        }
        (Some(_), None) => {
            let message = "bare: patches can be judged, nothing can be run";
            row("repository", Weak, message, None)
        }
        (None, _) => {
            let message =
                format!("no git repository: all {files} files below this folder are read");
            row("repository", Weak, message, Some("git init"))
        }
    }
}

// What the project declares and is not present.
fn packages(app: &App, workspace: &Workspace) -> Result<Vec<CheckupRow>, AppError> {
    let last = RunStore::open(app)?.last_command();
    let works = last.is_some_and(|last| last.found_its_packages());
    let project = Project::open(workspace);
    let rows = find_problems(&project, node_version(app)?.as_deref())
        .into_iter()
        .map(|remedy| {
            let mut message = remedy.problem;
            let mut state = Missing;
            if works {
                message.push_str("; the last run did without it");
                state = Weak;
            }
            let line = remedy.command.as_deref().unwrap_or_default();
            let program = line.split_whitespace().next().unwrap_or_default();
            if !program.is_empty() && !["nvm", "pyenv"].contains(&program) && !is_installed(program)
            {
                message.push_str(&format!("; `{program}` is not installed here"));
            }
            row("packages", state, message, remedy.command.as_deref())
        });
    Ok(rows.collect())
}

// The version of the Node.js that commands find.
fn node_version(app: &App) -> Result<Option<String>, AppError> {
    if !is_installed("node") {
        return Ok(None);
    }
    let command = CommandLine::Program(vec!["node".into(), "--version".into()]);
    let outcome = run_confined(app, command)?;
    Ok(outcome
        .passed()
        .then(|| outcome.output.text().trim().to_owned()))
}

// How far a command is confined, found out with one that does nothing.
fn sandbox(app: &App) -> Result<CheckupRow, AppError> {
    let command = CommandLine::Shell("exit 0".to_owned());
    let (state, message) = match run_confined(app, command)?.sandbox {
        SandboxState::Enforced => (Good, "commands write only where they may"),
        SandboxState::Partial => (Weak, "only partly in force on this kernel"),
        SandboxState::None => (Weak, "this system has none: commands may write anywhere"),
    };
    Ok(row("sandbox", state, message, None))
}

fn run_confined(app: &App, command: CommandLine) -> Result<Outcome, AppError> {
    let mut job = confined(app, command)?;
    job.sandbox.mode = SandboxMode::Auto;
    let private = temporary()?;
    job.private = Some(private.path().to_owned());
    Ok(exec::run(&job, &listen()?, &mut Discard)?)
}
