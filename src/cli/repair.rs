use std::path::{Path, PathBuf};
use std::time::Duration;

use super::global::Global;
use super::input::read_task;
use super::patch_args::allowed;
use super::values::{Flag as _, TextOrJson};
use super::workspace::Workspace;
use super::{CliError, Exit, Output, run_folder, settings};
use crate::config::{AgentProtocol, Confine, Dollars, HighestLevel, Seconds, Sections, Settings};
use crate::context::{add_history, base_request};
use crate::exec::Stop;
use crate::model::{Code, Event, Profile, RunResult, RunStatus, StopReason};
use crate::patch::{WriteError, is_interrupted, recover};
use crate::policy::Redactor;
use crate::repair::{Agent, Commands, Policy, RepairError, RunLock, Setup, Task, repair};
use crate::report::run_text;

/// Make a failing test command pass
///
/// It diagnoses, heals, asks an agent, judges its patch and tests it.
/// All work is done in a copy of the worktree; your files change only with `--apply`, and only
/// when the commands pass. Commands come from this command line, never from the repository.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Args {
    /// A command that must pass; can be given again, they run in order [setting: test.command]
    #[arg(long, value_name = "CMD")]
    test: Vec<String>,
    /// A command that writes the patch; without one only what needs no model is healed
    /// [setting: agent.command]
    #[arg(long, value_name = "CMD")]
    agent: Option<String>,
    /// How the agent is spoken to [default: json] [setting: agent.protocol]
    #[arg(long, value_enum)]
    agent_protocol: Option<AgentProtocol>,
    /// Seconds for one call of the agent [default: 300] [setting: agent.timeout]
    #[arg(long, value_name = "S")]
    agent_timeout: Option<Seconds>,
    /// Hand this variable on to the agent: NAME or NAME=VALUE; can be given again
    /// [setting: agent.env]
    #[arg(long, value_name = "NAME")]
    agent_env: Vec<String>,
    /// Seconds for one run of a test command [default: 120] [setting: test.timeout]
    #[arg(long, value_name = "S")]
    timeout: Option<Seconds>,
    /// Hand this variable on to the test commands: NAME or NAME=VALUE; can be given again
    /// [setting: test.env]
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Replies of the agent to try [default: 5] [setting: repair.max-attempts]
    #[arg(long, value_name = "N")]
    max_attempts: Option<u32>,
    /// The highest level of context, 0 to 3 [default: 3] [setting: repair.max-level]
    #[arg(long, value_name = "N")]
    max_level: Option<HighestLevel>,
    /// Send the whole repository (level 4)
    #[arg(long)]
    include_repo_bundle: bool,
    /// What is wanted beyond passing commands: JSON or Markdown
    #[arg(long, value_name = "FILE")]
    task: Option<PathBuf>,
    /// Seconds for everything [default: 1800] [setting: repair.budget-seconds]
    #[arg(long, value_name = "S")]
    budget_seconds: Option<Seconds>,
    /// Stop when the agent says that it has cost so much [setting: repair.budget-usd]
    #[arg(long, value_name = "USD")]
    budget_usd: Option<Dollars>,
    /// Put a patch that makes the commands pass into the worktree
    #[arg(long)]
    apply: bool,
    /// Where the run's folder is to be
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with an interrupted run: its folder or its name
    #[arg(long, value_name = "RUN")]
    resume: Option<String>,
    /// Ask the agent at once [setting: repair.heal]
    #[arg(long)]
    no_heal: bool,
    /// Do not split a task when the agent runs out of time [setting: repair.auto-split]
    #[arg(long)]
    no_auto_split: bool,
    /// Let patches change protected files that match; can be given again
    /// [setting: patch.allow-protected]
    #[arg(long, value_name = "GLOB")]
    allow_protected: Vec<String>,
    /// How far the test commands' writing is confined [default: auto] [setting: repair.sandbox]
    #[arg(long, value_enum)]
    sandbox: Option<Confine>,
    /// Refuse the network to the test commands [setting: repair.no-net]
    #[arg(long)]
    no_net: bool,
    /// Run once in the fresh copy before anything else [setting: test.setup]
    #[arg(long, value_name = "CMD")]
    setup: Option<String>,
    /// An ignored folder that the copy needs, besides `node_modules` and `.venv`; can be given again
    /// [setting: repair.share]
    #[arg(long, value_name = "PATH")]
    share: Vec<String>,
    /// Where the copy is kept between runs [setting: repair.scratch]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

const EXITS: &str = "Exit codes: 0 fixed, or nothing to repair · 1 still failing · 2 it could not \
be run · 3 a time limit ended it · 4 a person must act · 5 refused by policy · 130 interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let mut settings = settings::load(global)?;
    args.merge(&mut settings);
    if settings.test.command.0.is_empty() {
        let said = "no command says when the repair is done";
        return Err(CliError::usage(said)
            .hint("name one with `--test CMD`, or with `test.command` in your own settings"));
    }
    let workspace = Workspace::open(global, None, output)?;
    let Some(root) = workspace.root.clone() else {
        return Err(CliError::new(
            Code::U202,
            "this repository is bare: there is nothing to run commands in",
        ));
    };
    let allowed = allowed(&settings.patch)?;
    let task = args.task.as_deref().map(read_task).transpose()?;
    let state = run_folder::state(&workspace, &root, args.apply)?;
    let _lock = RunLock::take(&state)?;
    let workspace = after_recovery(workspace, &root, &state, args, global, output)?;
    let folder = match &args.resume {
        Some(run) => run_folder::find(run, &workspace, &root)?,
        None => match &args.out {
            Some(out) => out.clone(),
            None => run_folder::new(&workspace, &root)?,
        },
    };
    let redactor = Redactor::new(std::env::vars_os().filter_map(settings::utf8));
    let read = settings::read_policy(&settings, Profile::Ranked)?;
    let mut request = base_request(&settings, workspace.git.as_ref());
    request.include_bundle = args.include_repo_bundle;
    add_history(&mut request, workspace.git.as_ref(), "HEAD");
    let slot = slot(settings.repair.scratch.as_deref(), &root)?;
    let setup = Setup {
        root: &root,
        prefix: &workspace.prefix,
        git: workspace.git.as_ref(),
        source: workspace.source.as_ref(),
        slot: &slot,
        folder: &folder,
        state: &state,
        redactor: &redactor,
        read: &read,
        request,
        commands: Commands {
            lines: settings.test.command.0.clone(),
            setup: settings.test.setup.clone(),
            timeout: settings.test.timeout.0,
            grace: Duration::from_secs(5),
            max_output: 256 << 20,
            environment: settings.test.env.clone(),
            sandbox: settings.repair.sandbox.into(),
            no_network: settings.repair.no_net,
        },
        agent: match &settings.agent.command {
            Some(command) => Agent::Command {
                command,
                protocol: settings.agent.protocol.into(),
                environment: &settings.agent.env,
            },
            None => Agent::None,
        },
        policy: policy(&settings, task.as_ref()),
        allowed,
        task,
        shared: run_folder::shared(workspace.source.as_ref(), &root, &settings.repair.share),
        apply: args.apply,
        resume: args.resume.is_some(),
    };
    let stop = Stop::install()
        .map_err(|error| CliError::environment(format!("cannot listen to Ctrl-C: {error}")))?;
    let result = repair(&setup, &stop, &mut |event| say(event, output))?;
    match args.format {
        TextOrJson::Json => output.json(&result)?,
        TextOrJson::Text => output.data(&run_text(&result, &folder.display().to_string()))?,
    }
    if args.apply && result.patch_digest.is_some() && !result.applied {
        return Ok(Exit::No);
    }
    Ok(exit(&result))
}

// A run that goes on finishes first what it was writing; another one does not begin before that.
fn after_recovery(
    workspace: Workspace,
    root: &Path,
    state: &Path,
    args: &Args,
    global: &Global,
    output: &Output,
) -> Result<Workspace, CliError> {
    if !is_interrupted(state) {
        return Ok(workspace);
    }
    if args.resume.is_none() {
        return Err(WriteError::Interrupted.into());
    }
    recover(root, state)?;
    Workspace::open(global, None, output)
}

/// The exit code of a run's end.
pub(super) fn exit(result: &RunResult) -> Exit {
    match (result.status, result.stop_reason) {
        (_, StopReason::Interrupted) => Exit::Interrupted,
        (RunStatus::Fixed, _) => Exit::Yes,
        (RunStatus::UserActionRequired | RunStatus::InvalidTask, _) => Exit::PersonMustAct,
        (_, StopReason::AgentTimeout | StopReason::CommandTimeout) => Exit::TimedOut,
        (_, StopReason::PolicyRejected) => Exit::Refused,
        _ => Exit::No,
    }
}

impl Args {
    fn merge(&self, settings: &mut Settings) {
        let Sections {
            test,
            agent,
            repair,
            patch,
            ..
        } = &mut **settings;
        self.test.over(&mut test.command.0);
        self.setup.over(&mut test.setup);
        self.timeout.over(&mut test.timeout);
        test.env.extend_from_slice(&self.env);
        self.agent.over(&mut agent.command);
        self.agent_protocol.over(&mut agent.protocol);
        self.agent_timeout.over(&mut agent.timeout);
        agent.env.extend_from_slice(&self.agent_env);
        self.max_attempts.over(&mut repair.max_attempts);
        self.max_level.over(&mut repair.max_level);
        self.budget_seconds.over(&mut repair.budget_seconds);
        self.budget_usd.over(&mut repair.budget_usd);
        self.sandbox.over(&mut repair.sandbox);
        self.share.over(&mut repair.share);
        self.scratch.over(&mut repair.scratch);
        repair.heal &= !self.no_heal;
        repair.auto_split &= !self.no_auto_split;
        repair.no_net |= self.no_net;
        patch
            .allow_protected
            .extend_from_slice(&self.allow_protected);
    }
}

fn policy(settings: &Settings, task: Option<&Task>) -> Policy {
    let repair = &settings.repair;
    Policy {
        agent: settings.agent.command.is_some(),
        heal: repair.heal,
        auto_split: repair.auto_split,
        max_level: repair.max_level.level(),
        max_attempts: repair.max_attempts,
        max_seconds: Some(repair.budget_seconds.0.as_secs_f64()),
        max_packet_bytes: 50_000_000,
        max_cost_usd: repair.budget_usd.map(Dollars::amount),
        agent_timeout: settings.agent.timeout.0.as_secs_f64(),
        depth: 0,
        estimated_turns: task.map(|task| task.estimate().estimated_turns),
    }
}

// What a person watching wants to know, a line each.
fn say(event: &Event, output: &Output) {
    let text = |name: &str| {
        event
            .fields
            .get(name)
            .map(|value| {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            })
            .unwrap_or_default()
    };
    let line = match event.event.as_str() {
        "command_ended" if text("passed") == "true" => "the commands pass".to_owned(),
        "command_ended" => format!("the commands fail: {} ({})", text("kind"), text("end")),
        "heal_started" => format!("attempt {}: {}", text("attempt"), text("what")),
        "attempt_started" => format!(
            "attempt {}: asking the agent at level {}",
            text("attempt"),
            text("level")
        ),
        "attempt_ended" => format!(
            "attempt {} ended with {}: {}",
            text("attempt"),
            text("stopReason"),
            text("why")
        ),
        "timeout_auto_split_success" => {
            format!("the task is split into parts: {}", text("sub_issues_count"))
        }
        "timeout_auto_split_failed" => format!("the task cannot be split: {}", text("error")),
        "part_started" => format!("part {}: {}", text("part"), text("title")),
        _ => return,
    };
    output.note(&line);
}

// One copy for each worktree, outside it: what runs in a path below `.git` is ignored by many
// tools.
fn slot(chosen: Option<&Path>, root: &Path) -> Result<PathBuf, CliError> {
    let slot = match chosen {
        Some(chosen) => chosen.to_owned(),
        None => run_folder::cache()
            .join("scratch")
            .join(run_folder::key(root)),
    };
    std::fs::create_dir_all(&slot)
        .and_then(|()| slot.canonicalize())
        .map_err(|error| {
            CliError::environment(format!(
                "cannot make the scratch folder `{}`: {}",
                slot.display(),
                error.kind()
            ))
            .hint("name another place with `--scratch DIR`")
        })
}

impl From<RepairError> for CliError {
    fn from(error: RepairError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            RepairError::Locked { .. } => {
                said.hint("wait until that run ends; the lock goes away with its process")
            }
            RepairError::Resume(_) => said.hint("start a new run without `--resume`"),
            RepairError::Write { .. } => said.hint("name another folder with `--out DIR`"),
            RepairError::Scratch(_) | RepairError::Read(_) => {
                said.hint("name another place with `--scratch DIR`")
            }
            RepairError::Exec(error) => error.into(),
            RepairError::Context(error) => error.into(),
            RepairError::Apply(error) => error.into(),
        }
    }
}
