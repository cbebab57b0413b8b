use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output, open};
use crate::app::{HealRequest, check_up, heal_probes};
use crate::report::healing_text;

/// Check tools, packages, the sandbox and agents; start MCP servers and repair their configuration
///
/// Without `--test` and `--mcp`, doctor runs nothing of the repository and prints the command that fixes each
/// problem. With them, it starts the test command, or each MCP server of the file; when one does not answer,
/// it diagnoses the failure, changes a copy of the configuration and retries. Nothing that only a log names is
/// ever run or installed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub(crate) struct Args {
    #[command(flatten)]
    request: HealRequest,
    /// How to print it
    #[arg(long, value_parser = PLAIN, default_value = "text")]
    format: Form,
}

const EXITS: &str = "Examples:
  mendit doctor                          what is installed, what is missing, how to fix it
  mendit doctor --test pytest            whether the command starts at all
  mendit doctor --mcp .mcp.json --auto   start the servers, correct their configuration

Exit codes: 0 all answer · 1 one does not, for an unknown reason · 2 nothing \
could start · 3 out of time · 4 action required · 130 interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let request = &args.request;
    let app = open(global, request)?;
    let (result, exit) = if request.test.is_none() && request.mcp.is_none() {
        let result = check_up(&app, output)?;
        let exit = [Exit::PersonMustAct, Exit::Yes][usize::from(result.fixed)];
        (result, exit)
    } else {
        heal_probes(&app, request, output)?
    };
    match args.format {
        Form::Json => output.json(&result)?,
        _ => output.painted(|color| healing_text(&result, color))?,
    }
    Ok(exit)
}
