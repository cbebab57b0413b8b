//! The command `run`.

use std::ffi::OsString;
use std::io::IsTerminal as _;

use super::args::{Form, Global, plain_forms};
use super::relay::OutputRelay;
use super::{AppError, Exit, Output, open_app};
use crate::app::{App, CommandRun, RunRequest, enter_last, find_test_command, no_run, run_command};
use crate::model::Code;
use crate::report::{run_culprit, run_summary};

/// Run a test command; on failure, diagnose it and find the change that broke it
///
/// Output is passed through as it arrives. The command gets the variables that tools need and those named with
/// `--env`, and no standard input; all processes that it starts are stopped with it. When it fails, mendit prints the
/// diagnosis, then reverts changes in an isolated copy and reruns the failing tests, at most six times, until
/// it finds the culprit. Log, diagnosis and packet are kept, with secrets redacted: `mendit fix`, `why`,
/// `diagnose`, `hint`, `context` and `report` use the last run by default. Without a command, the last one
/// runs again; without a last run, mendit finds the project's test command and asks before it runs it.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/run.txt").trim_ascii_end())]
pub(crate) struct RunArgs {
    #[command(flatten)]
    request: RunRequest,
    /// Print only what an agent needs: one line when it passes, less than 1,000 tokens when it
    /// fails; the whole log is kept
    #[arg(long, conflicts_with = "format")]
    brief: bool,
    /// Exit with the command's own exit code, as a shell does
    #[arg(long)]
    keep_exit_code: bool,
    /// Retry a failure up to N times; a pass on retry is reported as flaky [default: 0]
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
    retry_flaky: u32,
    /// `json` prints one document and passes the command's output to standard error
    #[arg(long, value_parser = plain_forms(), default_value = "text")]
    format: Form,
}

impl RunArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let mut app = open_app(global, &self.request, output)?;
        let mut request = self.request.clone();
        if request.command.is_empty() {
            request.command = last_command(&mut app, output)?;
        }
        let (json, is_plain) = (self.format == Form::Json, self.is_plain());
        request.colors = is_plain && output.passes_colors();
        // On a terminal the command has it to itself.
        if !std::io::stderr().is_terminal() {
            output.doing(Some("running the command"));
        }
        let mut relay = OutputRelay::new(&app, output, self.brief, json);
        let ran = self.run_command(&app, &request, &mut relay);
        let relayed = relay.finish();
        let mut ran = ran?;
        output.doing(None);
        let shown = is_plain && has_begun(ran.failure.as_ref());
        let mut exit = match &ran.failure {
            Some(error) if self.brief => error.exit,
            Some(error) => output.print_error(error),
            None => Exit::Yes,
        };
        if let Some(summary) = ran.record.summary.as_ref().filter(|_| shown) {
            output.print_aside(|color| run_summary(summary, color));
        }
        // The answer is there; the search for the change goes on below it.
        ran.search_cause(&app)?;
        output.doing(None);
        if exit == Exit::No && ran.is_of_environment() {
            exit = Exit::PersonMustAct;
        }
        if json {
            output.print_json(&ran.record)?;
        }
        // A pass counts only if its output could be read.
        if ran.failure.is_none() {
            relayed?;
        }
        if self.brief {
            output.print_text(&ran.brief(&app))?;
        } else if let Some(summary) = ran.record.summary.as_ref().filter(|_| shown) {
            let steps = ran.next_steps();
            output.print_aside(|color| run_culprit(summary, ran.found.as_ref(), &steps, color));
        }
        Ok(self.own_code(&ran, exit).map_or(exit, Exit::Git))
    }

    // Whether a person reads the output.
    fn is_plain(&self) -> bool {
        self.format != Form::Json && !self.brief
    }

    // Runs the command, and again where it may be flaky.
    fn run_command(
        &self,
        app: &App,
        request: &RunRequest,
        relay: &mut OutputRelay<'_>,
    ) -> Result<CommandRun, AppError> {
        let output = relay.output;
        let mut sink = |stdout: bool, bytes: &[u8]| relay.push(stdout, bytes);
        let mut ran = run_command(app, request, &mut sink)?;
        let most = self.retry_flaky;
        for number in 1..=most {
            if has_ended(&ran) {
                break;
            }
            let end = ran.record.test_result.as_ref();
            let end = end.map_or("", |end| end.message.as_str());
            output.note(&format!("{end}; retry {number} of at most {most}"));
            ran = run_command(app, request, &mut sink)?;
            if ran.failure.is_none() {
                output.note("the command is flaky: it failed, and passed without any change");
            }
        }
        Ok(ran)
    }

    // The exit code of the command itself, where it is asked for.
    fn own_code(&self, ran: &CommandRun, exit: Exit) -> Option<u8> {
        let is_own = self.keep_exit_code && exit != Exit::Interrupted;
        let end = ran.record.test_result.as_ref().filter(|_| is_own)?;
        let code = end.exit.or(end.signal.map(|signal| 128 + signal))?;
        u8::try_from(code).ok()
    }
}

// Finds the command of the last run, else the project's own.
fn last_command(app: &mut App, output: &Output) -> Result<Vec<OsString>, AppError> {
    // A script whose variable is empty means no other command.
    if std::env::args_os().any(|arg| arg == "--") {
        return Err(AppError::usage("no command after `--`")
            .hint("`mendit run` without a command repeats the last one"));
    }
    match enter_last(app)? {
        Some(words) => Ok(words),
        None => agreed_command(app, output),
    }
}

// Finds the project's own test command. It runs only if the user agrees, because the repository names it.
fn agreed_command(app: &App, output: &Output) -> Result<Vec<OsString>, AppError> {
    let Some((line, from)) = find_test_command(app) else {
        return Err(no_run());
    };
    if output.ask_user(&format!("Run `{line}` (from {from})?")) == Some(true) {
        return Ok(line.split(' ').map(Into::into).collect());
    }
    let message = format!("no test command, but {from} names one");
    Err(AppError::usage(message).hint(format!("`mendit run {line}` runs it")))
}

// Whether another run makes no difference: it passed, was interrupted, or never began.
fn has_ended(ran: &CommandRun) -> bool {
    let failure = ran.failure.as_ref();
    failure.is_none_or(|failure| failure.exit == Exit::Interrupted || failure.code == Code::R206)
}

// A command that never began has failed, and nothing an agent could read.
fn has_begun(failure: Option<&AppError>) -> bool {
    failure.is_some_and(|failure| failure.code != Code::R206)
}
