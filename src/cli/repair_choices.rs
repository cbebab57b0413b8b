use std::path::{Path, PathBuf};

use super::AppError;
use super::Output;
use super::input::{log, read};
use super::values::{AGENT, Flag as _};
use crate::app::settings::{Dollars, RepairLevel, Seconds, Sections, Settings};
use crate::app::{App, RepairRequest};
use crate::model::{AgentProtocol, SandboxMode, WorkplaceMode};

/// What a repair may do and spend: `fix` and `repair` take the same.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct Choices {
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
}

const SEES: &str = "What commands see and may do";

impl Choices {
    /// Puts what was given before what the settings say.
    pub(super) fn merge(&self, settings: &mut Settings) {
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

    /// Whether an agent was named.
    pub(super) fn names_agent(&self) -> bool {
        self.agent.is_some()
    }

    /// What is asked for, beside settings.
    ///
    /// # Errors
    /// When a file that is named cannot be read.
    pub(super) fn request(&self, app: &App, output: &Output) -> Result<RepairRequest, AppError> {
        let read_task = |path: &Path| {
            let name = path.display().to_string();
            let text = read(&name)?;
            Ok::<_, AppError>((name, text))
        };
        let log_of = |path: &Path| log(app, &path.display().to_string(), output);
        Ok(RepairRequest {
            include_bundle: self.include_repo_bundle,
            task: self.task.as_deref().map(read_task).transpose()?,
            log: self.log.as_deref().map(log_of).transpose()?,
            apply: false,
            out: self.out.clone(),
            resume: self.resume.clone(),
        })
    }
}
