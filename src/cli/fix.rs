use super::global::Global;
use super::values::{AGENT, Flag as _, TextOrJson};
use super::{AppError, Exit, Output, open};
use crate::app::settings::{Dollars, Seconds, Settings};
use crate::app::{
    App, FixRequest, Fixed, PatchRequest, Target, apply_patch, find_fix, known_undo, write_fix,
};
use crate::model::{AgentProtocol, Code, StopReason};
use crate::report::{declined_text, diff_text, patch_text, run_text};

/// Mend what the last run failed with
///
/// What needs no model comes first: imports that are certain, and what linters mend by themselves.
/// With `--agent` an agent is asked after that. Every change is judged, and tried with the command in
/// a place of its own; then the difference is shown, and written when you say so.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub(crate) struct Args {
    /// The command to mend, instead of that of the last `mendit run`
    #[arg(value_name = "CMD", trailing_var_arg = true)]
    command: Vec<std::ffi::OsString>,
    /// Take back the change that `mendit why` or `mendit run` named, and nothing else
    #[arg(long, conflicts_with_all = ["command", "agent"])]
    undo: bool,
    /// Write what makes the command pass, and imports that are certain, without asking
    #[arg(short, long)]
    yes: bool,
    /// Ask an agent for what is left: claude, codex, gemini, opencode, copilot, qwen, cursor, aider, llm, openai:URL#MODEL, or a
    /// command line
    #[arg(long, value_name = "NAME|CMD", value_parser = AGENT, hide_possible_values = true, help_heading = "Agent")]
    agent: Option<String>,
    /// How an agent that is given as a command line is spoken to
    #[arg(long, value_enum, help_heading = "Agent")]
    agent_protocol: Option<AgentProtocol>,
    /// Hand this variable on to the agent: NAME or NAME=VALUE; can be given again
    #[arg(long, value_name = "NAME", help_heading = "Agent")]
    agent_env: Vec<String>,
    /// Time for one call of the agent, such as `10m`
    #[arg(long, value_name = "S", help_heading = "Agent")]
    agent_timeout: Option<Seconds>,
    /// Hand this variable on to the command: NAME or NAME=VALUE; can be given again
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Time for one run of the command, such as `10m`
    #[arg(long, value_name = "S")]
    timeout: Option<Seconds>,
    /// Stop when the agent says that it has cost so much
    #[arg(long, value_name = "USD", help_heading = "Agent")]
    budget_usd: Option<Dollars>,
    /// Do not run the failing tests once more to see what they enter [setting: context.trace]
    #[arg(long, help_heading = "Agent")]
    no_trace: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

const EXITS: &str = "Examples:
  mendit run pytest; mendit fix            mend what it fails with, without a model
  mendit fix --agent claude                ask Claude Code for what is left
  mendit fix --yes npm test                run, mend and write in one go

More choices, such as where it runs and what it may cost: `mendit repair --help`

Exit codes: 0 mended and written, or nothing was wrong · 1 not mended, or not wanted · 2 it could not
be run · 3 a time limit ended it · 4 a person must act, such as to say yes · 5 refused by policy · 130
interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let mut app = open(global, |settings| args.merge(settings))?;
    if args.undo {
        return undo(args, &app, output);
    }
    let request = FixRequest {
        command: args.command.clone(),
    };
    let mut fixed = find_fix(&mut app, &request, output)?;
    let json = args.format == TextOrJson::Json;
    let patch = fixed.repaired.patch.clone().unwrap_or_default();
    if !json && !patch.is_empty() {
        output.painted(|color| diff_text(&patch, color))?;
    }
    let wanted = !patch.is_empty() && wanted(args, &fixed, output);
    if wanted {
        write_fix(&app, &mut fixed, output)?;
    }
    let folder = fixed.repaired.folder.display().to_string();
    let declined = fixed.repaired.exit == Exit::Yes && !patch.is_empty() && !wanted;
    let told = if declined { declined_text } else { run_text };
    output.document(args.format, &fixed.repaired.result, |it| told(it, &folder))?;
    if fixed.repaired.exit != Exit::Yes || patch.is_empty() {
        let flaky = fixed.repaired.result.stop_reason == StopReason::Flaky;
        if args.agent.is_none() && fixed.repaired.exit == Exit::No && !flaky {
            output.note(
                "what is left needs a model: `mendit fix --agent claude` (or codex, gemini, \
                 opencode, cursor, aider, llm)",
            );
        }
        return Ok(fixed.repaired.exit);
    }
    Ok(if fixed.repaired.result.applied {
        Exit::Yes
    } else if wanted {
        Exit::No
    } else {
        not_written(args, output)
    })
}

// The change is a person's own: it goes only when somebody says so.
fn undo(args: &Args, app: &App, output: &Output) -> Result<Exit, AppError> {
    let undo = known_undo(app, output)?;
    let json = args.format == TextOrJson::Json;
    if !json {
        output.painted(|color| diff_text(&undo.patch, color))?;
    }
    output.note(&undo.message);
    if !args.yes && !output.ask("Take it back?").unwrap_or(false) {
        return Ok(not_written(args, output));
    }
    let request = PatchRequest {
        patch: undo.patch.clone().into(),
        ..PatchRequest::default()
    };
    let (judged, _) = apply_patch(app, &request, &Target::Worktree, output)?;
    output.document(args.format, &judged.verdict, |it| {
        patch_text(it, "the undo", undo.patch.as_bytes(), false)
    })?;
    Ok(if judged.verdict.verdict.applies() {
        Exit::Yes
    } else {
        Exit::Refused
    })
}

// What is neither proven nor certain is written only by a person who has seen it.
fn wanted(args: &Args, fixed: &Fixed, output: &Output) -> bool {
    let command = &fixed.command;
    let still_fails = fixed.repaired.result.remaining.is_some();
    if args.yes {
        let is_written = fixed.is_proven() || fixed.is_part();
        if !is_written && still_fails {
            output.note(&format!(
                "it is not written: `{command}` still fails with it, and it is not certain"
            ));
        } else if !is_written {
            output.note("it is not written: nothing shows that the tests that failed pass now");
        }
        return is_written;
    }
    let question = if fixed.is_proven() {
        format!("`{command}` passes with this. Write it?")
    } else if fixed.is_part() {
        format!("These imports are certain, and `{command}` still fails otherwise. Write them?")
    } else {
        format!("It is not proven that `{command}` is mended. Write it?")
    };
    output.ask(&question).unwrap_or(false)
}

fn not_written(args: &Args, output: &Output) -> Exit {
    use std::io::IsTerminal as _;
    if args.yes || std::io::stdin().is_terminal() {
        return Exit::No;
    }
    let error = AppError::new(Code::U311, "nothing is written: there is nobody to ask")
        .hint("`mendit fix --yes` writes what makes the command pass")
        .hint("`mendit apply PATCH` writes the one above");
    output.fail(&error)
}

impl Args {
    fn merge(&self, settings: &mut Settings) {
        self.agent.over(&mut settings.agent.command);
        self.agent_protocol.over(&mut settings.agent.protocol);
        self.agent_timeout.over(&mut settings.agent.timeout);
        settings.agent.env.extend_from_slice(&self.agent_env);
        settings.test.env.extend_from_slice(&self.env);
        self.timeout.over(&mut settings.test.timeout);
        self.budget_usd.over(&mut settings.repair.budget_usd);
        settings.context.trace &= !self.no_trace;
    }
}
