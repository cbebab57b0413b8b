use std::path::PathBuf;

use super::global::Global;
use super::values::{Flag as _, TextOrJson};
use super::{AppError, Exit, Output, open};
use crate::app::settings::{Seconds, Settings};
use crate::app::{HealRequest, check_up, heal_probes};
use crate::model::{Checkup, SandboxMode, WorkplaceMode};
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
    /// A command that must run: it may fail, but for a reason in the code
    #[arg(long, value_name = "CMD")]
    test: Option<String>,
    /// A file with `mcpServers`, each of which must answer
    #[arg(long, value_name = "FILE")]
    mcp: Option<PathBuf>,
    /// Only this server of the file; can be given again
    #[arg(long, value_name = "NAME", requires = "mcp")]
    server: Vec<String>,
    /// Write the configuration that answers back to the file
    #[arg(long)]
    auto: bool,
    /// Fixes to try for each probe [default: 3] [setting: heal.max-attempts]
    #[arg(long, value_name = "N")]
    max_attempts: Option<u32>,
    /// Seconds that a probe has to answer [default: 30] [setting: heal.timeout]
    #[arg(long, value_name = "S")]
    timeout: Option<Seconds>,
    /// Where probes run [default: in-place] [setting: heal.workplace]
    #[arg(long, value_enum)]
    workplace: Option<WorkplaceMode>,
    /// Confine what probes write to the worktree, a temporary folder and caches of their own
    /// [default: auto] [setting: heal.sandbox]
    #[arg(long, value_enum)]
    sandbox: Option<SandboxMode>,
    /// Let a confined probe write here too [setting: heal.allow-write]
    #[arg(long, value_name = "PATH")]
    allow_write: Vec<PathBuf>,
    /// Hand on this variable too to the command, or set it: NAME or NAME=VALUE [setting: test.env]
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

const EXITS: &str = "Examples:
  mendit doctor                          what is there, and what mends what is not
  mendit doctor --test pytest            whether the command runs at all
  mendit doctor --mcp .mcp.json --auto   start the servers, mend their configuration

Exit codes: 0 all answer · 1 one does not, for an unknown reason · 2 nothing \
could be started · 3 a time limit ended it · 4 a person must act · 130 interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    if args.test.is_none() && args.mcp.is_none() {
        return look(args, global, output);
    }
    let request = HealRequest {
        test: args.test.clone(),
        mcp: args.mcp.clone(),
        servers: args.server.clone(),
        auto: args.auto,
    };
    let app = open(global, |settings| merge(args, settings))?;
    let (result, exit) = heal_probes(&app, &request, output)?;
    output.document(args.format, &result, healing_text)?;
    Ok(exit)
}

fn look(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let checkup = check_up(&open(global, |_| {})?, output)?;
    print_checkup(&checkup, args.format, output)?;
    Ok(checkup.exit())
}

/// Prints what was looked at.
pub(super) fn print_checkup(
    checkup: &Checkup,
    format: TextOrJson,
    output: &Output,
) -> Result<(), AppError> {
    match format {
        TextOrJson::Json => output.json(checkup),
        TextOrJson::Text => output.painted(|color| checkup_text(checkup, color)),
    }
}

fn merge(args: &Args, settings: &mut Settings) {
    args.max_attempts.over(&mut settings.heal.max_attempts);
    args.timeout.over(&mut settings.heal.timeout);
    let heal = &mut settings.heal;
    args.sandbox.over(&mut heal.sandbox);
    args.workplace.over(&mut heal.workplace);
    heal.allow_write.extend_from_slice(&args.allow_write);
    settings.test.env.extend_from_slice(&args.env);
}
