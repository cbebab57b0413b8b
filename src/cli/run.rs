use std::path::PathBuf;
use std::time::Duration;

use super::args::Global;
use super::run_record::{Attempt, Record, Status};
use super::workspace::{Workspace, directory};
use super::{CliError, Exit, Output, config};
use crate::exec::{
    self, CommandLine, End, Environment, ExecError, Job, Limits, Outcome, Sandbox, SandboxMode,
    SandboxState, Sink, Stop, Stream, TimeLimit,
};
use crate::model::{Code, Diagnosis, FailureKind};
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
    /// End it after so many seconds
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    timeout: Option<Duration>,
    /// End it after so many seconds without output
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    idle_timeout: Option<Duration>,
    /// Seconds between the request to end and the kill
    #[arg(long, value_name = "S", default_value = "5", value_parser = parse_seconds)]
    grace: Duration,
    /// End it after so many bytes of output; K, M and G are understood
    #[arg(long, value_name = "B", default_value = "256M", value_parser = parse_bytes)]
    max_output: u64,
    /// Hand on this variable too, or set it: NAME or NAME=VALUE
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Confine writing to the worktree, temporary directories and caches
    #[arg(long, value_enum, default_value = "auto")]
    sandbox: SandboxChoice,
    /// Let a confined command write here too
    #[arg(long, value_name = "PATH")]
    allow_write: Vec<PathBuf>,
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
    format: Format,
}

const EXITS: &str = "Exit codes: 0 it passes · 1 it fails · 2 no such command, or it could not be \
run · 3 a time limit ended it · 4 a person must act (a variable, credentials, a package) · 130 \
interrupted";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SandboxChoice {
    /// As far as the system can
    Auto,
    /// In full, or refuse to run
    Require,
    /// Not at all
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let settings = config::load(global)?;
    let workspace = Workspace::open(global, None, output)?;
    let job = job(args, &workspace)?;
    let named = args.env.iter().filter_map(|it| it.split_once('='));
    let variables = std::env::vars_os()
        .filter_map(config::utf8)
        .chain(named.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let redactor = Redactor::new(variables);
    let stop = Stop::install()
        .map_err(|error| CliError::environment(format!("cannot listen to Ctrl-C: {error}")))?;
    let mut tee = Tee {
        output,
        to_stdout: args.format == Format::Text,
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
        record.write_failure(args.out.as_deref(), &settings, &workspace, &redactor)?;
    }
    if args.format == Format::Json {
        output.json(&record.document())?;
    }
    conclude(&record, &outcome, &job, output)
}

fn job(args: &Args, workspace: &Workspace) -> Result<Job, CliError> {
    let line = match args.command.as_slice() {
        [one] => one
            .to_str()
            .filter(|word| word.trim().contains(char::is_whitespace)),
        _ => None,
    };
    let mut writable = args.allow_write.clone();
    writable.extend(workspace.root.clone());
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
        },
        sandbox: Sandbox {
            mode: match args.sandbox {
                SandboxChoice::Auto => SandboxMode::Auto,
                SandboxChoice::Require => SandboxMode::Require,
                SandboxChoice::Off => SandboxMode::Off,
            },
            writable,
            no_network: args.no_net,
        },
        ..Job::new(CommandLine::Program(Vec::new()), directory()?)
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
            "R210: processes left behind by the command and killed: {}",
            outcome.leaked
        ));
    }
    let started = !matches!(outcome.end, End::NotFound | End::NotExecutable);
    if started && job.sandbox.mode == SandboxMode::Auto {
        match outcome.sandbox {
            SandboxState::Enforced => {}
            SandboxState::Partial => output.note("R211: the sandbox is only partly in force"),
            SandboxState::None => output.note("R211: there is no sandbox here"),
        }
    }
}

fn conclude(
    record: &Record,
    outcome: &Outcome,
    job: &Job,
    output: &Output,
) -> Result<Exit, CliError> {
    let seconds = format!("{:.1} s", outcome.duration.as_secs_f64());
    let name = &record.command;
    let diagnosis = record.diagnosis.as_ref();
    let (code, said, exit) = match outcome.end {
        End::Exit(0) if record.status == Status::Flaky => {
            let at = record.written_to.as_ref();
            output.note(&format!(
                "R209: `{name}` is flaky: it passed in run {} without any change; the failing run \
                 is in {}",
                record.attempts.len(),
                at.map_or_else(String::new, |at| at.display().to_string()),
            ));
            return Ok(Exit::Yes);
        }
        End::Exit(0) => return Ok(Exit::Yes),
        End::Exit(code) => (
            Code::new("R201"),
            format!("`{name}` failed with exit code {code} after {seconds}"),
            if outcome.end.is_missing_command() {
                Exit::Environment
            } else {
                Exit::No
            },
        ),
        End::Signal(_) => (
            Code::new("R202"),
            format!("`{name}` died of {} after {seconds}", outcome.end),
            Exit::No,
        ),
        End::TimedOut(TimeLimit::Total) => (
            Code::new("R203"),
            format!("`{name}` was ended by the time limit after {seconds}"),
            Exit::TimedOut,
        ),
        End::TimedOut(TimeLimit::Idle) => (
            Code::new("R204"),
            format!("`{name}` was ended after too long without output, at {seconds}"),
            Exit::TimedOut,
        ),
        End::OutputLimit => (
            Code::new("R205"),
            format!(
                "`{name}` was ended after {} bytes of output",
                outcome.output.bytes
            ),
            Exit::No,
        ),
        End::NotFound => (
            Code::new("R206"),
            format!("`{name}`: command not found"),
            Exit::Environment,
        ),
        End::NotExecutable => (
            Code::new("R207"),
            format!("`{name}`: not executable"),
            Exit::Environment,
        ),
        End::Interrupted => (
            Code::new("R208"),
            format!("`{name}` was interrupted after {seconds}"),
            Exit::Interrupted,
        ),
    };
    let person = exit == Exit::No && diagnosis.is_some_and(|it| it.requires_user_action);
    let exit = if person { Exit::PersonMustAct } else { exit };
    let mut error = CliError::new(code, said).exit(exit);
    if let Some(diagnosis) = diagnosis {
        error = error.hint(format!("{}: {}", diagnosis.kind, diagnosis.explanation));
        if person {
            error = error.hint(diagnosis.suggested_fix.clone());
        }
        for hint in hints(diagnosis, outcome, job) {
            error = error.hint(hint);
        }
    }
    if let Some(at) = &record.written_to {
        error = error.hint(format!("the packet is in {}", at.display()));
    }
    Err(error)
}

// What the way it was run may have to do with it.
fn hints(diagnosis: &Diagnosis, outcome: &Outcome, job: &Job) -> Vec<String> {
    let mut hints = Vec::new();
    let confined = outcome.sandbox != SandboxState::None && job.sandbox.mode != SandboxMode::Off;
    if diagnosis.kind == FailureKind::PermissionDenied && confined {
        hints.push(
            "R212: it was confined; `--allow-write PATH` opens a place, `--sandbox off` all"
                .to_owned(),
        );
    }
    if diagnosis.kind == FailureKind::MissingEnvVar {
        let texts = diagnosis.evidence.iter().map(|it| it.text.as_str());
        let words = texts.flat_map(|text| text.split(|it: char| !is_name(it)));
        let mut held: Vec<&str> = words
            .filter(|word| word.len() > 2 && word.chars().any(|it| it.is_ascii_uppercase()))
            .filter(|word| std::env::var_os(word).is_some())
            .collect();
        held.sort_unstable();
        held.dedup();
        for name in held {
            hints.push(format!(
                "`{name}` is set here and was not handed on; `--env {name}` does"
            ));
        }
    }
    hints
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|seconds: &f64| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a number of seconds above 0 is expected".to_owned())
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
    use super::{parse_bytes, parse_seconds};

    #[test]
    fn sizes_and_times_are_read() {
        for (text, bytes) in [("5", 5), ("2K", 2048), ("3MB", 3 << 20), ("1g", 1 << 30)] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "-1", "x", "99999999999G", "1.5M"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        assert_eq!(parse_seconds("0.5").unwrap().as_millis(), 500);
        for text in ["0", "-1", "NaN", "inf", "1e300", "x"] {
            assert!(parse_seconds(text).is_err(), "{text}");
        }
    }
}
