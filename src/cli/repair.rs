use std::path::{Path, PathBuf};
use std::time::Duration;

use super::global::Global;
use super::input::read_task;
use super::values::{Confine, TextOrJson, Where, highest_level, seconds};
use super::workspace::Workspace;
use super::{CliError, Exit, Output, run_folder, settings};
use crate::agent::Protocol;
use crate::context::{add_history, base_request};
use crate::exec::Stop;
use crate::model::{Code, Event, Level, Profile, RunResult, RunStatus, StopReason};
use crate::patch::{WriteError, is_interrupted, recover};
use crate::policy::{Allowed, Redactor};
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
    /// A command that must pass; can be given again, they run in order
    #[arg(long, value_name = "CMD", required = true)]
    test: Vec<String>,
    /// A command that writes the patch; without one only what needs no model is healed
    #[arg(long, value_name = "CMD")]
    agent: Option<String>,
    /// How the agent is spoken to
    #[arg(long, value_enum, default_value = "json")]
    agent_protocol: ProtocolChoice,
    /// Seconds for one call of the agent
    #[arg(long, value_name = "S", default_value = "300", value_parser = seconds)]
    agent_timeout: Duration,
    /// Hand this variable on to the agent: NAME or NAME=VALUE; can be given again
    #[arg(long, value_name = "NAME")]
    agent_env: Vec<String>,
    /// Let the agent write here too, besides the workplace; can be given again
    #[arg(long, value_name = "PATH")]
    agent_write: Vec<PathBuf>,
    /// Seconds for one run of a test command
    #[arg(long, value_name = "S", default_value = "120", value_parser = seconds)]
    timeout: Duration,
    /// Hand this variable on to the test commands: NAME or NAME=VALUE; can be given again
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Replies of the agent to try
    #[arg(long, value_name = "N", default_value = "5")]
    max_attempts: u32,
    /// The highest level of context, 0 to 3
    #[arg(long, value_name = "N", default_value = "3", value_parser = highest_level)]
    max_level: Level,
    /// Send the whole repository (level 4)
    #[arg(long)]
    include_repo_bundle: bool,
    /// What is wanted beyond passing commands: JSON or Markdown
    #[arg(long, value_name = "FILE")]
    task: Option<PathBuf>,
    /// Seconds for everything
    #[arg(long, value_name = "S", default_value = "1800", value_parser = seconds)]
    budget_seconds: Duration,
    /// Stop when the agent says that it has cost so much
    #[arg(long, value_name = "USD")]
    budget_usd: Option<f64>,
    /// Put a patch that makes the commands pass into the worktree
    #[arg(long)]
    apply: bool,
    /// Where the run's folder is to be
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with an interrupted run: its folder or its name
    #[arg(long, value_name = "RUN")]
    resume: Option<String>,
    /// Ask the agent at once
    #[arg(long)]
    no_heal: bool,
    /// Do not split a task when the agent runs out of time
    #[arg(long)]
    no_auto_split: bool,
    /// Let patches change protected files that match; can be given again
    #[arg(long, value_name = "GLOB")]
    allow_protected: Vec<String>,
    /// How far the test commands' writing is confined
    #[arg(long, value_enum, default_value = "auto")]
    sandbox: Confine,
    /// Let the commands and the agent write here too; can be given again
    #[arg(long, value_name = "PATH")]
    allow_write: Vec<PathBuf>,
    /// Refuse the network to the test commands
    #[arg(long)]
    no_net: bool,
    /// Where commands and agents run
    #[arg(long, value_enum, default_value = "auto")]
    workplace: Where,
    /// Run once in the fresh copy before anything else
    #[arg(long, value_name = "CMD")]
    setup: Option<String>,
    /// An ignored folder that a copy links to, besides `node_modules` and `.venv`; can be given again
    #[arg(long, value_name = "PATH")]
    share: Vec<String>,
    /// Where the copy is kept between runs
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

const EXITS: &str = "Exit codes: 0 fixed, or nothing to repair · 1 still failing · 2 it could not \
be run · 3 a time limit ended it · 4 a person must act · 5 refused by policy · 130 interrupted";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ProtocolChoice {
    /// The packet on stdin, a repair packet on stdout
    Json,
    /// A prompt on stdin, any text with a patch on stdout
    Prompt,
    /// The agent edits a copy; the difference is the patch
    Edit,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let settings = settings::load(global)?;
    let workspace = Workspace::open(global, None, output)?;
    let Some(root) = workspace.root.clone() else {
        return Err(CliError::new(
            Code::U202,
            "this repository is bare: there is nothing to run commands in",
        ));
    };
    Allowed::new(&args.allow_protected)
        .map_err(|error| CliError::usage(format!("--allow-protected: {error}")))?;
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
    let read = settings::read_policy(&settings, &[], &[], Profile::Ranked)?;
    let mut request = base_request(&settings, workspace.git.as_ref());
    request.include_bundle = args.include_repo_bundle;
    add_history(&mut request, workspace.git.as_ref(), "HEAD");
    let slot = slot(args.scratch.as_deref(), &root)?;
    let setup = Setup {
        root: &root,
        prefix: &workspace.prefix,
        git: workspace.git.as_ref(),
        source: workspace.source.as_ref(),
        workplace: args.workplace.into(),
        slot: &slot,
        folder: &folder,
        state: &state,
        redactor: &redactor,
        read: &read,
        request,
        commands: Commands {
            lines: args.test.clone(),
            setup: args.setup.clone(),
            timeout: args.timeout,
            grace: Duration::from_secs(5),
            max_output: 256 << 20,
            environment: args.env.clone(),
            sandbox: args.sandbox.into(),
            writable: args.allow_write.clone(),
            no_network: args.no_net,
        },
        agent: match &args.agent {
            Some(command) => Agent::Command {
                command,
                protocol: match args.agent_protocol {
                    ProtocolChoice::Json => Protocol::Json,
                    ProtocolChoice::Prompt => Protocol::Prompt,
                    ProtocolChoice::Edit => Protocol::Edit,
                },
                environment: &args.agent_env,
                writable: &args.agent_write,
            },
            None => Agent::None,
        },
        policy: policy(args, task.as_ref()),
        allow_protected: &args.allow_protected,
        task,
        shared: run_folder::shared(workspace.source.as_ref(), &root, &args.share)?,
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

fn policy(args: &Args, task: Option<&Task>) -> Policy {
    Policy {
        agent: args.agent.is_some(),
        heal: !args.no_heal,
        auto_split: !args.no_auto_split,
        max_level: args.max_level,
        max_attempts: args.max_attempts,
        max_seconds: Some(args.budget_seconds.as_secs_f64()),
        max_packet_bytes: 50_000_000,
        max_cost_usd: args.budget_usd,
        agent_timeout: args.agent_timeout.as_secs_f64(),
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
        "workplace" => format!("workplace: {} ({})", text("kind"), text("why")),
        "sandbox" => format!(
            "{}: the sandbox is {}",
            text("code"),
            if text("sandbox") == "partial" {
                "only partly in force; places that should be closed may be written"
            } else {
                "not in force; commands and agents may write anywhere"
            }
        ),
        "sandbox_refused" => format!(
            "mendit's sandbox refused writing {0}; --allow-write {0}",
            text("path")
        ),
        "worktree_changed" => format!("`{}` changed while the agent ran", text("path")),
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
            RepairError::SetUp { .. } => said.hint("run it by hand; `setup.log` holds its output"),
            RepairError::Resume(_) => said.hint("start a new run without `--resume`"),
            RepairError::Write { .. } => said.hint("name another folder with `--out DIR`"),
            RepairError::Workplace(_) | RepairError::Read(_) => {
                said.hint("name another place with `--scratch DIR`")
            }
            RepairError::Exec(error) => error.into(),
            RepairError::Context(error) => error.into(),
            RepairError::Apply(error) => error.into(),
        }
    }
}
