use std::ffi::OsString;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use super::agents::installed_agent;
use super::brief::brief;
use super::confined::{Confinement, confined, say_unconfined, stand_in};
use super::files::temporary;
use super::flags::request;
use super::last_run::Again;
use super::run_record::{Attempt, Record};
use super::run_verdict::conclude;
use super::{App, AppError, Progress, Silent, runs};
use crate::config::{Bytes, Seconds};
use crate::exec::{
    self, CommandLine, End, Environment, Job, Limits, Outcome, Sink, Stream, Terminal,
};
use crate::model::{
    Code, CommandRecord, CommandStatus, RunSummary, SandboxMode, WhyDocument, WhyVerdict,
    WorkplaceMode,
};
use crate::patch::{WriteError, is_interrupted};
use crate::policy::CommandFiles;
use crate::report::{Culprit, NextFacts, next_steps};
use crate::source::Memory;
use crate::workspace::{At, Workspace};

request! {
/// Run a test command inside limits.
#[derive(Default)]
RunRequest {
    /// The command; a single quoted argument with spaces is a shell line
    #[arg(value_name = "CMD", trailing_var_arg = true)] command: Vec<OsString>;
    /// End it after this many seconds, or `10m` [setting: limits.timeout]
    #[arg(long, value_name = "S", help_heading = LIMITS)] timeout: Option<Seconds> => set limits.timeout;
    /// End it after this many seconds without output
    #[arg(long, value_name = "S", help_heading = LIMITS)] idle_timeout: Option<Seconds>;
    /// Seconds between the request to end and the kill [default: 5]
    #[arg(hide_short_help = true, long, value_name = "S", help_heading = LIMITS)] grace: Option<Seconds>;
    /// End it after this many bytes of output; accepts K, M and G [default: 256M]
    /// [setting: limits.max-output]
    #[arg(hide_short_help = true, long, value_name = "B", value_parser = some_bytes, help_heading = LIMITS)]
    max_output: Option<Bytes> => set limits.max_output;
    /// Pass an environment variable through (NAME) or set it (NAME=VALUE) [setting: test.env]
    #[arg(long, value_name = "NAME", help_heading = SEES)] env: Vec<String> => add test.env;
    /// Confine writing to the worktree, a private temporary folder and caches [default: auto]
    /// [setting: sandbox.mode]
    #[arg(long, value_enum, help_heading = SEES)] sandbox: Option<SandboxMode> => set sandbox.mode;
    /// Let a confined command write to this path [setting: sandbox.allow-write]
    #[arg(hide_short_help = true, long, value_name = "PATH", help_heading = SEES)] allow_write: Vec<PathBuf> => add sandbox.allow_write;
    /// Where it runs [setting: sandbox.workplace]
    #[arg(hide_short_help = true, long, value_enum, help_heading = SEES)] workplace: Option<WorkplaceMode> => set sandbox.workplace;
    /// Refuse the network, loopback included [setting: sandbox.no-net]
    #[arg(long, help_heading = SEES)] no_net: bool => on sandbox.no_net;
    /// Retry a failure up to N times; a pass on retry is reported as flaky [default: 0]
    #[arg(long, value_name = "N", help_heading = LIMITS)] retry_flaky: Option<u32>;
    /// Do not search for the change that made it fail [setting: test.why]
    #[arg(long)] no_why: bool => off test.why;
    /// Do not trace the lines that failing tests run [setting: context.trace]
    #[arg(long)] no_trace: bool => off context.trace;
    /// Write the documents here instead of .mendit/runs/ID
    #[arg(long, value_name = "DIR")] out: Option<PathBuf>;
    /// Where the command's output is watched.
    #[arg(skip)] terminal: Terminal;
}
}

const LIMITS: &str = "Limits";
const SEES: &str = "What it sees and may do";

fn some_bytes(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse()?;
    if bytes.0 == 0 {
        return Err("a number of bytes above 0 is expected".to_owned());
    }
    Ok(bytes)
}

/// What came of it.
pub struct CommandRun {
    record: Record,
    // The repository as it was then, and how the command is run again.
    failed: Option<(Workspace, Again)>,
    is_traced: bool,
    /// What to say when it did not pass, with the exit code.
    pub failure: Option<AppError>,
    /// The exit code of the command as a shell tells it: 128 and the signal, 124 for a time limit.
    pub exit_code: u8,
}

impl CommandRun {
    /// Searches for the change that made it fail, and writes the packet. What is known is shown before: this
    /// runs the failing tests again.
    ///
    /// # Errors
    /// Documents that cannot be written.
    pub fn search_cause(&mut self, app: &App, progress: &dyn Progress) -> Result<(), AppError> {
        match self.failed.take() {
            Some((workspace, again)) => {
                (self.record).search_cause(app, &workspace, &again, self.is_traced, progress)
            }
            None => Ok(()),
        }
    }

    /// What the search came to; `None` where none was made.
    #[must_use]
    pub fn found(&self) -> Option<&WhyDocument> {
        self.record.found.as_ref()
    }

    /// What to type next.
    #[must_use]
    pub fn next_steps(&self) -> Vec<String> {
        let Some(summary) = &self.record.summary else {
            return Vec::new();
        };
        next_steps(&NextFacts {
            environment: &summary.remedies,
            is_certain: summary.certain.iter().any(|it| it.tried),
            may_fix: !summary.mends.is_empty() || summary.perhaps.iter().any(|it| it.tried),
            culprit: match &self.record.found {
                Some(found) if found.undo.is_some() => Culprit::Undoable,
                Some(found) if found.verdict == WhyVerdict::NotByThisChange => Culprit::NoChange,
                _ if summary.cause.is_some() => Culprit::Known,
                _ if summary.requires_user_action => Culprit::Outside,
                _ => Culprit::Unknown,
            },
            agent: installed_agent(),
        })
    }

    /// `run.json`.
    #[must_use]
    pub fn document(&self) -> CommandRecord {
        self.record.document()
    }

    /// All that an agent needs of it: one line when it passed, less than a thousand tokens when it
    /// did not, with the path of the whole log.
    ///
    /// # Errors
    /// A repository that cannot be read.
    pub fn brief(&self, app: &App) -> Result<String, AppError> {
        let mut text = match (&self.failure, self.summary()) {
            (None, _) => format!("{}\n", self.record.passed_in_words()),
            (Some(failure), Some(summary)) => {
                let workspace = app.workspace(At::Worktree, &Silent)?;
                let log = self.record.failing_log();
                let log = app.redactor().redact(log).text;
                brief(app, &workspace, summary, &failure.message, &log)
            }
            (Some(failure), None) => format!("{}\n", failure.message),
        };
        if let (Some(log), true) = (&self.record.log_at, self.failure.is_some()) {
            text.push_str(&format!("whole log: {}\n", log.display()));
        }
        Ok(text)
    }

    /// What the runner of the tests says against a pass.
    #[must_use]
    pub fn hidden(&self) -> Option<&str> {
        self.record.hidden.as_deref()
    }

    /// What its failure comes to, in a few lines.
    #[must_use]
    pub fn summary(&self) -> Option<&RunSummary> {
        self.record.summary.as_ref()
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
    if let Some(out) = &request.out {
        runs::refuse_used(app, out, runs::REPAIR)?;
    }
    if runs::here(app).is_ok_and(|state| is_interrupted(state.directory())) {
        progress.note(&WriteError::Interrupted.to_string());
    }
    let private = temporary()?;
    let mut job = job(app, request)?;
    job.private = Some(private.path().to_owned());
    // A workplace lasts as long as its folder.
    let _slot = match app.settings().sandbox.workplace {
        None | Some(WorkplaceMode::InPlace) => None,
        Some(place) => Some(stand_in(app, &mut job, place, progress)?),
    };
    let stop = progress.stop()?;
    let mut tee = Tee(sink);
    let again_at_most = request.retry_flaky.unwrap_or_default();
    let mut attempts = Vec::new();
    let (began, mut failed) = (now_in_ms(), None);
    let outcome = loop {
        let outcome = exec::run(&job, &stop, &mut tee)?;
        attempts.push(Attempt::of(&outcome));
        warn(&outcome, &job, progress);
        let again = attempts.len() <= again_at_most as usize && may_be_flaky(outcome.end);
        if !again || stop.requested() {
            break outcome;
        }
        progress.note(&format!(
            "{}; run {} of at most {}",
            outcome.end,
            attempts.len() + 1,
            again_at_most + 1
        ));
    };
    let mut record = Record::new(&job, &outcome, attempts, app.redactor());
    if matches!(record.status, CommandStatus::Failed | CommandStatus::Flaky) && !stop.requested() {
        let workspace = app.workspace(At::Worktree, progress)?;
        let again = Again {
            window: Some([began, now_in_ms()]),
            ..Again::of(app, &request.command, &workspace.prefix).with_files(&workspace)
        };
        record.write_failure(request.out.as_deref(), app, &workspace, &again)?;
        failed = Some((workspace, again));
    } else if matches!(record.status, CommandStatus::Passed) {
        let again = Again::of(app, &request.command, &runs::prefix(app)?).at_head(app);
        // A pass is a pass where nothing can be kept.
        if let Err(error) = record.keep_pass(app, &again) {
            progress.step(&error.message);
        }
    }
    if record.status == CommandStatus::Passed {
        let line = [job.command.to_string()];
        let run = app.workspace(At::Worktree, progress).map_or_else(
            |_| CommandFiles::find(&line, "", &Memory::new([])),
            |it| CommandFiles::find(&line, &it.prefix, &*it.source),
        );
        record.hidden = record.hidden_failure(&run);
    }
    let failure = conclude(&record, &outcome, &job, progress);
    Ok(CommandRun {
        exit_code: shell_code(outcome.end),
        record,
        failure,
        failed,
        is_traced: request.out.is_some(),
    })
}

fn now_in_ms() -> u64 {
    let now = UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

fn shell_code(end: End) -> u8 {
    let code = match end {
        End::Exit(code) => code,
        End::Signal(signal) => 128 + signal,
        End::TimedOut(_) => 124,
        End::OutputLimit => 1,
        End::NotFound => 127,
        End::NotExecutable => 126,
        End::Interrupted => 130,
    };
    u8::try_from(code).unwrap_or(1)
}

fn job(app: &App, request: &RunRequest) -> Result<Job, AppError> {
    let line = match request.command.as_slice() {
        [one] => one
            .to_str()
            .filter(|word| word.trim().contains(char::is_whitespace)),
        _ => None,
    };
    let command = match line {
        Some(line) => CommandLine::Shell(line.to_owned()),
        None => CommandLine::Program(request.command.clone()),
    };
    let settings = app.settings();
    let confinement = Confinement {
        sandbox: settings.sandbox.mode,
        writable: &settings.sandbox.allow_write,
        no_network: settings.sandbox.no_net,
    };
    let limits = Limits::default();
    Ok(Job {
        terminal: request.terminal,
        environment: Environment::with(settings.test.env.clone()),
        limits: Limits {
            timeout: settings.limits.timeout.map(|it| it.0),
            idle_timeout: request.idle_timeout.map(|it| it.0),
            grace: request.grace.map_or(limits.grace, |it| it.0),
            max_output: settings.limits.max_output.0,
            ..limits
        },
        ..confined(app, command, &confinement)?
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
        say_unconfined(outcome.sandbox, &outcome.not_confined, progress);
    }
}
