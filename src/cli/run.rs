use std::io::IsTerminal as _;
use std::path::PathBuf;

use super::global::Global;
use super::values::{Flag as _, TextOrJson};
use super::{AppError, Exit, Output, open};
use crate::app::settings::{Bytes, Seconds, Settings};
use crate::app::{RunRequest, Terminal, last_words, run_command};
use crate::model::{Code, SandboxMode, WorkplaceMode};
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
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Args {
    /// The command; a single word with spaces in it is a line for the shell
    #[arg(value_name = "CMD", trailing_var_arg = true)]
    command: Vec<std::ffi::OsString>,
    /// End it after so many seconds, or `10m` [setting: run.timeout]
    #[arg(long, value_name = "S", help_heading = "Limits")]
    timeout: Option<Seconds>,
    /// End it after so many seconds without output [setting: run.idle-timeout]
    #[arg(long, value_name = "S", help_heading = "Limits")]
    idle_timeout: Option<Seconds>,
    /// Seconds between the request to end and the kill [default: 5] [setting: run.grace]
    #[arg(long, value_name = "S", help_heading = "Limits")]
    grace: Option<Seconds>,
    /// End it after so many bytes of output; K, M and G are understood [default: 256M]
    /// [setting: run.max-output]
    #[arg(long, value_name = "B", value_parser = some_bytes, help_heading = "Limits")]
    max_output: Option<Bytes>,
    /// Hand on this variable too, or set it: NAME or NAME=VALUE [setting: run.env]
    #[arg(long, value_name = "NAME", help_heading = "What it sees and may do")]
    env: Vec<String>,
    /// Confine writing to the worktree, a temporary folder and caches of its own [default: auto]
    /// [setting: run.sandbox]
    #[arg(long, value_enum, help_heading = "What it sees and may do")]
    sandbox: Option<SandboxMode>,
    /// Let a confined command write here too [setting: run.allow-write]
    #[arg(long, value_name = "PATH", help_heading = "What it sees and may do")]
    allow_write: Vec<PathBuf>,
    /// Where it runs [default: in-place] [setting: run.workplace]
    #[arg(long, value_enum, help_heading = "What it sees and may do")]
    workplace: Option<WorkplaceMode>,
    /// Refuse the network, loopback included [setting: run.no-net]
    #[arg(long, help_heading = "What it sees and may do")]
    no_net: bool,
    /// Run it up to N times more when it fails; a pass then is reported as flaky [default: 0]
    /// [setting: run.retry-flaky]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    retry_flaky: Option<u32>,
    /// Do not look for the change that made it fail; without, changes are taken back in an overlay and the
    /// failing tests run again, in about the time that the run took [setting: run.why]
    #[arg(long)]
    no_why: bool,
    /// Do not run the failing tests once more to see what they enter [setting: context.trace]
    #[arg(long)]
    no_trace: bool,
    /// Write the documents here instead of .mendit/runs/ID
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Say only what an agent needs: one line when it passes, less than 1,000 tokens when it does
    /// not; the whole log is kept
    #[arg(long, conflicts_with = "format")]
    brief: bool,
    /// End with the command's own exit code, as a shell tells it
    #[arg(long)]
    keep_exit_code: bool,
    /// `json` prints one document and passes the command's output to standard error
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

const EXITS: &str = "Examples:
  mendit run pytest -x
  mendit run --timeout 10m npm test
  mendit run \"npm run build && npm test\"      one word with blanks is a line for the shell

Exit codes: 0 it passes · 1 it fails · 2 no such command, or it could not be \
run · 3 a time limit ended it · 4 a person must act (a variable, credentials, a package) · 130 \
interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let json = args.format == TextOrJson::Json;
    let mut passed_on = Ok(());
    let mut pass_on = |stdout: bool, bytes: &[u8]| {
        if !args.brief && passed_on.is_ok() {
            passed_on = output.pass_on(stdout && !json, bytes);
        }
    };
    let app = open(global, |settings| args.merge(settings))?;
    let request = RunRequest {
        command: match args.command.as_slice() {
            // A script whose variable is empty means no other command.
            [] if std::env::args_os().any(|it| it == "--") => {
                return Err(AppError::usage("there is no command behind `--`")
                    .hint("`mendit run` alone runs the last one again"));
            }
            [] => last_words(&app)?,
            words => words.to_vec(),
        },
        out: args.out.clone(),
        terminal: if json || args.brief {
            Terminal::default()
        } else {
            output.terminal()
        },
    };
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
    failure.is_some_and(|it| !matches!(it.code, Code::R206 | Code::R207))
}

impl Args {
    fn merge(&self, settings: &mut Settings) {
        settings.context.trace &= !self.no_trace;
        let run = &mut settings.run;
        self.timeout.over(&mut run.timeout);
        self.idle_timeout.over(&mut run.idle_timeout);
        self.grace.over(&mut run.grace);
        self.max_output.over(&mut run.max_output);
        self.sandbox.over(&mut run.sandbox);
        self.workplace.over(&mut run.workplace);
        self.retry_flaky.over(&mut run.retry_flaky);
        run.no_net |= self.no_net;
        run.why &= !self.no_why;
        run.env.extend_from_slice(&self.env);
        run.allow_write.extend_from_slice(&self.allow_write);
    }
}

fn some_bytes(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse()?;
    if bytes.0 == 0 {
        return Err("a number of bytes above 0 is expected".to_owned());
    }
    Ok(bytes)
}
