use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::agents::installed_agent;
use super::confined::{Confinement, confined, say_new_repositories, say_unconfined, stand_in};
use super::context::packed;
use super::files::{temporary, to_json};
use super::flags::request;
use super::run_end::describe_failure;
use super::run_summary::{brief_text, summarize_run};
use super::runs::{self, RerunSpec, RunFolders, RunStore};
use super::why::{Search, known_trace};
use super::{App, AppError, Progress};
use crate::config::{Bytes, Seconds};
use crate::context::base_request;
use crate::diagnose::{Log, LogFacts, Scene, diagnose_masked};
use crate::exec::{
    self, CommandLine, End, Environment, Job, Limits, Outcome, Sink, Stop, Stream, Terminal,
};
use crate::git::Repository;
use crate::model::{
    Code, CommandRecord, CommandStatus, DiagnosisDocument, RunSummary, SandboxMode, TestResult,
    WhyDocument, WorkplaceMode,
};
use crate::patch::{WriteError, is_interrupted};
use crate::policy::{CommandFiles, sanitize_log};
use crate::proof::{CommandOutput, command_evidence, hidden_failure, named_runners};
use crate::repair::{files_digest, in_utc};
use crate::report::{NextFacts, culprit_of, next_steps};
use crate::source::Memory;
use crate::why::{RedRun, known_cause};
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

/// A command that was run, and the documents about it.
pub struct CommandRun {
    /// `run.json`.
    pub record: CommandRecord,
    /// What to say when it did not pass, with the exit code.
    pub failure: Option<AppError>,
    /// The exit code of the command as a shell reports it: 128 and the signal, 124 for a time limit.
    pub exit_code: u8,
    /// The failure that the test runner reports although the command passed.
    pub hidden: Option<String>,
    /// The answer of the search for the culprit; `None` where none was made.
    pub found: Option<WhyDocument>,
    attempts: Vec<Attempt>,
    rerun: RerunSpec,
    // The repository as it was then, and the folders of the run, where it failed.
    failed: Option<(Workspace, RunFolders)>,
    is_traced: bool,
}

// One run of the command.
struct Attempt {
    end: End,
    log: String,
    took: Duration,
    row: TestResult,
}

/// Runs a command. Its output is passed to `sink` as it comes. A failure is diagnosed and kept.
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
    if runs::state(app).is_ok_and(|state| is_interrupted(state.directory())) {
        progress.note(&WriteError::Interrupted.to_string());
    }
    let private = temporary()?;
    let mut job = job(app, request)?;
    job.private = Some(private.path().to_owned());
    // The isolated copy lasts as long as its folder.
    let _slot = match app.settings().sandbox.workplace {
        None | Some(WorkplaceMode::InPlace) => None,
        Some(place) => Some(stand_in(app, &mut job, place, progress)?),
    };
    let stop = progress.stop()?;
    let began = jiff::Timestamp::now();
    let (outcome, attempts) = run_attempts(&job, request, &stop, sink, progress)?;
    let mut run = CommandRun {
        record: record(app, &job, &outcome, &attempts),
        failure: None,
        exit_code: shell_code(outcome.end),
        hidden: None,
        found: None,
        attempts,
        rerun: RerunSpec::new(app, &request.command, &RunStore::open(app)?.prefix),
        failed: None,
        is_traced: request.out.is_some(),
    };
    run.record.started_at = Some(in_utc(began));
    match run.record.status {
        CommandStatus::Failed | CommandStatus::Flaky if !stop.requested() => {
            let window = [began, jiff::Timestamp::now()];
            run.rerun.window = Some(window.map(|time| time.as_millisecond().unsigned_abs()));
            run.keep_failure(app, request, progress)?;
        }
        CommandStatus::Passed => run.keep_pass(app, &job, progress),
        _ => {}
    }
    if outcome.end != End::Exit(0) {
        let name = &run.record.command;
        let diagnosis = run.record.diagnosis.as_ref();
        run.failure = Some(describe_failure(name, diagnosis, &outcome, &job));
    } else if run.record.status == CommandStatus::Flaky {
        progress.note(&format!(
            "{}: `{}` is flaky: it passed in run {} without any change; the failing run is in {}",
            Code::R209,
            run.record.command,
            run.attempts.len(),
            run.record.written_to.as_deref().unwrap_or_default(),
        ));
    } else if let Some(hidden) = &run.hidden {
        progress.note(hidden);
    }
    Ok(run)
}

fn run_attempts(
    job: &Job,
    request: &RunRequest,
    stop: &Stop,
    sink: &mut dyn FnMut(bool, &[u8]),
    progress: &dyn Progress,
) -> Result<(Outcome, Vec<Attempt>), AppError> {
    let more = request.retry_flaky.unwrap_or_default();
    let mut tee = Tee(sink);
    let mut attempts = Vec::new();
    loop {
        let outcome = exec::run(job, stop, &mut tee)?;
        attempts.push(Attempt::new(&outcome));
        warn(&outcome, job, progress);
        let number = attempts.len() + 1;
        let is_again = number <= more as usize + 1 && may_be_flaky(outcome.end);
        if !is_again || stop.requested() {
            return Ok((outcome, attempts));
        }
        progress.note(&format!(
            "{}; run {number} of at most {}",
            outcome.end,
            more + 1
        ));
    }
}

impl CommandRun {
    fn keep_failure(
        &mut self,
        app: &App,
        request: &RunRequest,
        progress: &dyn Progress,
    ) -> Result<(), AppError> {
        let Some(failing) = self.failing() else {
            return Ok(());
        };
        let workspace = app.workspace(At::Worktree, progress)?;
        let redactor = &app.redactor().learning(&failing.log);
        let log: Log = failing.log_or_end(&self.record.command).into();
        let facts = LogFacts {
            exit_code: failing.end.code_or_signal(),
            command: Some(self.record.command.clone()),
            timed_out: failing.row.timed_out,
        };
        let scene = Scene {
            source: Some(workspace.source.as_ref()),
            directory: &workspace.prefix,
        };
        let diagnosis = diagnose_masked(&log, &facts, scene, &[], redactor);
        let text = redactor.redact(&failing.log).text.into_owned();
        let store = RunStore::open(app)?;
        let folders = store.start(&workspace, request.out.as_deref(), true)?;
        self.rerun.exit_code = facts.exit_code;
        self.rerun.files = Some(files_digest(workspace.source.as_ref()));
        folders.write_rerun(&self.rerun)?;
        let line = self.rerun.line().unwrap_or_default();
        let is_output = store.outputs_of_last(&workspace, &line);
        let command = &self.record.command;
        let summary = summarize_run(app, (&diagnosis, &log), command, &workspace, &is_output);
        folders.write("test.log", &text)?;
        folders.write(
            "diagnosis.json",
            &to_json(&DiagnosisDocument::new(&diagnosis))?,
        )?;
        self.record.summary = Some(summary);
        self.record.diagnosis = Some(diagnosis);
        self.record.run_id = Some(folders.id());
        self.record.written_to = Some(folders.named().display().to_string());
        folders.write("run.json", &to_json(&self.record)?)?;
        store.forget_old();
        self.failed = Some((workspace, folders));
        Ok(())
    }

    fn keep_pass(&mut self, app: &App, job: &Job, progress: &dyn Progress) {
        let git = Repository::discover(app.directory()).ok().flatten();
        self.rerun.head = git.and_then(|git| git.head());
        let log = self.attempts.last().map_or("", |attempt| &attempt.log);
        let store = RunStore::open(app);
        let kept = store.and_then(|store| store.keep_pass(&mut self.record, log, &self.rerun));
        // A pass is a pass where nothing can be kept.
        if let Err(error) = kept {
            progress.step(&error.message);
        }
        let line = [job.command.to_string()];
        let files = app.workspace(At::Worktree, progress).map_or_else(
            |_| CommandFiles::find(&line, "", &Memory::new([])),
            |workspace| CommandFiles::find(&line, &workspace.prefix, &*workspace.source),
        );
        let evidence = command_evidence(&CommandOutput {
            text: &sanitize_log(log.as_bytes()),
            passed: true,
            named: named_runners(&files),
            report: None,
        });
        self.hidden = hidden_failure(&vec![evidence]).map(|hidden| {
            format!(
                "{}: {hidden}: a pipe ends as its last command does; `set -o pipefail`, or leave the \
                 pipe out: the log is kept",
                Code::R213
            )
        });
    }

    fn failing(&self) -> Option<&Attempt> {
        let mut attempts = self.attempts.iter().rev();
        attempts.find(|attempt| attempt.end != End::Exit(0))
    }

    /// Searches for the culprit, and writes the packet, which holds it. The diagnosis is shown before: this runs the
    /// failing tests again.
    ///
    /// # Errors
    /// Documents that cannot be written.
    pub fn search_cause(&mut self, app: &App, progress: &dyn Progress) -> Result<(), AppError> {
        let Some((workspace, folders)) = self.failed.take() else {
            return Ok(());
        };
        let (Some(failing), Some(diagnosis)) = (self.failing(), self.record.diagnosis.clone())
        else {
            return Ok(());
        };
        let redactor = &app.redactor().learning(&failing.log);
        let exit_code = failing.end.code_or_signal();
        let mut request = base_request(app.settings(), workspace.git.as_ref());
        let line = self.rerun.line();
        let search = line.as_deref().and_then(|line| {
            let log = app.clean(failing.log.as_bytes());
            let red = RedRun::new(diagnosis, &log, exit_code, workspace.root.as_deref());
            Search::after_run(app, &workspace, (line, failing.took), red)
        });
        let mut found = None;
        if let (Some(search), Some(line)) = (search, &line) {
            if app.settings().test.why {
                let answer = search.run(app, &workspace, progress, |find| find.find_cause());
                found = match answer {
                    Ok(found) => Some(found),
                    Err(error) => {
                        progress.step(&error.message);
                        None
                    }
                };
            }
            if self.is_traced && app.settings().context.trace {
                let trace = || search.run(app, &workspace, progress, |find| find.trace_failing());
                let known = known_trace(app, &workspace, line);
                request.traced = known.or_else(|| trace().ok());
            }
        }
        request.cause = found.as_ref().and_then(known_cause);
        request.log = Some(failing.log_or_end(&self.record.command).into());
        request.exit_code = exit_code;
        request.timed_out = failing.row.timed_out;
        request.test_commands = vec![self.record.command.clone()];
        let cause = request.cause.clone();
        self.found = found;
        let cached = ("HEAD", true);
        let (built, packet) = packed(app, &workspace, &mut request, redactor, cached, None)?;
        if let Some(summary) = &mut self.record.summary {
            if cause.is_some() {
                summary.suspects.clear();
                summary.more_suspects = 0;
            }
            summary.cause = cause;
        }
        folders.write("context.json", &to_json(&built.context)?)?;
        folders.write("failure-packet.json", &to_json(&packet)?)?;
        folders.write("run.json", &to_json(&self.record)?)
    }

    /// What to type next.
    #[must_use]
    pub fn next_steps(&self) -> Vec<String> {
        let Some(summary) = &self.record.summary else {
            return Vec::new();
        };
        next_steps(&NextFacts {
            environment: &summary.remedies,
            is_certain: summary.certain.iter().any(|import| import.tried),
            may_fix: !summary.mends.is_empty() || summary.perhaps.iter().any(|one| one.tried),
            culprit: culprit_of(summary, self.found.as_ref()),
            agent: installed_agent(),
        })
    }

    /// The failure in short.
    #[must_use]
    pub fn summary(&self) -> Option<&RunSummary> {
        self.record.summary.as_ref()
    }

    /// What an agent needs of it: one line when it passed; else the failures and the path of the whole log.
    pub fn brief(&self, app: &App) -> String {
        let Some(failure) = &self.failure else {
            return format!("{}\n", self.pass_in_words());
        };
        let (Some(summary), Some(failing)) = (self.summary(), self.failing()) else {
            return format!("{}\n", failure.message);
        };
        let log = app.redactor().redact(&failing.log).text;
        let text = brief_text(summary, &failure.message, &log);
        let folder = self.record.written_to.as_deref().unwrap_or_default();
        format!("{text}whole log: {folder}/test.log\n")
    }

    // The command, the time, and the last line that the runner printed.
    fn pass_in_words(&self) -> String {
        let Some(last) = self.attempts.last() else {
            return String::new();
        };
        let mut lines = last.log.lines().rev().map(str::trim);
        let line = lines.find(|line| line.chars().any(char::is_alphanumeric));
        let words: String = line.unwrap_or_default().chars().take(120).collect();
        let flaky = match self.record.status {
            CommandStatus::Flaky => "; flaky: it failed before without any change",
            _ => "",
        };
        let hidden = self.hidden.as_ref();
        let hidden = hidden.map_or(String::new(), |hidden| format!("\n{hidden}"));
        let (name, seconds) = (&self.record.command, last.took.as_secs_f64());
        format!("`{name}` passes in {seconds:.1} s: {words}{flaky}{hidden}")
    }
}

impl Attempt {
    fn new(outcome: &Outcome) -> Self {
        let end = outcome.end;
        let row = TestResult {
            message: end.to_string(),
            exit: end.exit_code(),
            signal: end.signal(),
            timed_out: matches!(end, End::TimedOut),
            leaked: outcome.leaked,
            duration_seconds: (outcome.duration.as_secs_f64() * 1000.0).round() / 1000.0,
        };
        Self {
            end,
            log: outcome.output.text(),
            took: outcome.duration,
            row,
        }
    }

    // The output. When there is none, how the command ended is all there is to go by.
    fn log_or_end(&self, command: &str) -> String {
        match self.end {
            End::NotFound => format!("{command}: command not found\n"),
            End::NotExecutable => format!("{command}: cannot execute: Permission denied\n"),
            end if self.log.trim().is_empty() => {
                format!("`{command}` wrote nothing and ended by {end}\n")
            }
            _ => self.log.clone(),
        }
    }
}

fn record(app: &App, job: &Job, outcome: &Outcome, attempts: &[Attempt]) -> CommandRecord {
    let rows = attempts.iter().map(|attempt| attempt.row.clone());
    let rows: Vec<TestResult> = rows.collect();
    let status = match outcome.end {
        End::Exit(0) if attempts.len() > 1 => CommandStatus::Flaky,
        End::Exit(0) => CommandStatus::Passed,
        End::Interrupted => CommandStatus::Interrupted,
        _ => CommandStatus::Failed,
    };
    let command = job.command.to_string();
    let command = app.redactor().redact(&command).text.into_owned();
    CommandRecord {
        ended_at: Some(in_utc(jiff::Timestamp::now())),
        test_result: rows.last().cloned(),
        attempts: rows,
        not_confined: outcome.not_confined.clone(),
        ..CommandRecord::new(command, status, outcome.sandbox.as_str().to_owned())
    }
}

fn shell_code(end: End) -> u8 {
    let code = match end {
        End::Exit(code) => code,
        End::Signal(signal) => 128 + signal,
        End::TimedOut => 124,
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
            timeout: settings.limits.timeout.map(|limit| limit.0),
            grace: request.grace.map_or(limits.grace, |grace| grace.0),
            max_output: settings.limits.max_output.0,
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

// Whether another run may pass: the command ended by itself, or hung.
fn may_be_flaky(end: End) -> bool {
    match end {
        End::Exit(0) => false,
        End::Exit(_) | End::Signal(_) | End::TimedOut => !end.is_missing_command(),
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
    let is_started = !matches!(outcome.end, End::NotFound | End::NotExecutable);
    if is_started && job.sandbox.mode == SandboxMode::Auto {
        say_unconfined(outcome.sandbox, &outcome.not_confined, progress);
    }
    say_new_repositories(job, progress);
}
