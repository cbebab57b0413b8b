use super::global::Global;
use super::heal::print_checkup;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output, open};
use crate::app::{AgentRequest, check_agent};

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
    #[command(flatten)]
    request: AgentRequest,
    /// How to print it
    #[arg(long, value_parser = PLAIN, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let What::Check(args) = &args.what;
    let mut app = open(global, &args.request)?;
    let checkup = check_agent(&mut app, output)?;
    print_checkup(&checkup, args.format, output)?;
    Ok(checkup.exit())
}
