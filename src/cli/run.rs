use std::io::IsTerminal as _;

use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output, open};
use crate::app::{RunRequest, last_words, run_command};
use crate::model::Code;
use crate::report::run_summary;

/// Run a test command; when it fails, say what broke, where, and what to type next
///
/// The output is passed on as it comes, in colour where you see it on a terminal. The command sees
/// the variables that tools need and those named with `--env`, and nothing on standard input;
/// whatever it starts ends with it.
/// When it fails, its log, the diagnosis and the files that a repair needs are kept, with secrets
/// masked: `mendit fix`, `diagnose`, `hint`, `context` and `report` take the last run when none is
/// named. Without a command the last one is run again.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub(crate) struct Args {
    #[command(flatten)]
    request: RunRequest,
    /// Say only what an agent needs: one line when it passes, less than 1,000 tokens when it does
    /// not; the whole log is kept
    #[arg(long, conflicts_with = "format")]
    brief: bool,
    /// End with the command's own exit code, as a shell tells it
    #[arg(long)]
    keep_exit_code: bool,
    /// `json` prints one document and passes the command's output to standard error
    #[arg(long, value_parser = PLAIN, default_value = "text")]
    format: Form,
}

const EXITS: &str = "Examples:
  mendit run pytest -x
  mendit run --timeout 10m npm test
  mendit run \"npm run build && npm test\"      one word with blanks is a line for the shell

Exit codes: 0 it passes · 1 it fails · 2 no such command, or it could not be \
run · 3 a time limit ended it · 4 a person must act (a variable, credentials, a package) · 130 \
interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let json = args.format == Form::Json;
    let mut passed_on = Ok(());
    let mut pass_on = |stdout: bool, bytes: &[u8]| {
        if !args.brief && passed_on.is_ok() {
            passed_on = output.pass_on(stdout && !json, bytes);
        }
    };
    let app = open(global, &args.request)?;
    let mut request = args.request.clone();
    if request.command.is_empty() {
        // A script whose variable is empty means no other command.
        if std::env::args_os().any(|it| it == "--") {
            return Err(AppError::usage("there is no command behind `--`")
                .hint("`mendit run` alone runs the last one again"));
        }
        request.command = last_words(&app)?;
    }
    if !json && !args.brief {
        request.terminal = output.terminal();
    }
    // On a terminal the command has it to itself.
    if !std::io::stderr().is_terminal() {
        output.doing(Some("running the command"));
    }
    let ran = run_command(&app, &request, &mut pass_on, output)?;
    output.doing(None);
    if json {
        output.json(&ran.document())?;
    }
    // A pass of which nobody could read what it printed is none.
    if ran.failure.is_none() {
        passed_on?;
    }
    let exit = match &ran.failure {
        Some(error) if args.brief => error.exit,
        Some(error) => output.fail(error),
        None => Exit::Yes,
    };
    if args.brief {
        output.text(&ran.brief(&app)?)?;
    } else if let Some(summary) = ran.summary().filter(|_| began(ran.failure.as_ref())) {
        output.aside(|color, width| run_summary(summary, color, width));
    }
    Ok(match exit {
        Exit::Interrupted => exit,
        _ if args.keep_exit_code => Exit::Command(ran.exit_code),
        _ => exit,
    })
}

// A command that never began has failed, and nothing an agent could read.
fn began(failure: Option<&AppError>) -> bool {
    failure.is_some_and(|it| it.code != Code::R206)
}
