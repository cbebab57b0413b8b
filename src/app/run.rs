use std::ffi::OsString;
use std::path::PathBuf;

use super::agents::installed_agent;
use super::confined::{confined, move_to_copy, say_unconfined};
use super::context::packed;
use super::diagnose::{scene_of, summarize_run};
use super::files::to_json;
use super::flags::{request, word};
use super::run_end::{brief_text, describe_failure, log_or_end, shell_code};
use super::runs::{self, RerunSpec, RunFolders, RunStore};
use super::why::{Search, known_trace};
use super::{App, AppError, Result};
use crate::config::{Bytes, Seconds};
use crate::context::base_request;
use crate::diagnose::{Log, LogFacts, diagnose_masked};
use crate::exec::{
    self, CommandLine, End, Environment, Job, Limits, Outcome, Sink, Stop, Stream, Temporary,
    Terminal,
};
use crate::git::Repository;
use crate::model::{
    Code, CommandRecord, CommandStatus, DiagnosisDocument, RunSummary, SandboxMode, TestResult,
    WhyDocument, WorkplaceMode,
};
use crate::patch::{WriteError, is_interrupted};
use crate::policy::{CommandFiles, sanitize_log};
use crate::proof::{CommandOutput, command_evidence, hidden_failure, named_runners};
use crate::repair::{files_digest, in_utc, test_result};
use crate::report::{NextFacts, culprit_of, next_steps};
use crate::source::Memory;
use crate::why::{RedRun, known_cause};
use crate::workspace::Workspace;

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
    #[arg(hide_short_help = true, long, value_name = "B", help_heading = LIMITS)]
    max_output: Option<Bytes> => set limits.max_output;
    /// Pass an environment variable through (NAME) or set it (NAME=VALUE) [setting: test.env]
    #[arg(long, value_name = "NAME", help_heading = SEES)] env: Vec<String> => add test.env;
    /// Confine writing to the worktree, a private temporary folder and caches [default: auto]
    /// [setting: sandbox.mode]
    #[arg(long, value_name = "auto|require|off", value_parser = word::<SandboxMode>, help_heading = SEES)] sandbox: Option<SandboxMode> => set sandbox.mode;
    /// Let a confined command write to this path [setting: sandbox.allow-write]
    #[arg(hide_short_help = true, long, value_name = "PATH", help_heading = SEES)] allow_write: Vec<PathBuf> => add sandbox.allow_write;
    /// Where the command runs [setting: sandbox.workplace]
    #[arg(hide_short_help = true, long, value_name = "auto|overlay|copy|in-place", value_parser = word::<WorkplaceMode>, help_heading = SEES)] workplace: Option<WorkplaceMode> => set sandbox.workplace;
    /// Refuse the network, loopback included [setting: sandbox.no-net]
    #[arg(long, help_heading = SEES)] no_net: bool => on sandbox.no_net;
    /// Retry a failure up to N times; a pass on retry is reported as flaky [default: 0]
    #[arg(long, value_name = "N", help_heading = LIMITS)] retry_flaky: Option<u32>;
    /// Do not search for the change that made it fail [setting: test.why]
    #[arg(long)] no_why: bool => off test.why;
    /// Write the documents here instead of .mendit/runs/ID
    #[arg(long, value_name = "DIR")] out: Option<PathBuf>;
    /// Where the command's output is watched.
    #[arg(skip)] terminal: Terminal;
}
}

const LIMITS: &str = "Limits";
const SEES: &str = "Environment and sandbox";

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
    attempts: Attempts,
    rerun: RerunSpec,
    // The repository as it was then, and the folders of the run, where it failed.
    failed: Option<(Workspace, RunFolders)>,
    is_traced: bool,
}

// The runs of the command: the last, and those before it, which failed.
struct Attempts {
    earlier: Vec<Outcome>,
    last: Outcome,
}

/// Runs a command. Its output is passed to `sink` as it comes. A failure is diagnosed and kept.
///
/// # Errors
/// When it cannot be run at all, or the documents cannot be written.
pub fn run_command(
    app: &App,
    request: &RunRequest,
    sink: &mut dyn FnMut(bool, &[u8]),
) -> Result<CommandRun> {
    if let Some(out) = &request.out {
        runs::refuse_used(app, out, runs::REPAIR)?;
    }
    let store = RunStore::open(app)?;
    if is_interrupted(store.state.directory()) {
        app.note(&WriteError::Interrupted.to_string());
    }
    let (mut job, _private) = job(app, request)?;
    // The isolated copy lasts as long as its folder.
    let _copy = move_to_copy(app, &mut job)?;
    let stop = app.progress.stop()?;
    let began = jiff::Timestamp::now();
    let attempts = run_attempts(&job, request, &stop, sink, app)?;
    let mut run = CommandRun {
        record: record(app, &job, &attempts),
        failure: None,
        exit_code: shell_code(attempts.last.end),
        hidden: None,
        found: None,
        attempts,
        rerun: RerunSpec::new(app, &request.command, &store.prefix),
        failed: None,
        is_traced: request.out.is_some(),
    };
    run.record.started_at = Some(in_utc(began));
    match run.record.status {
        CommandStatus::Failed | CommandStatus::Flaky if !stop.requested() => {
            let window = [began, jiff::Timestamp::now()];
            run.rerun.window = Some(window.map(|time| time.as_millisecond().unsigned_abs()));
            run.keep_failure(app, &store, request)?;
        }
        CommandStatus::Passed => run.keep_pass(app, &store, &job),
        _ => {}
    }
    run.report_end(app, &job);
    Ok(run)
}

fn run_attempts(
    job: &Job,
    request: &RunRequest,
    stop: &Stop,
    sink: &mut dyn FnMut(bool, &[u8]),
    app: &App,
) -> Result<Attempts> {
    let most = 1 + request.retry_flaky.unwrap_or_default() as usize;
    let mut tee = Tee(sink);
    let mut earlier = Vec::new();
    loop {
        let last = exec::run(job, stop, &mut tee)?;
        warn(&last, job, app);
        let number = earlier.len() + 2;
        if number > most || !may_be_flaky(last.end) || stop.requested() {
            return Ok(Attempts { earlier, last });
        }
        app.note(&format!("{}; run {number} of at most {most}", last.end));
        earlier.push(last);
    }
}

impl Attempts {
    fn failing(&self) -> Option<&Outcome> {
        if self.last.passed() {
            self.earlier.last()
        } else {
            Some(&self.last)
        }
    }
}

impl CommandRun {
    fn keep_failure(
        &mut self,
        app: &App,
        store: &RunStore<'_>,
        request: &RunRequest,
    ) -> Result<()> {
        let Some(failing) = self.attempts.failing() else {
            return Ok(());
        };
        let workspace = app.worktree()?;
        let output = failing.output.text();
        let redactor = &app.redactor().learning(&output);
        let command = &self.record.command;
        let log: Log = log_or_end(failing, command).into();
        let facts = LogFacts {
            exit_code: failing.end.code_or_signal(),
            command: Some(command.clone()),
            timed_out: failing.end == End::TimedOut,
        };
        let diagnosis = diagnose_masked(&log, &facts, scene_of(&workspace), &[], redactor);
        let folders = store.start(&workspace, request.out.as_deref(), true)?;
        self.rerun.exit_code = facts.exit_code;
        self.rerun.files = Some(files_digest(workspace.source.as_ref()));
        folders.write_rerun(&self.rerun)?;
        let line = self.rerun.line().unwrap_or_default();
        let is_output = store.outputs_of_last(&workspace, &line);
        let summary = summarize_run(app, (&diagnosis, &log), command, &workspace, &is_output);
        folders.write("test.log", &redactor.redact(&output).text)?;
        let document = DiagnosisDocument::new(&diagnosis);
        folders.write("diagnosis.json", &to_json(&document)?)?;
        self.record.summary = Some(summary);
        self.record.diagnosis = Some(diagnosis);
        self.record.run_id = Some(folders.id());
        self.record.written_to = Some(folders.named().display().to_string());
        folders.write("run.json", &to_json(&self.record)?)?;
        store.forget_old();
        self.failed = Some((workspace, folders));
        Ok(())
    }

    fn keep_pass(&mut self, app: &App, store: &RunStore<'_>, job: &Job) {
        let git = Repository::discover(app.directory()).ok().flatten();
        self.rerun.head = git.and_then(|git| git.head());
        let log = self.attempts.last.output.text();
        // A pass is a pass where nothing can be kept.
        if let Err(error) = store.keep_pass(&mut self.record, &log, &self.rerun) {
            app.progress.step(&error.message);
        }
        let line = [job.command.to_string()];
        let files = app.worktree().map_or_else(
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
            let code = Code::R213;
            format!(
                "{code}: {hidden}: a pipe has the exit code of its last command; use `set -o pipefail`, or drop the pipe: \
                 mendit keeps the log"
            )
        });
    }

    fn report_end(&mut self, app: &App, job: &Job) {
        let command = &self.record.command;
        if !self.attempts.last.passed() {
            let diagnosis = self.record.diagnosis.as_ref();
            let failure = describe_failure(command, diagnosis, &self.attempts.last, job);
            self.failure = Some(failure);
        } else if self.record.status == CommandStatus::Flaky {
            let number = self.attempts.earlier.len() + 1;
            let folder = self.record.written_to.as_deref().unwrap_or_default();
            let code = Code::R209;
            app.note(&format!(
                "{code}: `{command}` is flaky: it passed in run {number} without any change; the failing run is in \
                 {folder}"
            ));
        } else if let Some(hidden) = &self.hidden {
            app.note(hidden);
        }
    }

    /// Searches for the culprit, and writes the packet, which holds it. The diagnosis is shown before: this runs the
    /// failing tests again.
    ///
    /// # Errors
    /// Documents that cannot be written.
    pub fn search_cause(&mut self, app: &App) -> Result<()> {
        let failed = self.failed.take().zip(self.record.diagnosis.clone());
        let Some(((workspace, folders), diagnosis)) = failed else {
            return Ok(());
        };
        let Some(failing) = self.attempts.failing() else {
            return Ok(());
        };
        let output = failing.output.text();
        let exit_code = failing.end.code_or_signal();
        let mut request = base_request(app.settings(), workspace.git.as_ref());
        request.log = Some(log_or_end(failing, &self.record.command).into());
        request.exit_code = exit_code;
        request.timed_out = failing.end == End::TimedOut;
        request.test_commands = vec![self.record.command.clone()];
        let line = self.rerun.line();
        let search = line.as_deref().and_then(|line| {
            let log = app.clean(output.as_bytes());
            let red = RedRun::new(diagnosis, &log, exit_code, workspace.root.as_deref());
            Search::after_run(app, &workspace, (line, failing.duration), red)
        });
        if let Some(search) = &search {
            if app.settings().test.why {
                match search.run(app, &workspace, |find| find.find_cause()) {
                    Ok(found) => self.found = Some(found),
                    Err(error) => _ = app.progress.step(&error.message),
                }
            }
            if self.is_traced && app.settings().context.trace {
                let known = known_trace(app, &workspace, search.line);
                let trace = || search.run(app, &workspace, |find| find.trace_failing());
                request.traced = known.or_else(|| trace().ok());
            }
        }
        request.cause = self.found.as_ref().and_then(known_cause);
        let cause = request.cause.clone();
        let redactor = &app.redactor().learning(&output);
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
            return self.pass_in_words();
        };
        let (Some(summary), Some(failing)) = (self.summary(), self.attempts.failing()) else {
            return format!("{}\n", failure.message);
        };
        let output = failing.output.text();
        let text = brief_text(
            summary,
            &failure.message,
            &app.redactor().redact(&output).text,
        );
        let folder = self.record.written_to.as_deref().unwrap_or_default();
        format!("{text}whole log: {folder}/test.log\n")
    }

    // The command, the time, and the last line that the runner printed.
    fn pass_in_words(&self) -> String {
        let last = &self.attempts.last;
        let output = last.output.text();
        let mut lines = output.lines().rev().map(str::trim);
        let line = lines.find(|line| line.chars().any(char::is_alphanumeric));
        let words: String = line.unwrap_or_default().chars().take(120).collect();
        let flaky = match self.record.status {
            CommandStatus::Flaky => "; flaky: it failed before without any change",
            _ => "",
        };
        let hidden = self.hidden.iter().map(|hidden| format!("{hidden}\n"));
        let hidden: String = hidden.collect();
        let (name, seconds) = (&self.record.command, last.duration.as_secs_f64());
        format!("`{name}` passes in {seconds:.1} s: {words}{flaky}\n{hidden}")
    }
}

fn record(app: &App, job: &Job, attempts: &Attempts) -> CommandRecord {
    let last = &attempts.last;
    let all = attempts.earlier.iter().chain([last]);
    let rows: Vec<TestResult> = all.map(test_result).collect();
    let status = match last.end {
        End::Exit(0) if rows.len() > 1 => CommandStatus::Flaky,
        End::Exit(0) => CommandStatus::Passed,
        End::Interrupted => CommandStatus::Interrupted,
        _ => CommandStatus::Failed,
    };
    let command = app
        .redactor()
        .redact(&job.command.to_string())
        .text
        .into_owned();
    CommandRecord {
        ended_at: Some(in_utc(jiff::Timestamp::now())),
        test_result: rows.last().cloned(),
        attempts: rows,
        not_confined: last.not_confined.clone(),
        ..CommandRecord::new(command, status, last.sandbox.as_str().to_owned())
    }
}

fn job(app: &App, request: &RunRequest) -> Result<(Job, Temporary)> {
    let has_blank = |word: &&str| word.trim().contains(char::is_whitespace);
    let command = match request.command.as_slice() {
        [one] if one.to_str().as_ref().is_some_and(has_blank) => {
            CommandLine::Shell(one.to_string_lossy().into_owned())
        }
        words => CommandLine::Program(words.to_vec()),
    };
    let settings = app.settings();
    let limits = Limits::default();
    let (mut job, private) = confined(app, command)?;
    job.terminal = request.terminal;
    job.environment = Environment::with(settings.test.env.clone());
    job.limits = Limits {
        timeout: settings.limits.timeout.map(|limit| limit.0),
        grace: request.grace.map_or(limits.grace, |grace| grace.0),
        idle_timeout: request.idle_timeout.map(|limit| limit.0),
        max_output: settings.limits.max_output.0,
    };
    Ok((job, private))
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

fn warn(outcome: &Outcome, job: &Job, app: &App) {
    if outcome.leaked > 0 {
        let (code, count) = (Code::R210, outcome.leaked);
        app.note(&format!(
            "{code}: processes left behind by the command and killed: {count}"
        ));
    }
    let is_started = !matches!(outcome.end, End::NotFound | End::NotExecutable);
    if is_started && job.sandbox.mode == SandboxMode::Auto {
        say_unconfined(outcome.sandbox, &outcome.not_confined, app);
    }
}
