use std::path::{Path, PathBuf};

use super::global::Global;
use super::input::{log, read};
use super::values::{AGENT, Flag as _, TextOrJson};
use super::{AppError, Exit, Output, open};
use crate::app::settings::{Dollars, RepairLevel, Seconds, Sections, Settings};
use crate::app::{RepairRequest, repair_repository};
use crate::model::{AgentProtocol, Event, SandboxMode, WorkplaceMode};
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
    /// Who writes the patch: a command line, or claude, codex, gemini, opencode, copilot, qwen, cursor, aider or llm
    /// by name, or a model at an endpoint as openai:URL#MODEL; without one only what needs no model is healed [setting: agent.command]
    #[arg(long, value_name = "CMD", value_parser = AGENT, hide_possible_values = true, help_heading = "Agent")]
    agent: Option<String>,
    /// How the agent is spoken to [default: json] [setting: agent.protocol]
    #[arg(long, value_enum, help_heading = "Agent")]
    agent_protocol: Option<AgentProtocol>,
    /// Seconds for one call of the agent [default: 300] [setting: agent.timeout]
    #[arg(long, value_name = "S", help_heading = "Agent")]
    agent_timeout: Option<Seconds>,
    /// Hand this variable on to the agent: NAME or NAME=VALUE; can be given again
    /// [setting: agent.env]
    #[arg(long, value_name = "NAME", help_heading = "Agent")]
    agent_env: Vec<String>,
    /// Let the agent write here too, besides the workplace; can be given again
    /// [setting: agent.write]
    #[arg(long, value_name = "PATH", help_heading = "Agent")]
    agent_write: Vec<PathBuf>,
    /// Seconds for one run of a test command; without, the first run says how long the others may
    /// take [setting: test.timeout]
    #[arg(
        long,
        visible_alias = "test-timeout",
        value_name = "S",
        help_heading = "Limits"
    )]
    timeout: Option<Seconds>,
    /// Hand this variable on to the test commands: NAME or NAME=VALUE; can be given again
    /// [setting: test.env]
    #[arg(long, value_name = "NAME", help_heading = SEES)]
    env: Vec<String>,
    /// Replies of the agent to try [default: 5] [setting: repair.max-attempts]
    #[arg(long, value_name = "N", help_heading = "Agent")]
    max_attempts: Option<u32>,
    /// The level of context to begin with at least, 0 to 3 [default: 0] [setting: repair.min-level]
    #[arg(long, value_name = "N", help_heading = "Agent")]
    min_level: Option<RepairLevel>,
    /// The highest level of context, 0 to 3 [default: 3] [setting: repair.max-level]
    #[arg(long, value_name = "N", help_heading = "Agent")]
    max_level: Option<RepairLevel>,
    /// Estimated tokens of the files of each packet; 0 is no limit [setting: context.max-tokens]
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Send the whole repository (level 4)
    #[arg(long, help_heading = "Agent")]
    include_repo_bundle: bool,
    /// What is wanted beyond passing commands: JSON or Markdown
    #[arg(long, value_name = "FILE", help_heading = "Agent")]
    task: Option<PathBuf>,
    /// The log of the failure that is meant, from CI for example; another failure is said and not
    /// repaired
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Seconds for everything [default: 1800] [setting: repair.budget-seconds]
    #[arg(long, value_name = "S", help_heading = "Limits")]
    budget_seconds: Option<Seconds>,
    /// Stop when the agent says that it has cost so much [setting: repair.budget-usd]
    #[arg(long, value_name = "USD", help_heading = "Agent")]
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
    #[arg(long, help_heading = "What it does")]
    no_heal: bool,
    /// Heal what needs no model, but no import [setting: repair.heal-imports]
    #[arg(long, help_heading = "What it does")]
    no_heal_imports: bool,
    /// Do not try the failing tests with other expectations before a repair counts
    /// [setting: repair.counter-proof]
    #[arg(long, help_heading = "What it does")]
    no_counter_proof: bool,
    /// Take no repair that holds the failing test's own values, given and expected
    /// [setting: repair.strict]
    #[arg(long, help_heading = "What it does")]
    strict: bool,
    /// Do not run the failing tests once more to see what they enter [setting: context.trace]
    #[arg(long, help_heading = "What it does")]
    no_trace: bool,
    /// Do not split a task when the agent runs out of time [setting: repair.auto-split]
    #[arg(long, help_heading = "What it does")]
    no_auto_split: bool,
    /// Ask the agent about failures that look like a person's to mend, too: a refused connection, a
    /// missing package, commands that never end [setting: repair.treat-as-code]
    #[arg(long, help_heading = "What it does")]
    treat_as_code: bool,
    /// Let patches change protected files that match; can be given again
    /// [setting: patch.allow-protected]
    #[arg(long, value_name = "GLOB", help_heading = "What it does")]
    allow_protected: Vec<String>,
    /// How far the test commands' writing is confined [default: auto] [setting: repair.sandbox]
    #[arg(long, value_enum, help_heading = SEES)]
    sandbox: Option<SandboxMode>,
    /// Refuse the network to the test commands [setting: repair.no-net]
    #[arg(long, help_heading = SEES)]
    no_net: bool,
    /// Let the commands and the agent write here too; can be given again
    /// [setting: repair.allow-write]
    #[arg(long, value_name = "PATH", help_heading = SEES)]
    allow_write: Vec<PathBuf>,
    /// Where commands and agents run [default: auto] [setting: repair.workplace]
    #[arg(long, value_enum, help_heading = SEES)]
    workplace: Option<WorkplaceMode>,
    /// Run once in the fresh copy before anything else [setting: test.setup]
    #[arg(long, value_name = "CMD", help_heading = SEES)]
    setup: Option<String>,
    /// An ignored folder that a copy links to, besides `node_modules` and `.venv`; can be given again
    /// [setting: repair.share]
    #[arg(long, value_name = "PATH", help_heading = SEES)]
    share: Vec<String>,
    /// Where the copy is kept between runs [setting: repair.scratch]
    #[arg(long, value_name = "DIR", help_heading = SEES)]
    scratch: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

const SEES: &str = "What commands see and may do";

const EXITS: &str = "Exit codes: 0 fixed, or nothing to repair · 1 still failing · 2 it could not \
be run · 3 a time limit ended it · 4 a person must act · 5 refused by policy · 130 interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let read_task = |path: &Path| {
        let name = path.display().to_string();
        let text = read(&name)?;
        Ok::<_, AppError>((name, text))
    };
    let app = open(global, |settings| args.merge(settings))?;
    let request = RepairRequest {
        include_bundle: args.include_repo_bundle,
        task: args.task.as_deref().map(read_task).transpose()?,
        log: args
            .log
            .as_deref()
            .map(|it| log(&app, &it.display().to_string(), output))
            .transpose()?,
        apply: args.apply,
        out: args.out.clone(),
        resume: args.resume.clone(),
    };
    let repaired = repair_repository(&app, &request, output)?;
    let folder = repaired.folder.display().to_string();
    output.document(args.format, &repaired.result, |it| run_text(it, &folder))?;
    Ok(repaired.exit)
}

impl Args {
    fn merge(&self, settings: &mut Settings) {
        let Sections {
            test,
            agent,
            repair,
            patch,
            context,
            ..
        } = &mut **settings;
        self.test.over(&mut test.command.0);
        self.setup.over(&mut test.setup);
        self.timeout.over(&mut test.timeout);
        repair.treat_as_code |= self.treat_as_code;
        test.env.extend_from_slice(&self.env);
        self.agent.over(&mut agent.command);
        self.agent_protocol.over(&mut agent.protocol);
        self.agent_timeout.over(&mut agent.timeout);
        agent.env.extend_from_slice(&self.agent_env);
        self.max_attempts.over(&mut repair.max_attempts);
        self.min_level.over(&mut repair.min_level);
        self.max_level.over(&mut repair.max_level);
        self.max_tokens.over(&mut context.max_tokens);
        self.budget_seconds.over(&mut repair.budget_seconds);
        self.budget_usd.over(&mut repair.budget_usd);
        self.sandbox.over(&mut repair.sandbox);
        self.share.over(&mut repair.share);
        self.workplace.over(&mut repair.workplace);
        repair.allow_write.extend_from_slice(&self.allow_write);
        agent.write.extend_from_slice(&self.agent_write);
        self.scratch.over(&mut repair.scratch);
        context.trace &= !self.no_trace;
        repair.heal &= !self.no_heal;
        repair.heal_imports &= !self.no_heal_imports;
        repair.auto_split &= !self.no_auto_split;
        repair.strict |= self.strict;
        repair.counter_proof &= !self.no_counter_proof;
        repair.no_net |= self.no_net;
        patch
            .allow_protected
            .extend_from_slice(&self.allow_protected);
    }
}

/// What begins with an event and may take long.
pub(super) fn begins(event: &Event) -> Option<&'static str> {
    match event.event.as_str() {
        "command_started" | "heal_started" => Some("running the commands"),
        "attempt_started" => Some("asking the agent and trying what it sends"),
        "agent_pause" => Some("waiting for the agent's service"),
        _ => None,
    }
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
        "command_started" if text("what") == "baseline-again" => {
            format!("the commands run again: {}", text("why"))
        }
        "reported_failure" => format!("the log that was given tells of {}", text("kind")),
        "command_ended" if text("passed") == "true" => "the commands pass".to_owned(),
        "command_ended" => format!("the commands fail: {} ({})", text("kind"), text("end")),
        "heal_started" => format!("attempt {}: {}", text("attempt"), text("what")),
        "attempt_started" => format!(
            "attempt {}: asking the agent at level {}",
            text("attempt"),
            text("level")
        ),
        "agent_pause" => format!(
            "the agent's service turned it away for now: waiting {} s",
            text("seconds").trim_end_matches(".0")
        ),
        "attempt_ended" => format!(
            "attempt {} ended with {}: {}",
            text("attempt"),
            text("stopReason"),
            text("why")
        ),
        "timeout_auto_split_success" | "complexity_split_success" => {
            format!("the task is split into parts: {}", text("sub_issues_count"))
        }
        "timeout_auto_split_failed" => format!("the task cannot be split: {}", text("error")),
        "complexity_split_failed" => format!(
            "a large task that cannot be split: {}; the agent is asked for all of it",
            text("error")
        ),
        "workplace_copying" => format!(
            "copying the worktree: {} of {} files",
            text("files"),
            text("of")
        ),
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
            "mendit's sandbox refused writing {0}; --{1}-write {0}",
            text("path"),
            if text("agent") == "true" {
                "agent"
            } else {
                "allow"
            }
        ),
        "worktree_changed" => format!("`{}` changed while the agent ran", text("path")),
        "part_started" => format!("part {}: {}", text("number"), text("title")),
        _ => return None,
    })
}
