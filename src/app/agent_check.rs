use std::path::Path;
use std::time::Duration;

use super::agents::{ChosenAgent, chosen_agent, missing_agent};
use super::confined::{Confinement, confined};
use super::doctor::{checkup, row};
use super::files::{temporary, write_file};
use super::flags::{AGENT, request};
use super::open::listen;
use super::repair::{RepairRequest, Repaired, repair_repository};
use super::{App, AppError, Progress, preset, runs};
use crate::config::Seconds;
use crate::exec::{self, CommandLine, Discard};
use crate::git::first_commit;
use crate::model::CheckupState::{Good, Missing, Weak};
use crate::model::{AgentProtocol, Checkup, CheckupRow, RunStatus, SandboxMode, StopReason};
use crate::repair::read_run;
use crate::workspace::{At, Workspace, canonical};

request! {
/// See that an agent is there, answers and edits.
AgentRequest {
    /// The agent, as `--agent` of `mendit repair` takes it: a name or a command line
    #[arg(value_name = "NAME", value_parser = AGENT, hide_possible_values = true, required = true)]
    name: Option<String> => set agent.command;
    /// How an agent that is given as a command line is spoken to
    #[arg(long, value_enum)] agent_protocol: Option<AgentProtocol> => set agent.protocol;
    /// Seconds that it has [default: 300] [setting: agent.timeout]
    #[arg(long, value_name = "S")] agent_timeout: Option<Seconds> => set agent.timeout;
    /// Hand this variable on to it: NAME or NAME=VALUE; can be given again [setting: agent.env]
    #[arg(long, value_name = "NAME")] agent_env: Vec<String> => add agent.env;
    /// How far its writing is confined [default: auto] [setting: repair.sandbox]
    #[arg(long, value_enum)] sandbox: Option<SandboxMode> => set repair.sandbox;
}
}

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
        rows.push(row("program", Missing, problem, install.as_deref()));
        return Ok(checkup(rows));
    }
    rows.push(row("program", Good, chosen.shown(), None));
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
    Ok(checkup(rows))
}

// Which of its keys it gets; an agent without one has a login of its own, or none.
fn key(name: &str, chosen: &ChosenAgent) -> Option<CheckupRow> {
    if !chosen.env.is_empty() {
        let names = chosen
            .env
            .iter()
            .map(|it| it.split('=').next().unwrap_or(it));
        let message = format!("it gets {}", names.collect::<Vec<_>>().join(", "));
        return Some(row("keys", Good, message, None));
    }
    let keys = preset(name.trim())?.keys.join(", ");
    let message = format!("none of {keys} is set: its own login is used");
    Some(row("keys", Weak, message, None))
}

fn version(app: &App, program: &str) -> Result<CheckupRow, AppError> {
    let line = CommandLine::Shell(format!("{program} --version"));
    let mut job = confined(app, line, &Confinement::default())?;
    let private = temporary()?;
    job.private = Some(private.path().to_owned());
    job.limits.timeout = Some(VERSION_TIME);
    let outcome = exec::run(&job, &listen()?, &mut Discard)?;
    let stdout = outcome.stdout.text();
    let mut lines = stdout.lines().map(str::trim);
    let line = lines.find(|it| it.contains(|it: char| it.is_ascii_digit()));
    let Some(line) = line else {
        let message = format!("`{program} --version` ended with {}", outcome.end);
        return Ok(row("version", Weak, message, None));
    };
    let line = app.redactor().redact(line).text.into_owned();
    Ok(row("version", Good, line, None))
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
    let answer = |state, message: &str| row("answer", state, message, None);
    let edit = |state, message: &str| row("edit", state, message, None);
    let took = format!(
        "it answered; all of it took {:.0} s",
        result.duration_seconds
    );
    let mut rows = match result.stop_reason {
        StopReason::Fixed => {
            let message = format!("its change to {FILE} made the test pass");
            return vec![answer(Good, &took), edit(Good, &message)];
        }
        _ if result.agent_trouble.is_some() => vec![answer(Missing, &result.message)],
        StopReason::AgentTimeout | StopReason::AgentError | StopReason::UserActionRequired => {
            vec![answer(Missing, &result.message)]
        }
        StopReason::Interrupted => vec![answer(Missing, "it was interrupted")],
        _ if result.agent_calls == 0 => {
            vec![answer(
                Missing,
                &format!("it was not asked: {}", result.message),
            )]
        }
        _ => {
            let run = read_run(&repaired.kept);
            let tried = run.iter().flat_map(|it| &it.attempts).next_back();
            let message = tried.map_or(&result.message, |it| &it.result.message);
            vec![answer(Good, &took), edit(Missing, message)]
        }
    };
    let files = ["agent.stderr", "agent.stdout"];
    let mut files = files
        .map(|it| repaired.kept.join("attempts/01").join(it))
        .into_iter();
    let log = files.find(|it| std::fs::metadata(it).is_ok_and(|it| it.len() > 0));
    rows.extend(log.map(|path| row("it said", Weak, path.display().to_string(), None)));
    rows
}

const FILE: &str = "price.sh";
const VERSION_TIME: Duration = Duration::from_secs(30);
