//! The task of `mendit fix`: finds a fix in an isolated copy and applies it after confirmation.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::agents::{installed_agent, refuse_missing_agent, resolve_agent};
use super::files::{make_folder, to_json, write_file};
use super::flags::{repair_level, request, word};
use super::hint::{HintRequest, find_remedies, in_words};
use super::open::root_to_run_in;
use super::patch::{PatchRequest, Target, apply_patch};
use super::runs::{self, RerunSpec, RunFolders, RunStore, secret};
use super::why::{WhyRequest, add_known, find_cause, kept_cause};
use super::{App, AppError, Input, Result};
use crate::config::{Dollars, Seconds, Settings};
use crate::context::{add_history, base_request};
use crate::inventory::{Project, explain_failure};
use crate::languages::{facts, words};
use crate::model::{
    AgentProtocol, Code, Diagnosis, Exit, Level, Profile, RepoPath, RunResult, RunStatus,
    SandboxMode, StopReason as S, WorkplaceMode,
};
use crate::patch::{Change, WriteError, is_interrupted, recover};
use crate::repair::{
    Agent, Commands, Part, Policy, RunLock, Setup, SplitInput, Task, digest, repair, split,
};
use crate::report::{Culprit, NextFacts, next_steps};
use crate::workplace::find_linked;
use crate::workspace::Workspace;

request! {
/// Make a failing test command pass.
#[derive(Default)]
FixRequest {
    /// The command to fix [default: that of the last `mendit run`]
    #[arg(value_name = "CMD", trailing_var_arg = true, conflicts_with_all = ["test", "resume"])]
    command: Vec<OsString>;
    /// Revert the culprit that `mendit why` or `mendit run` found, and nothing else
    #[arg(long, conflicts_with_all = ["command", "agent"])] undo: bool;
    /// Print the sub-tasks of `--task` and run nothing
    #[arg(hide_short_help = true, long, requires = "task", conflicts_with_all = ["command", "undo"])] split_only: bool;
    /// A command that must pass; for scripts, never prompts; repeatable, run in order
    /// [setting: test.command]
    #[arg(long, value_name = "CMD")] test: Vec<String> => list test.command;
    /// The agent: claude, codex, gemini, opencode, copilot, qwen, cursor, aider, llm or a command line; without one,
    /// only fixes without an LLM are tried [setting: agent.command]
    #[arg(long, value_name = "CMD", help_heading = WHO)]
    agent: Option<String> => set agent.command;
    /// The protocol of the agent [default: json] [setting: agent.protocol]
    #[arg(hide_short_help = true, long, value_name = "json|prompt|edit", value_parser = word::<AgentProtocol>, help_heading = WHO)] agent_protocol: Option<AgentProtocol> => set agent.protocol;
    /// Seconds for one call of the agent [default: 300] [setting: agent.timeout]
    #[arg(hide_short_help = true, long, value_name = "S", help_heading = WHO)] agent_timeout: Option<Seconds> => set agent.timeout;
    /// Pass an environment variable to the agent (NAME) or set it (NAME=VALUE); repeatable
    /// [setting: agent.env]
    #[arg(hide_short_help = true, long, value_name = "NAME", help_heading = WHO)] agent_env: Vec<String> => add agent.env;
    /// Let the agent write to this path, besides the isolated copy; repeatable
    /// [setting: agent.write]
    #[arg(hide_short_help = true, long, value_name = "PATH", help_heading = WHO)] agent_write: Vec<PathBuf> => add agent.write;
    /// Seconds for one run of a test command; by default derived from the first run
    /// [setting: limits.timeout]
    #[arg(long, visible_alias = "test-timeout", value_name = "S", help_heading = LIMITS)]
    timeout: Option<Seconds> => set limits.timeout;
    /// Pass an environment variable to the test commands (NAME) or set it (NAME=VALUE); repeatable
    /// [setting: test.env]
    #[arg(long, value_name = "NAME", help_heading = SEES)] env: Vec<String> => add test.env;
    /// Agent replies to try [default: 5] [setting: limits.max-attempts]
    #[arg(long, value_name = "N", help_heading = WHO)] max_attempts: Option<u32> => set limits.max_attempts;
    /// The highest context level, 0 to 3 [default: 3]
    #[arg(hide_short_help = true, long, value_name = "N", help_heading = WHO, value_parser = repair_level)] max_level: Option<Level>;
    /// Estimated tokens of the files of each packet; 0 is no limit [setting: context.max-tokens]
    #[arg(hide_short_help = true, long, value_name = "N")] max_tokens: Option<u64> => set context.max_tokens;
    /// How files of packets are chosen [default: ranked] [setting: context.profile]
    #[arg(hide_short_help = true, long, value_name = "ranked|spec", help_heading = WHO, value_parser = word::<Profile>)] profile: Option<Profile> => set context.profile;
    /// Send the whole repository (level 4)
    #[arg(hide_short_help = true, long, help_heading = WHO)] include_repo_bundle: bool;
    /// Requirements beyond passing commands, as JSON or Markdown
    #[arg(long, value_name = "FILE", help_heading = WHO)] task: Option<Input>;
    /// Seconds for everything [default: 1800] [setting: limits.budget-seconds]
    #[arg(long, value_name = "S", help_heading = LIMITS)] budget_seconds: Option<Seconds> => set limits.budget_seconds;
    /// Stop when the agent reports this cost [setting: limits.budget-usd]
    #[arg(hide_short_help = true, long, value_name = "USD", help_heading = WHO)] budget_usd: Option<Dollars> => set limits.budget_usd;
    /// Write the run's folder here
    #[arg(hide_short_help = true, long, value_name = "DIR", conflicts_with = "resume")] out: Option<PathBuf>;
    /// Continue an interrupted run, by its folder or name
    #[arg(long, value_name = "RUN")] resume: Option<String>;
    /// Ask the agent at once, without trying fixes without an LLM first
    #[arg(hide_short_help = true, long, help_heading = DOES)] no_heal: bool;
    /// Skip the mutation check of the failing tests
    #[arg(hide_short_help = true, long, help_heading = DOES)] no_counter_proof: bool;
    /// Do not trace the failing tests [setting: context.trace]
    #[arg(hide_short_help = true, long, help_heading = DOES)] no_trace: bool => off context.trace;
    /// Do not split a task when the agent runs out of time
    #[arg(hide_short_help = true, long, help_heading = DOES)] no_auto_split: bool;
    /// Ask the agent also about failures that usually need a human: a refused connection, a missing
    /// package, commands that never end
    #[arg(hide_short_help = true, long, help_heading = DOES)] treat_as_code: bool;
    /// Allow changes to protected files that match; repeatable
    /// [setting: patch.allow-protected]
    #[arg(hide_short_help = true, long, value_name = "GLOB", help_heading = DOES)] allow_protected: Vec<String> => add patch.allow_protected;
    /// Confine what the test commands write [default: auto] [setting: sandbox.mode]
    #[arg(hide_short_help = true, long, value_name = "auto|require|off", value_parser = word::<SandboxMode>, help_heading = SEES)] sandbox: Option<SandboxMode> => set sandbox.mode;
    /// Refuse the network to the test commands [setting: sandbox.no-net]
    #[arg(hide_short_help = true, long, help_heading = SEES)] no_net: bool => on sandbox.no_net;
    /// Let the commands and the agent write to this path; repeatable
    /// [setting: sandbox.allow-write]
    #[arg(hide_short_help = true, long, value_name = "PATH", help_heading = SEES)] allow_write: Vec<PathBuf> => add sandbox.allow_write;
    /// Where commands and agents run [setting: sandbox.workplace]
    #[arg(hide_short_help = true, long, value_name = "auto|overlay|copy|in-place", value_parser = word::<WorkplaceMode>, help_heading = SEES)] workplace: Option<WorkplaceMode> => set sandbox.workplace;
    /// Run this once in the fresh isolated copy [setting: test.setup]
    #[arg(hide_short_help = true, long, value_name = "CMD", help_heading = SEES)] setup: Option<String> => set test.setup;
    /// An ignored folder that a copy links to, besides `node_modules` and `.venv`; repeatable
    /// [setting: sandbox.share]
    #[arg(hide_short_help = true, long, value_name = "PATH", help_heading = SEES)] share: Vec<String> => list sandbox.share;
    /// Apply a fix that makes the command pass, and certain imports, without asking
    #[arg(short, long, visible_alias = "apply")] yes: bool;
}
}

impl FixRequest {
    /// Whether a person is asked before a patch is written; with `--test` and `--resume` a script decides.
    pub fn asks(&self) -> bool {
        self.test.is_empty() && self.resume.is_none()
    }
}

const DOES: &str = "Behavior";
const LIMITS: &str = "Limits";
const SEES: &str = "Environment and sandbox";
const WHO: &str = "Agent";

/// A repair that ended.
pub struct Fixed {
    /// `result.json`.
    pub result: RunResult,
    /// The folder with its records.
    pub folder: PathBuf,
    // The folder in which the run is kept; `folder` may be a copy of it.
    kept: PathBuf,
    /// The patch that the run ended with.
    pub patch: Option<String>,
    /// How the process ends.
    pub exit: Exit,
    /// The command that must pass.
    pub command: String,
}

impl Fixed {
    /// The patch, unless a secret in it is masked: it would not apply.
    pub fn whole_patch(&self) -> Option<&str> {
        self.patch
            .as_deref()
            .filter(|patch| self.result.patch_digest == Some(digest(patch.as_bytes())))
    }

    /// Whether the patch may be written without a look at it: the tests that failed pass with it.
    pub fn is_proven(&self) -> bool {
        self.result.status.is_success()
    }

    fn keep_result(&self) -> Result<()> {
        let result = to_json(&self.result)?;
        for folder in [&self.kept, &self.folder] {
            write_file(&folder.join("result.json"), &result)?;
        }
        Ok(())
    }

    /// Whether the command still fails, and the patch is nothing but certain imports that helped.
    pub fn is_part(&self) -> bool {
        let moved = [S::Interrupted, S::WorktreeChanged, S::WorkplaceUnused];
        let is_usable = !moved.contains(&self.result.stop_reason);
        is_usable && self.result.certain && self.result.remaining.is_some()
    }
}

/// Repairs what the last run failed with, or the commands that a script names, in an isolated copy.
///
/// # Errors
/// When nothing was run yet, the last run passed, or the repair cannot be run; a repair that fails is no error.
pub fn find_fix(app: &mut App, request: &FixRequest) -> Result<Fixed> {
    let line = if request.asks() {
        failing_command(app, &request.command)?
    } else {
        app.settings().test.command.0.join(" && ")
    };
    let command = app.redactor().mask(&line);
    let (result, folders, apply) = repair_repository(app, request)?;
    let is_unapplied = apply && result.patch_digest.is_some() && !result.applied;
    let patch = std::fs::read_to_string(folders.kept.join("final.patch")).ok();
    let mut fixed = Fixed {
        exit: if is_unapplied { Exit::No } else { exit_code(&result) },
        patch: patch.filter(|patch| !patch.is_empty()),
        folder: folders.named().to_owned(),
        kept: folders.kept,
        result,
        command,
    };
    if request.asks() && fixed.patch.is_none() {
        offer_undo(app, &mut fixed)?;
    }
    Ok(fixed)
}

// Searches for the change that made the command fail, so that its undo can be offered.
fn offer_undo(app: &mut App, fixed: &mut Fixed) -> Result<()> {
    let (result, settings) = (&mut fixed.result, app.settings());
    let is_open = result.stop_reason == S::StillFailing && settings.test.why;
    if !is_open || settings.agent.command.is_some() {
        return Ok(());
    }
    let request = WhyRequest {
        // The search after a failed fix gets a small budget, because nobody asked for it.
        max_runs: Some(6),
        budget_seconds: Some(Seconds(Duration::from_mins(1))),
        ..WhyRequest::default()
    };
    let Ok(found) = find_cause(app, &request) else {
        return Ok(());
    };
    let culprit = Culprit::of_search(&found);
    match culprit {
        Culprit::Undoable(_) => result.cause = Some(found.message),
        Culprit::NewTest => result.message = format!("{}; {}", result.message, found.message),
        _ => return Ok(()),
    }
    let mut steps = result.suggested_actions.iter();
    result.suggested_actions = next_steps(&NextFacts {
        culprit,
        agent: installed_agent(),
        is_certain_in_test: steps.any(|step| step.starts_with("mendit hint --apply")),
        ..NextFacts::default()
    });
    fixed.keep_result()
}

// Repairs. Commands come from the request, never from the repository.
fn repair_repository(app: &App, request: &FixRequest) -> Result<(RunResult, RunFolders, bool)> {
    let settings = app.settings();
    if settings.test.command.0.is_empty() {
        return Err(AppError::usage("no test command")
            .hint("pass one with `--test CMD`, or set `test.command` in your own settings"));
    }
    refuse_missing_agent(settings)?;
    let workspace = app.worktree()?;
    let root = root_to_run_in(&workspace)?;
    let allowed = app.allowed()?;
    let task = request.task.as_ref().map(|input| read_task(app, input)).transpose()?;
    let state = runs::state(app)?;
    let _lock = RunLock::take(state.directory())?;
    let mut workspace = workspace;
    // A resumed run finishes first what it was writing. Another run is refused until then, since files may be half
    // changed.
    if is_interrupted(state.directory()) {
        if request.resume.is_none() {
            return Err(WriteError::Interrupted.into());
        }
        recover(&root, state.directory())?;
        workspace = app.worktree()?;
    }
    let folders = folders(app, request, &workspace)?;
    let read = app.read_policy(Profile::Ranked)?;
    let mut packets = base_request(app.settings(), workspace.git.as_ref());
    packets.include_bundle = request.include_repo_bundle;
    packets.test_commands.clone_from(&settings.test.command.0);
    add_known(app, &workspace, &mut packets);
    let by_change = packets.cause.is_some();
    let cache = state.known();
    add_history(&mut packets, workspace.git.as_ref(), "HEAD", &cache);
    let agent = settings.agent.command.as_ref().map(|command| resolve_agent(command, settings));
    let is_applied = request.yes && !request.asks();
    let slot = make_folder(&state.workplace())?;
    let line = settings.test.command.0.join(" && ");
    let red = RunStore::open(app)?.last_red(&workspace, &line)?;
    let setup = Setup {
        root: &root,
        prefix: &workspace.prefix,
        git: workspace.git.as_ref(),
        source: workspace.source.as_ref(),
        workplace: settings.sandbox.workplace.unwrap_or_default(),
        slot: &slot,
        folder: &folders.kept,
        copy: folders.shown.as_deref(),
        state: state.directory(),
        known: &cache,
        redactor: app.redactor(),
        read: &read,
        request: packets,
        commands: commands(app),
        agent: agent.as_ref().map_or(Agent::None, Agent::Command),
        policy: Policy {
            // What a change of code brought is corrected in code.
            treat_as_code: request.treat_as_code || by_change,
            ..policy(settings, request, task.as_ref())
        },
        allowed,
        task,
        remedies: &|diagnosis: &Diagnosis| steps_by_hand(app, &workspace, diagnosis),
        linked_folders: find_linked(workspace.source.as_ref(), &root, &settings.sandbox.share)?,
        red: red.map(|red| red.diagnosis),
        apply: is_applied,
        resume: request.resume.is_some(),
    };
    let stop = app.progress.stop()?;
    let result = repair(&setup, &stop, &mut |event| app.progress.event(event));
    cache.save();
    Ok((result?, folders, is_applied))
}

// Where the run is kept and shown: a new one, or the one to go on with.
fn folders(app: &App, request: &FixRequest, workspace: &Workspace) -> Result<RunFolders> {
    if let Some(run) = &request.resume {
        return RunStore::open(app)?.resume(run);
    }
    if let Some(out) = &request.out {
        runs::refuse_used(app, out, runs::RUN)?;
    }
    RunStore::open(app)?.start(workspace, request.out.as_deref(), false)
}

// What a person types next, and what fixes the environment.
fn steps_by_hand(app: &App, workspace: &Workspace, diagnosis: &Diagnosis) -> Vec<String> {
    let lines = &app.settings().test.command.0;
    let command = lines.join(" && ");
    let mut kept = lines.iter().filter_map(|line| kept_cause(app, workspace, Some(line)));
    let is_outside = diagnosis.requires_user_action || diagnosis.kind.is_around_code();
    let undo = kept.find(|kept| kept.undo.is_some());
    let undo = undo.map(|kept| Culprit::Undoable(kept.cause.changes.len()));
    // The report itself offers the search where no cause is known.
    let otherwise = if is_outside { Culprit::Outside } else { Culprit::Known };
    let (request, logs) = (HintRequest::default(), [(diagnosis.clone(), "")]);
    let hinted = find_remedies(app, workspace, &request, &logs, lines).unwrap_or_default();
    let mut certain = hinted.document.suggestions.iter().filter(|one| one.certain);
    let facts = NextFacts {
        is_certain_in_test: certain
            .any(|one| !hinted.fixes.tries(&one.name, &one.import_statement)),
        culprit: undo.unwrap_or(otherwise),
        agent: installed_agent().filter(|_| app.settings().agent.command.is_none()),
        ..NextFacts::default()
    };
    let mut steps = next_steps(&facts);
    let found = explain_failure(&Project::open(workspace), diagnosis, "", &command);
    steps.extend(found.iter().map(in_words));
    steps
}

/// The commands that must pass, as the settings say how they are run.
pub(super) fn commands(app: &App) -> Commands {
    let settings = app.settings();
    Commands {
        lines: settings.test.command.0.clone(),
        setup: settings.test.setup.clone(),
        timeout: settings.limits.timeout.map(|limit| limit.0),
        grace: Duration::from_secs(5),
        max_output: settings.limits.max_output.0,
        environment: settings.test.env.clone(),
        writable: settings.sandbox.allow_write.clone(),
        sandbox: settings.sandbox.mode,
        no_network: settings.sandbox.no_net,
    }
}

fn exit_code(result: &RunResult) -> Exit {
    match (result.status, result.stop_reason) {
        (_, S::Interrupted) => Exit::Interrupted,
        (RunStatus::Fixed | RunStatus::Passed, _) => Exit::Yes,
        (RunStatus::UserActionRequired | RunStatus::InvalidTask, _) => Exit::PersonMustAct,
        (_, S::AgentTimeout | S::CommandTimeout) => Exit::TimedOut,
        (_, S::PolicyRejected) => Exit::Refused,
        _ => Exit::No,
    }
}

fn policy(settings: &Settings, request: &FixRequest, task: Option<&Task>) -> Policy {
    let limits = &settings.limits;
    Policy {
        agent: settings.agent.command.is_some(),
        heal: !request.no_heal,
        auto_split: !request.no_auto_split,
        max_level: request.max_level.unwrap_or(Level::Requested),
        max_attempts: limits.max_attempts,
        max_seconds: Some(limits.budget_seconds.0.as_secs_f64()),
        max_packet_bytes: 50_000_000,
        max_cost_usd: limits.budget_usd.map(|dollars| dollars.0),
        agent_timeout: settings.agent.timeout.0.as_secs_f64(),
        estimated_turns: task.map(Task::estimate_turns),
        treat_as_code: request.treat_as_code,
        counter_proof: !request.no_counter_proof,
        trace: settings.context.trace,
        ..Policy::default()
    }
}

/// Splits the task of `--task` into parts; there are none where it has not two tests, files or criteria.
///
/// # Errors
/// An empty task, or a repository that cannot be read.
pub fn split_task(app: &App, request: &FixRequest) -> Result<Vec<Part>> {
    let standard = Input::standard();
    let task = read_task(app, request.task.as_ref().unwrap_or(&standard))?;
    let workspace = app.worktree()?;
    let targets = task.targets.iter().flat_map(|path| RepoPath::new(path));
    let input = SplitInput {
        task: &task,
        tests: &[],
        targets: &targets
            .filter(|path| workspace.source.listing().has_file(path.as_str()))
            .collect::<Vec<_>>(),
        commands: &[],
    };
    Ok(split(&input, workspace.source.as_ref()))
}

fn read_task(app: &App, input: &Input) -> Result<Task> {
    let text = app.clean(&input.read()?);
    if text.trim().is_empty() {
        let message = format!("the task in `{}` is empty", input.name());
        return Err(AppError::usage(message).hint("describe the task as JSON or Markdown"));
    }
    Ok(Task::read(&text))
}

/// Writes the patch of a fix into the worktree, after the same check as any other; whether it
/// is there is then in the result.
///
/// # Errors
/// As [`apply_patch`].
pub fn write_fix(app: &App, fixed: &mut Fixed) -> Result<()> {
    let Some(patch) = fixed.whole_patch() else {
        let message =
            "not applied: the change is in or beside a secret, and its stored copy is redacted";
        return Err(AppError::new(Code::U303, message)
            .hint("`mendit fix --yes --test CMD` makes and writes it in one run"));
    };
    let request = PatchRequest {
        patch: patch.into(),
        ..PatchRequest::default()
    };
    let judged = apply_patch(app, &request, Target::Worktree)?;
    fixed.result.applied = judged.verdict.verdict.applies();
    if fixed.result.applied {
        // The culprit was found in the files before this patch.
        fixed
            .result
            .suggested_actions
            .retain(|step| !step.starts_with("mendit fix --undo"));
        fixed.keep_result()?;
    }
    Ok(())
}

/// Returns a note for each file that still names what changes remove from it, as an `__all__` does.
pub fn list_left_names(changes: &[Change]) -> Vec<String> {
    let notes = changes.iter().filter_map(|change| {
        let (path, after) = (&change.path, change.after.as_ref()?);
        let [then, now] = [change.before.as_ref()?, after].map(|state| facts(path, &state.bytes));
        let mut names = then.exports.iter().map(|export| &export.name);
        let (name, at) = names.find_map(|name| {
            let is_gone = now.exports.iter().all(|export| export.name != *name);
            words(&after.bytes, name).next().filter(|_| is_gone).map(|at| (name, at))
        })?;
        let line = after.bytes[..at].split(|byte| *byte == b'\n').count();
        Some(format!(
            "{path}:{line} still names `{name}`, which the undo removes"
        ))
    });
    notes.collect()
}

/// The command to fix: that of the settings, the one that is typed, or the last that failed.
/// It is in the settings from then on, and is run from where it was.
pub(super) fn failing_command(app: &mut App, typed: &[OsString]) -> Result<String> {
    if !app.settings().test.command.0.is_empty() && typed.is_empty() {
        return Ok(app.settings().test.command.0.join(" && "));
    }
    let again = rerun_spec(app, typed)?;
    let line = again.line().ok_or_else(secret)?;
    enter(app, again)?;
    app.settings.test.command.0 = vec![line.clone()];
    Ok(line)
}

pub(super) fn rerun_spec(app: &App, typed: &[OsString]) -> Result<RerunSpec> {
    if let Some(name) = typed
        .first()
        .filter(|_| typed.len() == 1)
        .filter(|word| Path::new(word).is_file() && !word.to_string_lossy().contains('/'))
    {
        let message = format!("expected a command, but `{}` is a file", name.display());
        return Err(AppError::usage(message)
            .hint("`mendit fix` without a command fixes the last run; `mendit fix CMD` runs a command first"));
    }
    let store = RunStore::open(app)?;
    if !typed.is_empty() {
        return Ok(RerunSpec::new(app, typed, &store.prefix));
    }
    match store.last_command() {
        Some(last) if !last.passed() => last.rerun.ok_or_else(secret),
        Some(last) => {
            let line = last.line().unwrap_or_default();
            let message = format!("the last run passed: `{line}`");
            let error = AppError::new(Code::U309, message);
            let error = error.hint("pass another command: `mendit why CMD`, `mendit fix CMD`");
            Err(error.exit(Exit::PersonMustAct))
        }
        None => Err(AppError::new(Code::U309, "nothing was run here yet")
            .hint("run `mendit run CMD` first, or `mendit fix CMD`, such as `mendit fix pytest`")),
    }
}

// A command runs again from where it was run, with the variables it was given.
pub(super) fn enter(app: &mut App, mut again: RerunSpec) -> Result<()> {
    let env = &mut app.settings.test.env;
    again.env.retain(|variable| !env.contains(variable));
    env.append(&mut again.env);
    let here = RunStore::open(app)?.prefix;
    if here == again.prefix {
        return Ok(());
    }
    let depth = here.split('/').filter(|part| !part.is_empty()).count();
    let root = app.directory().ancestors().nth(depth);
    let directory = root.unwrap_or(app.directory()).join(&again.prefix);
    if !directory.is_dir() {
        let message = format!("the folder of the last run is gone: `{}`", again.prefix);
        return Err(AppError::new(Code::U309, message).hint("run `mendit run CMD` again from here"));
    }
    app.directory = directory;
    Ok(())
}
