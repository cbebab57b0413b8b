use std::path::{Path, PathBuf};
use std::time::Duration;

use super::global::Global;
use super::run_record::{Attempt, Record, Status};
use super::run_verdict::conclude;
use super::values::{Confine, TextOrJson, Where, seconds};
use super::workspace::{Workspace, directory};
use super::{CliError, Exit, Output, run_folder, settings};
use crate::exec::{
    self, CommandLine, End, Environment, ExecError, Job, Limits, Outcome, Sandbox, SandboxMode,
    SandboxState, Sink, Stop, Stream,
};
use crate::git::Repository;
use crate::model::Code;
use crate::policy::Redactor;
use crate::workplace::{Choice, Plan, Workplace, WorkplaceError};

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
    /// End it after so many seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    timeout: Option<Duration>,
    /// End it after so many seconds without output
    #[arg(long, value_name = "S", value_parser = seconds)]
    idle_timeout: Option<Duration>,
    /// Seconds between the request to end and the kill
    #[arg(long, value_name = "S", default_value = "5", value_parser = seconds)]
    grace: Duration,
    /// End it after so many bytes of output; K, M and G are understood
    #[arg(long, value_name = "B", default_value = "256M", value_parser = parse_bytes)]
    max_output: u64,
    /// Hand on this variable too, or set it: NAME or NAME=VALUE
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Confine writing to the worktree, temporary directories and caches
    #[arg(long, value_enum, default_value = "auto")]
    sandbox: Confine,
    /// Let a confined command write here too
    #[arg(long, value_name = "PATH")]
    allow_write: Vec<PathBuf>,
    /// Where it runs; by default the worktree itself
    #[arg(long, value_enum, default_value = "in-place")]
    workplace: Where,
    /// Refuse the network, loopback included
    #[arg(long)]
    no_net: bool,
    /// Run it up to N times more when it fails; a pass then is reported as flaky
    #[arg(long, value_name = "N", default_value = "0")]
    retry_flaky: u32,
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
    let settings = settings::load(global)?;
    let private = tempfile::tempdir()
        .map_err(|error| CliError::environment(format!("no temporary folder: {error}")))?;
    let mut job = job(args)?;
    job.private = Some(private.path().to_owned());
    let slot = match args.workplace {
        Where::InPlace => None,
        _ => Some(run_folder::own_cache()?),
    };
    let slot = slot.map(tempfile::tempdir_in).transpose();
    let slot = slot.map_err(|error| CliError::environment(format!("no workplace: {error}")))?;
    if let Some(slot) = &slot {
        let workspace = Workspace::open(global, None, output)?;
        stand_in(
            &mut job,
            args.workplace.into(),
            &workspace,
            slot.path(),
            output,
        )?;
    }
    let named = args.env.iter().filter_map(|it| it.split_once('='));
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
        let again = attempts.len() <= args.retry_flaky as usize && may_be_flaky(outcome.end);
        if !again || stop.requested() {
            break outcome;
        }
        output.note(&format!(
            "{}; run {} of at most {}",
            outcome.end,
            attempts.len() + 1,
            args.retry_flaky + 1
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

// Moves a job from the worktree to a workplace of its own, which lasts as long as its folder.
fn stand_in(
    job: &mut Job,
    choice: Choice,
    workspace: &Workspace,
    slot: &Path,
    output: &Output,
) -> Result<(), CliError> {
    let Some(root) = &workspace.root else {
        return Ok(());
    };
    let place = Workplace::open(&Plan {
        choice,
        slot,
        source: workspace.source.as_ref(),
        root,
        git: workspace.git.as_ref(),
        shared: run_folder::shared(workspace.source.as_ref(), root, &[])?,
        closed: Vec::new(),
    })?;
    let below = job.directory.strip_prefix(root).unwrap_or(Path::new(""));
    job.directory = place.root().join(below);
    job.sandbox.writable.retain(|it| it != root);
    job.sandbox.closed.clear();
    place.confine(job);
    let said = format!("workplace: {} ({})", place.kind().as_str(), place.why());
    output.note(&said);
    Ok(())
}

fn job(args: &Args) -> Result<Job, CliError> {
    let directory = directory()?;
    let line = match args.command.as_slice() {
        [one] => one
            .to_str()
            .filter(|word| word.trim().contains(char::is_whitespace)),
        _ => None,
    };
    let mut writable = args.allow_write.clone();
    // All of the worktree, wherever in it the command is run; without git, where it is run. What
    // git reads later is closed.
    let repository = Repository::discover(&directory)?;
    let mut closed = Vec::new();
    if let Some(git) = &repository {
        writable.extend(git.workdir().map(Path::to_owned));
        let homes = [git.git_dir().to_owned(), git.common_dir()];
        closed.extend(homes.iter().filter_map(|it| it.canonicalize().ok()));
    }
    let opened = |it: &PathBuf| writable.iter().any(|path| path == it);
    closed.retain(|it| !opened(it));
    Ok(Job {
        command: match line {
            Some(line) => CommandLine::Shell(line.to_owned()),
            None => CommandLine::Program(args.command.clone()),
        },
        environment: Environment {
            allow: args.env.clone(),
            ..Environment::default()
        },
        limits: Limits {
            timeout: args.timeout,
            idle_timeout: args.idle_timeout,
            grace: args.grace,
            max_output: args.max_output,
            ..Limits::default()
        },
        sandbox: Sandbox {
            mode: args.sandbox.into(),
            writable,
            closed,
            no_network: args.no_net,
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

fn parse_bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.trim_end_matches(['b', 'B']) {
        it if it.ends_with(['k', 'K']) => (it, 10),
        it if it.ends_with(['m', 'M']) => (it, 20),
        it if it.ends_with(['g', 'G']) => (it, 30),
        it => (it, 0),
    };
    digits
        .trim_end_matches(|it: char| it.is_ascii_alphabetic())
        .parse::<u64>()
        .ok()
        .filter(|bytes| *bytes > 0)
        .and_then(|bytes| bytes.checked_mul(1 << shift))
        .ok_or_else(|| "a number of bytes above 0 is expected, such as 1000000 or 256M".to_owned())
}

impl From<WorkplaceError> for CliError {
    fn from(error: WorkplaceError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            WorkplaceError::Unavailable { .. } => {
                said.hint("`--workplace auto` takes the best that can be had")
            }
            _ => said,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::{parse_bytes, seconds};

    #[test]
    fn sizes_and_times_are_read() {
        for (text, bytes) in [("5", 5), ("2K", 2048), ("3MB", 3 << 20), ("1g", 1 << 30)] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "-1", "x", "99999999999G", "1.5M"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        assert_eq!(seconds("0.5").unwrap().as_millis(), 500);
        for text in ["0", "-1", "NaN", "inf", "1e300", "x"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
