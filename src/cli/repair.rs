use std::path::{Path, PathBuf};
use std::time::Duration;

use super::global::Global;
use super::input::read_log;
use super::values::{Confine, ProtocolChoice, TextOrJson, highest_level, seconds};
use super::{AppError, Exit, Output, open};
use crate::app::{RepairRequest, repair_repository};
use crate::model::{Event, Level};
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
    /// Refuse the network to the test commands
    #[arg(long)]
    no_net: bool,
    /// Run once in the fresh copy before anything else
    #[arg(long, value_name = "CMD")]
    setup: Option<String>,
    /// An ignored folder that the copy needs, besides `node_modules` and `.venv`; can be given again
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

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let read_task = |path: &Path| {
        let name = path.display().to_string();
        let text = read_log(&name)?;
        Ok::<_, AppError>((name, text))
    };
    let agent = args.agent.clone();
    let request = RepairRequest {
        test: args.test.clone(),
        agent: agent.map(|command| (command, args.agent_protocol.into())),
        agent_timeout: args.agent_timeout,
        agent_environment: args.agent_env.clone(),
        timeout: args.timeout,
        environment: args.env.clone(),
        max_attempts: args.max_attempts,
        max_level: args.max_level,
        include_bundle: args.include_repo_bundle,
        task: args.task.as_deref().map(read_task).transpose()?,
        budget: args.budget_seconds,
        budget_usd: args.budget_usd,
        apply: args.apply,
        out: args.out.clone(),
        resume: args.resume.clone(),
        heal: !args.no_heal,
        auto_split: !args.no_auto_split,
        allow_protected: args.allow_protected.clone(),
        sandbox: args.sandbox.into(),
        no_network: args.no_net,
        setup: args.setup.clone(),
        share: args.share.clone(),
        scratch: args.scratch.clone(),
    };
    let app = open(global, &[&args.env[..], &args.agent_env].concat())?;
    let repaired = repair_repository(&app, &request, output)?;
    match args.format {
        TextOrJson::Json => output.json(&repaired.result)?,
        TextOrJson::Text => {
            let folder = repaired.folder.display().to_string();
            output.text(&run_text(&repaired.result, &folder))?;
        }
    }
    Ok(repaired.exit)
}

/// What a person watching wants to know of an event.
pub(super) fn told(event: &Event) -> Option<String> {
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
    Some(match event.event.as_str() {
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
        _ => return None,
    })
}
