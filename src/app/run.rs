use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::open::listen;
use super::run_record::{Attempt, Record, Status};
use super::run_verdict::conclude;
use super::{App, AppError, Progress};
use crate::exec::{
    self, CommandLine, End, Environment, Job, Limits, Outcome, Sandbox, SandboxMode, SandboxState,
    Sink, Stream,
};
use crate::git::Repository;
use crate::model::Code;
use crate::workspace::At;

/// Run a test command inside limits.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The command; a single word with blanks in it is a line for the shell.
    pub command: Vec<OsString>,
    /// End it after so long.
    pub timeout: Option<Duration>,
    /// End it after so long without output.
    pub idle_timeout: Option<Duration>,
    /// Between the request to end and the kill.
    pub grace: Duration,
    /// End it after so many bytes of output.
    pub max_output: u64,
    /// Variables handed on beside the usual ones: `NAME` or `NAME=VALUE`.
    pub environment: Vec<String>,
    /// How far writing is confined.
    pub sandbox: SandboxMode,
    /// Where a confined command may write too.
    pub allow_write: Vec<PathBuf>,
    /// Whether the network is refused.
    pub no_network: bool,
    /// Runs more when it fails; a pass then is flaky.
    pub retry_flaky: u32,
    /// Where the documents of a failure are written; a folder of the registry of runs when missing.
    pub out: Option<PathBuf>,
}

/// What came of it.
pub struct CommandRun {
    record: Record,
    /// What to say when it did not pass, with the exit code.
    pub failure: Option<AppError>,
}

impl CommandRun {
    /// `run.json`.
    #[must_use]
    pub fn document(&self) -> impl Serialize + '_ {
        self.record.document()
    }
}

/// Runs a command. What it writes is handed to `sink` as it comes; when it fails, the packet for
/// the failure is written.
///
/// # Errors
/// When it cannot be run at all, or the documents cannot be written.
pub fn run_command(
    app: &App,
    request: &RunRequest,
    sink: &mut dyn FnMut(bool, &[u8]),
    progress: &dyn Progress,
) -> Result<CommandRun, AppError> {
    let job = job(app, request)?;
    let stop = listen()?;
    let mut tee = Tee(sink);
    let mut attempts = Vec::new();
    let outcome = loop {
        let outcome = exec::run(&job, &stop, &mut tee)?;
        attempts.push(Attempt::of(&outcome));
        warn(&outcome, &job, progress);
        let again = attempts.len() <= request.retry_flaky as usize && may_be_flaky(outcome.end);
        if !again || stop.requested() {
            break outcome;
        }
        progress.note(&format!(
            "{}; run {} of at most {}",
            outcome.end,
            attempts.len() + 1,
            request.retry_flaky + 1
        ));
    };
    let mut record = Record::new(&job, &outcome, attempts, app.redactor());
    if matches!(record.status, Status::Failed | Status::Flaky) && !stop.requested() {
        let workspace = app.workspace(At::Worktree, progress)?;
        record.write_failure(request.out.as_deref(), app, &workspace)?;
    }
    let failure = conclude(&record, &outcome, &job, progress);
    Ok(CommandRun { record, failure })
}

fn job(app: &App, request: &RunRequest) -> Result<Job, AppError> {
    let line = match request.command.as_slice() {
        [one] => one
            .to_str()
            .filter(|word| word.trim().contains(char::is_whitespace)),
        _ => None,
    };
    let mut writable = request.allow_write.clone();
    // All of the worktree, wherever in it the command is run; without git, where it is run.
    let repository = Repository::discover(app.directory())?;
    writable.extend(repository.and_then(|it| Some(it.workdir()?.to_owned())));
    let command = match line {
        Some(line) => CommandLine::Shell(line.to_owned()),
        None => CommandLine::Program(request.command.clone()),
    };
    Ok(Job {
        environment: Environment {
            allow: request.environment.clone(),
            ..Environment::default()
        },
        limits: Limits {
            timeout: request.timeout,
            idle_timeout: request.idle_timeout,
            grace: request.grace,
            max_output: request.max_output,
        },
        sandbox: Sandbox {
            mode: request.sandbox,
            writable,
            no_network: request.no_network,
        },
        ..Job::new(command, app.directory())
    })
}

struct Tee<'a>(&'a mut dyn FnMut(bool, &[u8]));

impl Sink for Tee<'_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        (self.0)(stream == Stream::Stdout, bytes);
    }
}

// Worth another run: it came to an end of its own, or hung.
fn may_be_flaky(end: End) -> bool {
    match end {
        End::Exit(0) => false,
        End::Exit(_) | End::Signal(_) | End::TimedOut(_) => !end.is_missing_command(),
        _ => false,
    }
}

fn warn(outcome: &Outcome, job: &Job, progress: &dyn Progress) {
    if outcome.leaked > 0 {
        progress.note(&format!(
            "{}: processes left behind by the command and killed: {}",
            Code::R210,
            outcome.leaked
        ));
    }
    let started = !matches!(outcome.end, End::NotFound | End::NotExecutable);
    if started && job.sandbox.mode == SandboxMode::Auto {
        match outcome.sandbox {
            SandboxState::Enforced => {}
            state => progress.note(&format!(
                "{}: the sandbox is {} in force",
                Code::R211,
                if state == SandboxState::Partial {
                    "only partly"
                } else {
                    "not"
                }
            )),
        }
    }
}
