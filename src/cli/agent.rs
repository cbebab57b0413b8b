use super::global::Global;
use super::heal::print_checkup;
use super::values::{AGENT, Flag as _, TextOrJson};
use super::{AppError, Exit, Output, open};
use crate::app::check_agent;
use crate::app::settings::Seconds;
use crate::model::{AgentProtocol, SandboxMode};

/// See that an agent is there, answers and edits
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Check(CheckArgs),
}

/// Ask an agent once to mend a test of one line, in a repository made for that
///
/// It says whether the program is there and which version, which keys it gets, and whether its answer
/// and its edits arrive as a repair needs them. Nothing of the repository where you stand is read. The
/// agent is really asked, which costs what one short question costs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mendit agent check claude
  mendit agent check openai:http://localhost:11434/v1#qwen3-coder

Exit codes: 0 it can be used · 2 it could not be tried · 4 something is missing")]
struct CheckArgs {
    /// The agent, as `--agent` of `mendit repair` takes it: a name, an endpoint or a command line
    #[arg(value_name = "NAME", value_parser = AGENT, hide_possible_values = true)]
    name: String,
    /// How an agent that is given as a command line is spoken to
    #[arg(long, value_enum)]
    agent_protocol: Option<AgentProtocol>,
    /// Seconds that it has [default: 300] [setting: agent.timeout]
    #[arg(long, value_name = "S")]
    agent_timeout: Option<Seconds>,
    /// Hand this variable on to it: NAME or NAME=VALUE; can be given again [setting: agent.env]
    #[arg(long, value_name = "NAME")]
    agent_env: Vec<String>,
    /// How far its writing is confined [default: auto] [setting: repair.sandbox]
    #[arg(long, value_enum)]
    sandbox: Option<SandboxMode>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let What::Check(args) = &args.what;
    let mut app = open(global, |settings| {
        settings.agent.command = Some(args.name.clone());
        args.agent_protocol.over(&mut settings.agent.protocol);
        args.agent_timeout.over(&mut settings.agent.timeout);
        settings.agent.env.extend_from_slice(&args.agent_env);
        args.sandbox.over(&mut settings.repair.sandbox);
    })?;
    let checkup = check_agent(&mut app, output)?;
    print_checkup(&checkup, args.format, output)?;
    Ok(checkup.exit())
}
