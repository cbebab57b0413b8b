//! The task of `mendit run`: runs a command, keeps its log and diagnoses a failure.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::agents::installed_agent;
use super::command::{
    brief_text, confined, describe_failure, log_or_end, move_to_copy, say_unconfined,
};
use super::context::{ContextRequest, pack};
use super::diagnose::{scene_of, summarize_run};
use super::files::to_json;
use super::flags::{request, word};
use super::runs::{self, RerunSpec, RunFolders, RunStore};
use super::why::{Search, known_trace, missing_test_file};
use super::{App, AppError, Input, Result};
use crate::config::{Bytes, Seconds};
use crate::diagnose::{Log, LogFacts, diagnose_masked};
use crate::exec::{
    self, CommandLine, End, Environment, Job, Limits, Outcome, Sink, Stream, Temporary,
};
use crate::git::Repository;
use crate::model::{
    Code, CommandRecord, CommandStatus, DiagnosisDocument, SandboxMode, WhyDocument, WorkplaceMode,
};
use crate::patch::{WriteError, is_interrupted};
use crate::policy::{CommandFiles, sanitize_log};
use crate::proof::{CommandOutput, command_evidence, hidden_failure, named_runners};
use crate::repair::{files_digest, in_utc, test_result};
use crate::report::{Culprit, NextFacts, next_steps};
use crate::source::Memory;
use crate::state::RunId;
use crate::why::{RedRun, known_cause};
use crate::workspace::Workspace;

request! {
/// Run a test command inside limits.
#[derive(Default)]
RunRequest {
    /// The command; a single quoted argument with spaces is a shell line
    #[arg(value_name = "CMD", trailing_var_arg = true)] command: Vec<OsString>;
    /// Stop the command after this many seconds, or `10m` [setting: limits.timeout]
    #[arg(long, value_name = "S", help_heading = LIMITS)] timeout: Option<Seconds> => set limits.timeout;
    /// Stop the command after this many seconds without output
    #[arg(long, value_name = "S", help_heading = LIMITS)] idle_timeout: Option<Seconds>;
    /// Seconds between the request to end and the kill [default: 5]
    #[arg(hide_short_help = true, long, value_name = "S", help_heading = LIMITS)] grace: Option<Seconds>;
    /// End it after this many bytes of output; accepts K, M and G [default: 256M]
    /// [setting: limits.max-output]
    #[arg(hide_short_help = true, long, value_name = "B", help_heading = LIMITS)]
    max_output: Option<Bytes> => set limits.max_output;
    /// Pass an environment variable through (NAME) or set it (NAME=VALUE) [setting: test.env]
    #[arg(long, value_name = "NAME", help_heading = SEES)] env: Vec<String> => add test.env;
    /// Confine writes to the worktree, a private temporary folder and caches [default: auto]
    /// [setting: sandbox.mode]
    #[arg(long, value_name = "auto|require|off", value_parser = word::<SandboxMode>, help_heading = SEES)] sandbox: Option<SandboxMode> => set sandbox.mode;
    /// Let a confined command write to this path [setting: sandbox.allow-write]
    #[arg(hide_short_help = true, long, value_name = "PATH", help_heading = SEES)] allow_write: Vec<PathBuf> => add sandbox.allow_write;
    /// Where the command runs [setting: sandbox.workplace]
    #[arg(hide_short_help = true, long, value_name = "auto|overlay|copy|in-place", value_parser = word::<WorkplaceMode>, help_heading = SEES)] workplace: Option<WorkplaceMode> => set sandbox.workplace;
    /// Deny network access, including loopback [setting: sandbox.no-net]
    #[arg(long, help_heading = SEES)] no_net: bool => on sandbox.no_net;
    /// Do not search for the change that broke the tests [setting: test.why]
    #[arg(long)] no_why: bool => off test.why;
    /// Write the documents here instead of .mendit/runs/ID
    #[arg(long, value_name = "DIR")] out: Option<PathBuf>;
    /// Ask runners for colors, because a person watches.
    #[arg(skip)] colors: bool;
}
}

const LIMITS: &str = "Limits";
const SEES: &str = "Environment and sandbox";

/// A command that was run, and the documents about it.
pub struct CommandRun {
    /// `run.json`.
    pub record: CommandRecord,
    /// The message and exit code when it did not pass.
    pub failure: Option<AppError>,
    /// The failure that the test runner reports although the command passed.
    pub hidden: Option<String>,
    /// The answer of the search for the culprit; `None` where none was made.
    pub found: Option<WhyDocument>,
    outcome: Outcome,
    rerun: RerunSpec,
    // The repository as it was then, and the folders of the run, where it failed.
    failed: Option<(Workspace, RunFolders)>,
    is_traced: bool,
    // Whether the command names a test file that does not exist, which no change explains.
    is_misnamed: bool,
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
    let outcome = exec::run(&job, &stop, &mut Tee(sink))?;
    warn(&outcome, &job, app);
    let mut run = CommandRun {
        record: record(app, &job, &outcome),
        failure: None,
        hidden: None,
        found: None,
        outcome,
        rerun: RerunSpec::new(app, &request.command, &store.prefix),
        failed: None,
        is_traced: request.out.is_some(),
        is_misnamed: false,
    };
    run.record.started_at = Some(in_utc(began));
    match run.record.status {
        CommandStatus::Failed if !stop.requested() => {
            let window = [began, jiff::Timestamp::now()];
            run.rerun.window = Some(window.map(|time| time.as_millisecond().unsigned_abs()));
            run.keep_failure(&store, request.out.as_deref())?;
        }
        CommandStatus::Passed => run.keep_pass(&store, &job),
        _ => {}
    }
    run.report_end(app, &job);
    Ok(run)
}

impl CommandRun {
    fn keep_failure(&mut self, store: &RunStore<'_>, out: Option<&Path>) -> Result<()> {
        let (app, failing) = (store.app, &self.outcome);
        let workspace = app.worktree()?;
        let output = failing.output.text();
        let redactor = &app.redactor().learning(&output);
        let command = &self.record.command;
        let log: Log = log_or_end(failing, command).into();
        let facts = LogFacts::new(failing, command);
        let diagnosis = diagnose_masked(&log, &facts, scene_of(&workspace), &[], redactor);
        let folders = store.start(&workspace, out, true)?;
        self.rerun.exit_code = facts.exit_code;
        self.rerun.files = Some(files_digest(workspace.source.as_ref()));
        let masked = redactor.redact(&output).text;
        let command = command.clone();
        self.record.written_to = Some(folders.named().display().to_string());
        store.keep_run(&folders, &mut self.record, &masked, &self.rerun)?;
        let line = self.rerun.line().unwrap_or_default();
        let is_output = store.outputs_of_last(&workspace, &line);
        let summary = summarize_run(app, (&diagnosis, &log), &command, &workspace, &is_output);
        let document = DiagnosisDocument::new(&diagnosis);
        folders.write("diagnosis.json", &to_json(&document)?)?;
        self.record.summary = Some(summary);
        self.record.diagnosis = Some(diagnosis);
        folders.write("run.json", &to_json(&self.record)?)?;
        self.failed = Some((workspace, folders));
        Ok(())
    }

    fn keep_pass(&mut self, store: &RunStore<'_>, job: &Job) {
        let app = store.app;
        let git = Repository::discover(app.directory()).ok().flatten();
        self.rerun.head = git.and_then(|git| git.head());
        self.rerun.exit_code = Some(0);
        let log = self.outcome.output.text();
        let masked = app.redactor().redact(&log).text;
        let kept = store.state.runs().start(&RunId::now());
        let kept = kept.map_err(AppError::from).and_then(|kept| {
            let folders = RunFolders { kept, shown: None };
            store.keep_run(&folders, &mut self.record, &masked, &self.rerun)
        });
        // Not an error, since a pass is a pass where nothing can be kept.
        if let Err(error) = kept {
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
        if !self.outcome.passed() {
            let diagnosis = self.record.diagnosis.as_ref();
            self.failure = Some(describe_failure(command, diagnosis, &self.outcome, job));
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
        let (failing, command) = (&self.outcome, self.record.command.clone());
        let log = log_or_end(failing, &command);
        let line = self.rerun.line();
        self.is_misnamed = line
            .as_deref()
            .is_some_and(|line| missing_test_file(&workspace, line).is_some());
        let search = line.as_deref().and_then(|line| {
            let (root, exit_code) = (workspace.root.as_deref(), failing.end.code_or_signal());
            let log = app.clean(log.as_bytes());
            let red = RedRun::new(diagnosis, &log, exit_code, failing.duration, root);
            Search::after_run(app, &workspace, line, red)
        });
        if let Some(search) = &search {
            let settings = app.settings();
            if settings.test.why {
                match search.run(app, &workspace, |find| find.find_cause()) {
                    Ok(found) => self.found = Some(found),
                    Err(error) => _ = app.progress.step(&error.message),
                }
            }
            let is_traced = known_trace(app, &workspace, search.line).is_some();
            if self.is_traced && settings.context.trace && !is_traced {
                // A packet without a trace is a packet.
                let _ = search.run(app, &workspace, |find| find.trace_failing());
            }
        }
        // Culprit and trace are kept, and the packet takes them from there.
        let redactor = app.redactor().learning(&log);
        let query = ContextRequest {
            facts: LogFacts::new(failing, &command),
            log: Some(Input::held("log", log)),
            test_commands: vec![command],
            ..ContextRequest::default()
        };
        let packed = pack(app, &workspace, &query, &redactor)?;
        let cause = self.found.as_ref().and_then(known_cause);
        if let Some(summary) = &mut self.record.summary {
            if cause.is_some() {
                summary.suspects.clear();
                summary.more_suspects = 0;
            }
            summary.cause = cause;
        }
        folders.write("context.json", &to_json(&packed.context)?)?;
        folders.write("failure-packet.json", &to_json(&packed.packet)?)?;
        folders.write("run.json", &to_json(&self.record)?)
    }

    /// What to type next.
    pub fn next_steps(&self) -> Vec<String> {
        let Some(summary) = &self.record.summary else {
            return Vec::new();
        };
        let breaks_others =
            |found: &WhyDocument| found.breaks.iter().any(|id| !found.tests.contains(id));
        let mut steps = next_steps(&NextFacts {
            environment: &summary.remedies,
            is_certain: summary.certain.iter().any(|import| import.tried),
            is_certain_in_test: summary.certain.iter().any(|import| !import.tried),
            may_fix: !summary.mends.is_empty() || summary.perhaps.iter().any(|one| one.tried),
            fix_first: summary.fix_first || self.found.iter().any(breaks_others),
            culprit: if self.is_misnamed {
                Culprit::Outside
            } else {
                Culprit::of_run(summary, self.found.as_ref())
            },
            agent: installed_agent(),
        });
        if steps.is_empty() && summary.cause.is_some() {
            steps
                .push("mendit context  (lists the files, to revert the change by hand)".to_owned());
        }
        steps
    }

    /// Whether the environment explains the failure, as far as it is known, and no change does.
    pub fn is_of_environment(&self) -> bool {
        let summary = self.record.summary.as_ref();
        summary.is_some_and(|one| one.cause.is_none() && !one.remedies.is_empty())
    }

    /// The summary for an agent: one line when it passed; else the failures and the path of the whole log.
    pub fn brief(&self, app: &App) -> String {
        let Some(failure) = &self.failure else {
            return self.pass_in_words();
        };
        let Some(summary) = &self.record.summary else {
            return format!("{}\n", failure.message);
        };
        let output = self.outcome.output.text();
        let masked = app.redactor().redact(&output).text;
        let text = brief_text(summary, &failure.message, &masked);
        let folder = self.record.written_to.as_deref().unwrap_or_default();
        format!("{text}whole log: {folder}/test.log\n")
    }

    // The command, the time, and the last line that the runner printed.
    fn pass_in_words(&self) -> String {
        let last = &self.outcome;
        let output = last.output.text();
        let mut lines = output.lines().rev().map(str::trim);
        let line = lines.find(|line| line.chars().any(char::is_alphanumeric));
        let words: String = line.unwrap_or_default().chars().take(120).collect();
        let hidden = self.hidden.iter().map(|hidden| format!("{hidden}\n"));
        let hidden: String = hidden.collect();
        let (name, seconds) = (&self.record.command, last.duration.as_secs_f64());
        format!("`{name}` passes in {seconds:.1} s: {words}\n{hidden}")
    }
}

fn record(app: &App, job: &Job, outcome: &Outcome) -> CommandRecord {
    let status = match outcome.end {
        End::Exit(0) => CommandStatus::Passed,
        End::Interrupted => CommandStatus::Interrupted,
        _ => CommandStatus::Failed,
    };
    let command = job.command.to_string();
    let command = app.redactor().mask(&command);
    CommandRecord {
        ended_at: Some(in_utc(jiff::Timestamp::now())),
        test_result: Some(test_result(outcome)),
        not_confined: outcome.not_confined.clone(),
        ..CommandRecord::new(command, status, outcome.sandbox.as_str().to_owned())
    }
}

fn job(app: &App, request: &RunRequest) -> Result<(Job, Temporary)> {
    let command = match request.command.as_slice() {
        [one] if one.to_str().is_some_and(|word| word.trim().contains(char::is_whitespace)) => {
            CommandLine::Shell(one.to_string_lossy().into())
        }
        words => CommandLine::Program(words.to_vec()),
    };
    let settings = app.settings();
    let limits = Limits::default();
    let (mut job, private) = confined(app, command)?;
    // Only for pytest: the color variables of other runners also change the programs under test.
    let colors = request.colors.then(|| "PY_COLORS=1".to_owned());
    let environment = colors.into_iter().chain(settings.test.env.clone());
    job.environment = Environment::with(environment.collect());
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
