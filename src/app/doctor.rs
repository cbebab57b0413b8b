//! The task of `mendit doctor` without a probe: checks what is installed. It runs nothing of the
//! repository, since nobody named a command.

use super::agents::{PRESETS, is_installed};
use super::confined::confined;
use super::open::listen;
use super::runs::{KeptRun, RunStore};
use super::{App, Result};
use crate::exec::{self, CommandLine, Discard, Outcome, SandboxState};
use crate::inventory::{Project, find_problems};
use crate::model::CheckupState::{self, Good, Missing, Weak};
use crate::model::{CheckupRow, HealingResult, SandboxMode};
use crate::patch::is_interrupted;
use crate::workspace::Workspace;

/// Looks at repository, packages, sandbox, agents and the last run. Nothing of the repository is
/// run.
///
/// # Errors
/// A repository that cannot be read.
pub fn check_up(app: &App) -> Result<HealingResult> {
    let workspace = app.worktree()?;
    let store = RunStore::open(app)?;
    let mut rows = vec![repository(&workspace)];
    let state = store.state.directory();
    if is_interrupted(state) {
        let message = "an apply was interrupted: files may be half changed";
        rows.push(row(
            "apply",
            Missing,
            message,
            Some("mendit apply --recover"),
        ));
    }
    rows.push(row("kept runs", Good, state.display().to_string(), None));
    rows.push(check_sandbox(app)?);
    let last = store.last_command();
    let works = last.as_ref().is_some_and(KeptRun::found_its_packages);
    rows.extend(check_packages(app, &workspace, works)?);
    let line = last.as_ref().and_then(KeptRun::line);
    let line = line.unwrap_or_else(|| "a command with a secret".to_owned());
    let (state, message, command) = match &last {
        Some(last) if last.passed() => (Good, format!("`{line}` passed"), None),
        Some(_) => (Weak, format!("`{line}` failed"), Some("mendit why")),
        None => (
            Weak,
            "nothing was run here yet".to_owned(),
            Some("mendit run CMD"),
        ),
    };
    rows.push(row("last run", state, message, command));
    let found = PRESETS
        .iter()
        .filter(|preset| is_installed(&preset.command));
    let found: Vec<&str> = found.map(|preset| preset.name.as_str()).collect();
    let (state, message) = match found.join(", ") {
        names if names.is_empty() => (
            Weak,
            "none is installed; fixes without a model work".to_owned(),
        ),
        names => (Good, names),
    };
    rows.push(row("agents", state, message, None));
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
    let (state, message, command) = match (&workspace.git, &workspace.root) {
        (Some(_), Some(root)) => (Good, format!("{} ({files} files)", root.display()), None),
        (Some(_), None) => (
            Weak,
            "bare: patches can be validated, nothing can be run".to_owned(),
            None,
        ),
        (None, _) => {
            let message =
                format!("not a git repository: all {files} files below this folder are read");
            (Weak, message, Some("git init"))
        }
    };
    row("repository", state, message, command)
}

// What the project declares and is not present.
fn check_packages(app: &App, workspace: &Workspace, works: bool) -> Result<Vec<CheckupRow>> {
    let node = node_version(app)?;
    let problems = find_problems(&Project::open(workspace), node.as_deref()).into_iter();
    let rows = problems.map(|remedy| {
        let command = remedy.command.as_deref();
        if works {
            let message = format!("{}; the last run did without it", remedy.problem);
            return row("packages", Weak, message, command);
        }
        row("packages", Missing, remedy.problem, command)
    });
    Ok(rows.collect())
}

// The version of the Node.js that commands find.
fn node_version(app: &App) -> Result<Option<String>> {
    if !is_installed("node") {
        return Ok(None);
    }
    let command = CommandLine::Program(vec!["node".into(), "--version".into()]);
    let outcome = run_confined(app, command)?;
    let version = outcome.output.text().trim().to_owned();
    Ok(Some(version).filter(|_| outcome.passed()))
}

// How far a command is confined, found out with one that does nothing.
fn check_sandbox(app: &App) -> Result<CheckupRow> {
    let command = CommandLine::Shell("exit 0".to_owned());
    let (state, message) = match run_confined(app, command)?.sandbox {
        SandboxState::Enforced => (Good, "commands write only where allowed"),
        SandboxState::Partial => (Weak, "only partly in force on this kernel"),
        SandboxState::None => (Weak, "this system has none: commands may write anywhere"),
    };
    Ok(row("sandbox", state, message, None))
}

fn run_confined(app: &App, command: CommandLine) -> Result<Outcome> {
    let (mut job, _private) = confined(app, command)?;
    job.sandbox.mode = SandboxMode::Auto;
    Ok(exec::run(&job, &listen()?, &mut Discard)?)
}
