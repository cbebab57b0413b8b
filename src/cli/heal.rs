use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output, open};
use crate::app::{HealRequest, check_up, heal_probes};
use crate::model::Checkup;
use crate::report::{checkup_text, healing_text};

/// See that tools, packages, sandbox and agents are there, and that MCP servers answer
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
    if request.test.is_none() && request.mcp.is_none() {
        let checkup = check_up(&open(global, &())?, output)?;
        print_checkup(&checkup, args.format, output)?;
        return Ok(checkup.exit());
    }
    let app = open(global, request)?;
    let (result, exit) = heal_probes(&app, request, output)?;
    output.document(args.format, &result, healing_text)?;
    Ok(exit)
}

/// Prints what was looked at.
pub(super) fn print_checkup(
    checkup: &Checkup,
    format: Form,
    output: &Output,
) -> Result<(), AppError> {
    match format {
        Form::Json => output.json(checkup),
        _ => output.painted(|color| checkup_text(checkup, color)),
    }
}
