use std::path::PathBuf;

use super::global::Global;
use super::run_record::{Attempt, Record, Status};
use super::run_verdict::conclude;
use super::values::{Flag as _, TextOrJson};
use super::workspace::{Workspace, directory};
use super::{CliError, Exit, Output, settings};
use crate::config::{self, Bytes, Confine, Seconds, Settings};
use crate::exec::{
    self, CommandLine, End, Environment, ExecError, Job, Limits, Outcome, Sandbox, SandboxMode,
    SandboxState, Sink, Stop, Stream,
};
use crate::git::Repository;
use crate::model::Code;
use crate::policy::Redactor;

/// Run a test command inside limits; when it fails, write the packet for the failure.
///
/// The output is passed on as it comes. The command sees the variables that tools need and those
/// named with `--env`, nothing on standard input, and no terminal; whatever it starts ends with it.
/// When it fails, diagnosis.json, failure-packet.json, context.json, the log and run.json are
/// written, with secrets masked.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub(crate) struct Args {
    /// The command; a single word with spaces in it is a line for the shell
    #[arg(value_name = "CMD", required = true, last = true)]
    command: Vec<std::ffi::OsString>,
    /// End it after so many seconds, or `10m` [setting: run.timeout]
    #[arg(long, value_name = "S")]
    timeout: Option<Seconds>,
    /// End it after so many seconds without output [setting: run.idle-timeout]
    #[arg(long, value_name = "S")]
    idle_timeout: Option<Seconds>,
    /// Seconds between the request to end and the kill [default: 5] [setting: run.grace]
    #[arg(long, value_name = "S")]
    grace: Option<Seconds>,
    /// End it after so many bytes of output; K, M and G are understood [default: 256M]
    /// [setting: run.max-output]
    #[arg(long, value_name = "B", value_parser = some_bytes)]
    max_output: Option<Bytes>,
    /// Hand on this variable too, or set it: NAME or NAME=VALUE [setting: run.env]
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Confine writing to the worktree, temporary directories and caches [default: auto]
    /// [setting: run.sandbox]
    #[arg(long, value_enum)]
    sandbox: Option<Confine>,
    /// Let a confined command write here too [setting: run.allow-write]
    #[arg(long, value_name = "PATH")]
    allow_write: Vec<PathBuf>,
    /// Refuse the network, loopback included [setting: run.no-net]
    #[arg(long)]
    no_net: bool,
    /// Run it up to N times more when it fails; a pass then is reported as flaky [default: 0]
    /// [setting: run.retry-flaky]
    #[arg(long, value_name = "N")]
    retry_flaky: Option<u32>,
    /// Write the documents here instead of .mendit/runs/ID
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// `json` prints one document and passes the command's output to standard error
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

const EXITS: &str = "Exit codes: 0 it passes · 1 it fails · 2 no such command, or it could not be \
run · 3 a time limit ended it · 4 a person must act (a variable, credentials, a package) · 130 \
interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let mut settings = settings::load(global)?;
    args.merge(&mut settings);
    let job = job(args, &settings.run)?;
    let named = settings.run.env.iter().filter_map(|it| it.split_once('='));
    let variables = std::env::vars_os()
        .filter_map(settings::utf8)
        .chain(named.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let redactor = Redactor::new(variables);
    let stop = Stop::install()
        .map_err(|error| CliError::environment(format!("cannot listen to Ctrl-C: {error}")))?;
    let mut tee = Tee {
        output,
        to_stdout: args.format == TextOrJson::Text,
    };
    let mut attempts = Vec::new();
    let outcome = loop {
        let outcome = exec::run(&job, &stop, &mut tee)?;
        attempts.push(Attempt::of(&outcome));
        warn(&outcome, &job, output);
        let again =
            attempts.len() <= settings.run.retry_flaky as usize && may_be_flaky(outcome.end);
        if !again || stop.requested() {
            break outcome;
        }
        output.note(&format!(
            "{}; run {} of at most {}",
            outcome.end,
            attempts.len() + 1,
            settings.run.retry_flaky + 1
        ));
    };
    let mut record = Record::new(&job, &outcome, attempts, &redactor);
    if matches!(record.status, Status::Failed | Status::Flaky) && !stop.requested() {
        let workspace = Workspace::open(global, None, output)?;
        record.write_failure(args.out.as_deref(), &settings, &workspace, &redactor)?;
    }
    if args.format == TextOrJson::Json {
        output.json(&record.document())?;
    }
    conclude(&record, &outcome, &job, output)
}

impl Args {
    fn merge(&self, settings: &mut Settings) {
        let run = &mut settings.run;
        self.timeout.over(&mut run.timeout);
        self.idle_timeout.over(&mut run.idle_timeout);
        self.grace.over(&mut run.grace);
        self.max_output.over(&mut run.max_output);
        self.sandbox.over(&mut run.sandbox);
        self.retry_flaky.over(&mut run.retry_flaky);
        run.no_net |= self.no_net;
        run.env.extend_from_slice(&self.env);
        run.allow_write.extend_from_slice(&self.allow_write);
    }
}

fn job(args: &Args, settings: &config::Run) -> Result<Job, CliError> {
    let directory = directory()?;
    let line = match args.command.as_slice() {
        [one] => one
            .to_str()
            .filter(|word| word.trim().contains(char::is_whitespace)),
        _ => None,
    };
    let mut writable = settings.allow_write.clone();
    // All of the worktree, wherever in it the command is run; without git, where it is run.
    let repository = Repository::discover(&directory)?;
    writable.extend(repository.and_then(|it| Some(it.workdir()?.to_owned())));
    Ok(Job {
        command: match line {
            Some(line) => CommandLine::Shell(line.to_owned()),
            None => CommandLine::Program(args.command.clone()),
        },
        environment: Environment {
            allow: settings.env.clone(),
            ..Environment::default()
        },
        limits: Limits {
            timeout: settings.timeout.map(|it| it.0),
            idle_timeout: settings.idle_timeout.map(|it| it.0),
            grace: settings.grace.0,
            max_output: settings.max_output.0,
        },
        sandbox: Sandbox {
            mode: settings.sandbox.into(),
            writable,
            no_network: settings.no_net,
        },
        ..Job::new(CommandLine::Program(Vec::new()), directory)
    })
}

struct Tee<'a> {
    output: &'a Output,
    to_stdout: bool,
}

impl Sink for Tee<'_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let to_stdout = self.to_stdout && stream == Stream::Stdout;
        self.output.pass_on(to_stdout, bytes);
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

fn warn(outcome: &Outcome, job: &Job, output: &Output) {
    if outcome.leaked > 0 {
        output.note(&format!(
            "{}: processes left behind by the command and killed: {}",
            Code::R210,
            outcome.leaked
        ));
    }
    let started = !matches!(outcome.end, End::NotFound | End::NotExecutable);
    if started && job.sandbox.mode == SandboxMode::Auto {
        match outcome.sandbox {
            SandboxState::Enforced => {}
            state => output.note(&format!(
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

fn some_bytes(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse()?;
    if bytes.0 == 0 {
        return Err("a number of bytes above 0 is expected".to_owned());
    }
    Ok(bytes)
}

impl From<ExecError> for CliError {
    fn from(error: ExecError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            ExecError::Sandbox(_) => {
                said.hint("`--sandbox auto` without `--no-net` runs with what there is")
            }
            _ => said,
        }
    }
}
