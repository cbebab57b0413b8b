use std::path::Path;
use std::time::Duration;

use super::agents::{ChosenAgent, chosen_agent, missing_agent};
use super::confined::{Confinement, confined};
use super::files::{temporary, write_file};
use super::open::listen;
use super::repair::{RepairRequest, Repaired, repair_repository};
use super::{App, AppError, Progress, preset, runs};
use crate::exec::{self, CommandLine, Discard};
use crate::git::first_commit;
use crate::model::{
    Checkup, CheckupRow, CheckupState, RunStatus, SCHEMA_VERSION, SandboxMode, StopReason,
};
use crate::repair::read_run;
use crate::workspace::{At, Workspace, canonical};

/// Looks whether the agent of the settings is there, and asks it once to mend a test of one line in a
/// repository of its own. Nothing of the repository where one stands is read or run.
///
/// # Errors
/// No agent named, or a place that cannot be made; an agent that does not do its work is a row.
pub fn check_agent(app: &mut App, progress: &dyn Progress) -> Result<Checkup, AppError> {
    let settings = app.settings();
    let name = settings.agent.command.clone().unwrap_or_default();
    let Some(chosen) = chosen_agent(settings).filter(|it| !it.command.trim().is_empty()) else {
        return Err(
            AppError::usage("no agent is named").hint("such as `mendit agent check claude`")
        );
    };
    let mut rows = Vec::new();
    if let Some((problem, install)) = missing_agent(settings) {
        rows.push(row("program", CheckupState::Missing, problem, install));
        return Ok(document(rows));
    }
    rows.push(row("program", CheckupState::Good, chosen.shown(), None));
    rows.extend(key(&name, &chosen));
    let home = temporary()?;
    let root = canonical(home.path())?;
    set_out(&root)?;
    app.enter(root.clone());
    if let Some(preset) = preset(name.trim()) {
        let program = preset.command.split_whitespace().next().unwrap_or_default();
        rows.push(version(app, program)?);
    }
    task(app);
    let repaired = repair_repository(app, &RepairRequest::default(), progress)?;
    rows.extend(outcome(&repaired));
    if repaired.result.status == RunStatus::Fixed {
        // Nobody looks for a run of a repository that is gone.
        let _ = std::fs::remove_dir_all(runs::here(app)?.directory());
    }
    app.enter(home.path().parent().unwrap_or(&root).to_owned());
    Ok(document(rows))
}

fn document(rows: Vec<CheckupRow>) -> Checkup {
    Checkup {
        schema_version: SCHEMA_VERSION,
        document: "checkup",
        rows,
    }
}

fn row(
    name: &'static str,
    state: CheckupState,
    message: impl Into<String>,
    command: Option<String>,
) -> CheckupRow {
    CheckupRow {
        name,
        state,
        message: message.into(),
        command,
    }
}

// Which of its keys it gets; an agent without one has a login of its own, or none.
fn key(name: &str, chosen: &ChosenAgent) -> Option<CheckupRow> {
    if !chosen.env.is_empty() {
        let names = chosen
            .env
            .iter()
            .map(|it| it.split('=').next().unwrap_or(it));
        let said = format!("it gets {}", names.collect::<Vec<_>>().join(", "));
        return Some(row("keys", CheckupState::Good, said, None));
    }
    let keys = preset(name.trim())?.keys.join(", ");
    let said = format!("none of {keys} is set: its own login is used");
    Some(row("keys", CheckupState::Weak, said, None))
}

fn version(app: &App, program: &str) -> Result<CheckupRow, AppError> {
    let confinement = Confinement {
        sandbox: SandboxMode::Auto,
        writable: &[],
        no_network: false,
    };
    let line = CommandLine::Shell(format!("{program} --version"));
    let mut job = confined(app, line, &confinement)?;
    let private = temporary()?;
    job.private = Some(private.path().to_owned());
    job.limits.timeout = Some(VERSION_TIME);
    let outcome = exec::run(&job, &listen()?, &mut Discard)?;
    let said = outcome.stdout.text();
    let mut lines = said.lines().map(str::trim);
    let line = lines.find(|it| it.contains(|it: char| it.is_ascii_digit()));
    let Some(line) = line else {
        let said = format!("`{program} --version` ended with {}", outcome.end);
        return Ok(row("version", CheckupState::Weak, said, None));
    };
    let line = app.redactor().redact(line).text.into_owned();
    Ok(row("version", CheckupState::Good, line, None))
}

// A repository with one value that is wrong, and a command that says so.
fn set_out(root: &Path) -> Result<(), AppError> {
    write_file(&root.join(FILE), "PRICE=41\n")?;
    write_file(
        &root.join("check.sh"),
        format!(
            ". ./{FILE}\n[ \"$PRICE\" = 42 ] || {{ echo \"AssertionError: PRICE is $PRICE and should be 42\"; exit 1; }}\n"
        ),
    )?;
    let files = Workspace::at(root, At::Worktree, 1)?;
    Ok(first_commit(root, files.source.as_ref())?)
}

// One reply, nothing healed before it; what the settings say of the agent stays.
fn task(app: &mut App) {
    let settings = app.settings_mut();
    let test = &mut settings.test;
    test.command.0 = vec!["sh check.sh".to_owned()];
    (test.setup, test.timeout) = (None, None);
    test.env.clear();
    let repair = &mut settings.repair;
    (repair.heal, repair.auto_split, repair.max_attempts) = (false, false, 1);
    repair.share.clear();
    settings.patch.allow_protected = vec![FILE.to_owned()];
}

fn outcome(repaired: &Repaired) -> Vec<CheckupRow> {
    let result = &repaired.result;
    let kept = |name: &str| {
        let path = repaired.kept.join("attempts/01").join(name);
        let said = std::fs::metadata(&path).is_ok_and(|it| it.len() > 0);
        said.then(|| path.display().to_string())
    };
    let answer = |state, said: &str| row("answer", state, said, None);
    let edit = |state, said: &str| row("edit", state, said, None);
    let came = answer(
        CheckupState::Good,
        &format!(
            "it answered; all of it took {:.0} s",
            result.duration_seconds
        ),
    );
    let mut rows = match result.stop_reason {
        StopReason::Fixed => {
            let said = format!("its change to {FILE} made the test pass");
            return vec![came, edit(CheckupState::Good, &said)];
        }
        _ if result.agent_trouble.is_some() => vec![answer(CheckupState::Missing, &result.message)],
        StopReason::AgentTimeout | StopReason::AgentError | StopReason::UserActionRequired => {
            vec![answer(CheckupState::Missing, &result.message)]
        }
        StopReason::Interrupted => vec![answer(CheckupState::Missing, "it was interrupted")],
        _ if result.agent_calls == 0 => vec![answer(
            CheckupState::Missing,
            &format!("it was not asked: {}", result.message),
        )],
        _ => {
            let run = read_run(&repaired.kept);
            let tried = run.iter().flat_map(|it| &it.attempts).next_back();
            let said = tried.map_or(&result.message, |it| &it.result.message);
            vec![came, edit(CheckupState::Missing, said)]
        }
    };
    let files = ["agent.stderr", "agent.stdout"];
    let said = files.into_iter().find_map(kept);
    rows.extend(said.map(|path| row("it said", CheckupState::Weak, path, None)));
    rows
}

const FILE: &str = "price.sh";
const VERSION_TIME: Duration = Duration::from_secs(30);
