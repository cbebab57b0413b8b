use std::path::{Path, PathBuf};
use std::time::Duration;

use super::agents::{chosen_agent, refuse_missing_agent};
use super::known_cause::known_cause;
use super::last_run::LastOf;
use super::remedy::by_hand;
use super::shared::shared;
use super::split::read_task;
use super::traced::known_trace;
use super::{App, AppError, Progress, runs};
use crate::config::{Dollars, Settings};
use crate::context::{Request, add_history, base_request};
use crate::diagnose::Log;
use crate::model::{Diagnosis, Exit, Profile, RunResult, RunStatus, StopReason};
use crate::patch::{WriteError, is_interrupted, recover};
use crate::repair::{Agent, Commands, Policy, RunLock, Setup, Task, digest, repair};
use crate::workspace::{At, Workspace};

/// Make a failing test command pass. The commands, the agent and what may be spent are settings.
#[derive(Debug, Clone, Default)]
pub struct RepairRequest {
    /// Whether the whole repository may be sent.
    pub include_bundle: bool,
    /// What is wanted beyond passing commands: the name of its file, and what stands in it.
    pub task: Option<(String, Vec<u8>)>,
    /// A log of the failure that is meant; another one is said and not repaired.
    pub log: Option<Log>,
    /// Whether a patch that helps is put into the worktree.
    pub apply: bool,
    /// Where a copy of the run's folder is written.
    pub out: Option<PathBuf>,
    /// A run to go on with.
    pub resume: Option<String>,
}

/// A repair that ended.
pub struct Repaired {
    /// `result.json`.
    pub result: RunResult,
    /// The folder that tells about it.
    pub folder: PathBuf,
    /// Where the run is kept; the folder may be a copy of it.
    pub(super) kept: PathBuf,
    /// The patch that the run ended with.
    pub patch: Option<String>,
    /// How the process ends.
    pub exit: Exit,
}

impl Repaired {
    /// The patch, unless a secret in it is masked: it would not apply.
    #[must_use]
    pub fn whole_patch(&self) -> Option<&str> {
        let whole = |it: &&str| self.result.patch_digest == Some(digest(it.as_bytes()));
        self.patch.as_deref().filter(whole)
    }
}

/// Repairs. Commands come from the request, never from the repository.
///
/// # Errors
/// When it cannot be run; a repair that fails is no error.
pub fn repair_repository(
    app: &App,
    request: &RepairRequest,
    progress: &dyn Progress,
) -> Result<Repaired, AppError> {
    repair_after(app, request, LastOf::default(), progress)
}

/// The same after a run that failed.
pub(super) fn repair_after(
    app: &App,
    request: &RepairRequest,
    before: LastOf,
    progress: &dyn Progress,
) -> Result<Repaired, AppError> {
    let settings = app.settings();
    if settings.test.command.0.is_empty() {
        return Err(AppError::usage("no command says when the repair is done")
            .hint("name one with `--test CMD`, or with `test.command` in your own settings"));
    }
    refuse_missing_agent(settings)?;
    let workspace = app.workspace(At::Worktree, progress)?;
    let root = workspace
        .root
        .clone()
        .ok_or_else(|| AppError::bare(": there is nothing to run commands in"))?;
    let allowed = app.allowed()?;
    let task = request.task.as_ref();
    let task = task
        .map(|(name, text)| read_task(name, app.clean(text).as_bytes()))
        .transpose()?;
    let state = runs::state(app, &workspace)?;
    let _lock = RunLock::take(state.directory())?;
    let workspace = after_recovery(app, workspace, &root, state.directory(), request, progress)?;
    let folders = if let Some(run) = &request.resume {
        runs::resume(app, run, &workspace)?
    } else {
        let out = request.out.as_deref();
        out.map_or(Ok(()), |out| runs::refuse_used(app, out, runs::RUN))?;
        runs::start(app, &workspace, out, false)?
    };
    let read = app.read_policy(Profile::Ranked)?;
    let mut packets = base_request(app.settings(), workspace.git.as_ref());
    packets.rules = app.rules();
    packets.include_bundle = request.include_bundle;
    let by_change = is_known(app, &workspace, &mut packets);
    let known = state.known();
    add_history(&mut packets, workspace.git.as_ref(), "HEAD", &known);
    let agent = chosen_agent(settings);
    let slot = made(&settings.repair.scratch.clone().unwrap_or(state.workplace()))?;
    let command = settings.test.command.0.join(" && ");
    let again = |name: &str| format!("mendit repair --env {name} --test {command:?}");
    let mends = |diagnosis: &Diagnosis| {
        let found = by_hand(&workspace, (diagnosis, ""), &command, &again);
        let said = found.into_iter().map(|(_, it)| match it.command {
            Some(line) => format!("{}: `{line}`", it.problem),
            None => it.problem,
        });
        said.collect()
    };
    let before = before.of(workspace.source.as_ref());
    let setup = Setup {
        root: &root,
        prefix: &workspace.prefix,
        git: workspace.git.as_ref(),
        source: workspace.source.as_ref(),
        workplace: settings.repair.workplace,
        slot: &slot,
        folder: &folders.kept,
        copy: folders.shown.as_deref(),
        state: state.directory(),
        known: &known,
        redactor: app.redactor(),
        read: &read,
        request: packets,
        commands: commands(app),
        agent: (agent.as_ref()).map_or(Agent::None, |it| it.called(&settings.agent.write)),
        policy: Policy {
            // What a change of code brought is mended in code.
            treat_as_code: settings.repair.treat_as_code || by_change,
            ..policy(settings, task.as_ref())
        },
        allowed,
        task,
        remedies: &mends,
        reported: request.log.as_ref().map(|log| masked(app, log)),
        before,
        shared: shared(workspace.source.as_ref(), &root, &settings.repair.share)?,
        apply: request.apply,
        resume: request.resume.is_some(),
    };
    let stop = progress.stop()?;
    let result = repair(&setup, &stop, &mut |event| progress.event(event));
    known.save();
    let result = result?;
    let unapplied = request.apply && result.patch_digest.is_some() && !result.applied;
    Ok(Repaired {
        exit: if unapplied { Exit::No } else { exit(&result) },
        patch: std::fs::read_to_string(folders.kept.join("final.patch"))
            .ok()
            .filter(|patch| !patch.is_empty()),
        folder: folders.named().to_owned(),
        kept: folders.kept,
        result,
    })
}

// Adds what is known of the commands on these files; whether it is the change that made them fail.
fn is_known(app: &App, workspace: &Workspace, packets: &mut Request) -> bool {
    let lines = &app.settings().test.command.0;
    let mut causes = lines.iter().map(|line| known_cause(app, workspace, line));
    let mut traces = lines.iter().map(|line| known_trace(app, workspace, line));
    packets.cause = causes.find_map(|it| it);
    packets.traced = traces.find_map(|it| it);
    packets.cause.is_some()
}

/// The commands that must pass, as the settings say how they are run.
pub(super) fn commands(app: &App) -> Commands {
    let settings = app.settings();
    Commands {
        lines: settings.test.command.0.clone(),
        setup: settings.test.setup.clone(),
        timeout: settings.test.timeout.map(|it| it.0),
        grace: Duration::from_secs(5),
        max_output: 256 << 20,
        environment: settings.test.env.clone(),
        writable: settings.repair.allow_write.clone(),
        sandbox: settings.repair.sandbox,
        no_network: settings.repair.no_net,
        rules: app.rules(),
    }
}

fn masked(app: &App, log: &Log) -> String {
    app.redactor().redact(log.text()).text.into_owned()
}

// A run that goes on finishes first what it was writing; another one does not begin before that.
fn after_recovery(
    app: &App,
    workspace: Workspace,
    root: &Path,
    state: &Path,
    request: &RepairRequest,
    progress: &dyn Progress,
) -> Result<Workspace, AppError> {
    if !is_interrupted(state) {
        return Ok(workspace);
    }
    if request.resume.is_none() {
        return Err(WriteError::Interrupted.into());
    }
    recover(root, state)?;
    app.workspace(At::Worktree, progress)
}

fn exit(result: &RunResult) -> Exit {
    match (result.status, result.stop_reason) {
        (_, StopReason::Interrupted) => Exit::Interrupted,
        (RunStatus::Fixed, _) => Exit::Yes,
        (RunStatus::UserActionRequired | RunStatus::InvalidTask, _) => Exit::PersonMustAct,
        (_, StopReason::AgentTimeout | StopReason::CommandTimeout) => Exit::TimedOut,
        (_, StopReason::PolicyRejected) => Exit::Refused,
        _ => Exit::No,
    }
}

fn policy(settings: &Settings, task: Option<&Task>) -> Policy {
    let repair = &settings.repair;
    Policy {
        agent: settings.agent.command.is_some(),
        heal: repair.heal,
        heal_imports: repair.heal_imports,
        auto_split: repair.auto_split,
        min_level: repair.min_level.level(),
        max_level: repair.max_level.level(),
        max_attempts: repair.max_attempts,
        max_seconds: Some(repair.budget_seconds.0.as_secs_f64()),
        max_packet_bytes: 50_000_000,
        max_cost_usd: repair.budget_usd.map(Dollars::amount),
        agent_timeout: settings.agent.timeout.0.as_secs_f64(),
        depth: 0,
        estimated_turns: task.map(|task| task.estimate().estimated_turns),
        treat_as_code: repair.treat_as_code,
        limit_is_failure: false,
        counter_proof: repair.counter_proof,
        strict: repair.strict,
        trace: settings.context.trace,
    }
}

/// Makes the folder of workplaces.
pub(super) fn made(slot: &Path) -> Result<PathBuf, AppError> {
    std::fs::create_dir_all(slot)
        .and_then(|()| slot.canonicalize())
        .map_err(|error| {
            let shown = slot.display();
            let said = format!("cannot make the scratch folder `{shown}`: {}", error.kind());
            AppError::environment(said).hint("name another place with `--scratch DIR`")
        })
}
