use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output, open};
use crate::app::{HealRequest, check_up, heal_probes};
use crate::report::healing_text;

/// Check tools, packages, the sandbox and agents; start MCP servers and repair their configuration
///
/// Without `--test` and `--mcp` it looks and runs nothing of the repository; what is missing stands
/// there with the command that mends it. A probe is the test command, or an MCP server of a configuration file. It is really started; when
/// it does not answer, the reason is diagnosed, a copy of its configuration is changed, and it is
/// started again. Nothing that only a log names is ever run or installed.
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
  mendit doctor                          what is there, and what mends what is not
  mendit doctor --test pytest            whether the command runs at all
  mendit doctor --mcp .mcp.json --auto   start the servers, mend their configuration

Exit codes: 0 all answer · 1 one does not, for an unknown reason · 2 nothing \
could be started · 3 a time limit ended it · 4 a person must act · 130 interrupted";

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
