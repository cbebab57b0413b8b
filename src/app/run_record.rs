use std::path::{Path, PathBuf};
use std::time::Duration;

use super::context::packed;
use super::files::{to_json, write_file};
use super::known_cause::{JustFailed, cause_of, cause_of_run};
use super::last_run::{self, Again};
use super::run_summary::{packet_size, summarise};
use super::traced::trace_of_run;
use super::{App, AppError, Progress, runs};
use crate::context::base_request;
use crate::diagnose::{Log, LogFacts, Scene, diagnose_masked};
use crate::exec::{End, Job, Outcome, SandboxState};
use crate::model::{
    Code, CommandAttempt, CommandRecord, CommandStatus, Diagnosis, DiagnosisDocument, NotConfined,
    RunSummary, WhyDocument,
};
use crate::policy::{CommandFiles, Redactor, sanitize_log};
use crate::proof::{CommandOutput, command_evidence, hidden_failure, named_runners};
use crate::repair::in_utc;
use crate::workspace::Workspace;

/// What is kept of a command's runs.
pub(super) struct Record {
    /// The command, with secrets masked.
    pub(super) command: String,
    pub(super) status: CommandStatus,
    pub(super) attempts: Vec<Attempt>,
    pub(super) sandbox: SandboxState,
    not_confined: Vec<NotConfined>,
    /// Of the last run that failed.
    pub(super) diagnosis: Option<Diagnosis>,
    /// The same in a few lines.
    pub(super) summary: Option<RunSummary>,
    pub(super) written_to: Option<PathBuf>,
    /// The whole log, as it is kept.
    pub(super) log_at: Option<PathBuf>,
    /// What the runner of the tests says although the command passed.
    pub(super) hidden: Option<String>,
    /// What the search for the change that made it fail came to.
    pub(super) found: Option<WhyDocument>,
    // The name of the run that is kept of it, and its folders.
    id: Option<String>,
    folders: Vec<PathBuf>,
    // When it began and ended.
    times: [String; 2],
}

/// One run of the command.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    row: CommandAttempt,
    how: End,
    log: String,
}

impl Attempt {
    pub(super) fn of(outcome: &Outcome) -> Self {
        let end = outcome.end;
        let row = CommandAttempt {
            end: end.to_string(),
            exit: end.exit_code(),
            signal: end.signal(),
            timed_out: matches!(end, End::TimedOut(_)),
            leaked: outcome.leaked,
            duration_seconds: (outcome.duration.as_secs_f64() * 1000.0).round() / 1000.0,
            output_bytes: outcome.output.bytes,
        };
        Self {
            row,
            how: end,
            log: outcome.output.text(),
        }
    }
}

impl Record {
    pub(super) fn new(
        job: &Job,
        outcome: &Outcome,
        attempts: Vec<Attempt>,
        redactor: &Redactor,
    ) -> Self {
        let ended = jiff::Timestamp::now();
        let took = attempts.iter().map(|it| it.row.duration_seconds).sum();
        let took = Duration::try_from_secs_f64(took).unwrap_or_default();
        let began = ended.checked_sub(took).unwrap_or(ended);
        Self {
            times: [began, ended].map(in_utc),
            command: redactor.redact(&job.command.to_string()).text.into_owned(),
            status: match outcome.end {
                End::Exit(0) if attempts.len() > 1 => CommandStatus::Flaky,
                End::Exit(0) => CommandStatus::Passed,
                End::Interrupted => CommandStatus::Interrupted,
                _ => CommandStatus::Failed,
            },
            attempts,
            sandbox: outcome.sandbox,
            not_confined: outcome.not_confined.clone(),
            diagnosis: None,
            summary: None,
            written_to: None,
            log_at: None,
            hidden: None,
            found: None,
            id: None,
            folders: Vec::new(),
        }
    }

    /// `run.json`, and what `--format json` prints.
    pub(super) fn document(&self) -> CommandRecord {
        let rows = self.attempts.iter().map(|it| it.row.clone());
        CommandRecord {
            run_id: self.id.clone(),
            started_at: self.times.first().cloned(),
            ended_at: self.times.last().cloned(),
            test_result: rows.clone().next_back(),
            attempts: rows.collect(),
            not_confined: self.not_confined.clone(),
            diagnosis: self.diagnosis.clone(),
            summary: self.summary.clone(),
            written_to: self.written_to.as_ref().map(|at| at.display().to_string()),
            ..CommandRecord::new(
                self.command.clone(),
                self.status,
                self.sandbox.as_str().to_owned(),
            )
        }
    }

    /// Diagnoses the last run that failed, and keeps it with its log.
    pub(super) fn write_failure(
        &mut self,
        out: Option<&Path>,
        app: &App,
        workspace: &Workspace,
        again: &Again,
    ) -> Result<(), AppError> {
        let Some(failing) = self.failing() else {
            return Ok(());
        };
        let redactor = &app.redactor().learning(&failing.log);
        let log: Log = self.log_of(failing).into();
        let facts = LogFacts {
            exit_code: failing.how.code_or_signal(),
            command: Some(self.command.clone()),
            timed_out: failing.row.timed_out,
            rules: app.rules(),
        };
        let scene = Scene {
            source: Some(workspace.source.as_ref()),
            directory: &workspace.prefix,
        };
        let diagnosis = diagnose_masked(&log, &facts, scene, &[], redactor);
        let text = redactor.redact(&failing.log).text.into_owned();
        let folders = runs::start(app, workspace, out, true)?;
        last_run::keep(&folders.kept, again)?;
        let is_output =
            last_run::was_written_by_last(app, workspace, &again.line().unwrap_or_default());
        let summary = summarise(
            app,
            (&diagnosis, &log),
            &self.command,
            workspace,
            &is_output,
        );
        self.summary = Some(summary);
        self.id = Some(folders.id());
        self.written_to = Some(folders.named().to_owned());
        self.log_at = Some(folders.kept.join("test.log"));
        let document = to_json(&DiagnosisDocument::new(&diagnosis))?;
        self.diagnosis = Some(diagnosis);
        self.folders = std::iter::once(folders.kept).chain(folders.shown).collect();
        self.write("test.log", &text)?;
        self.write("diagnosis.json", &document)?;
        self.write("run.json", &to_json(&self.document())?)?;
        last_run::forget_old(app)
    }

    /// Searches for the change that made it fail, and writes the packet, which holds it.
    pub(super) fn search_cause(
        &mut self,
        app: &App,
        workspace: &Workspace,
        again: &Again,
        is_traced: bool,
        progress: &dyn Progress,
    ) -> Result<(), AppError> {
        let (Some(failing), Some(diagnosis)) = (self.failing().cloned(), self.diagnosis.clone())
        else {
            return Ok(());
        };
        let redactor = &app.redactor().learning(&failing.log);
        let log: Log = self.log_of(&failing).into();
        let mut request = base_request(app.settings(), workspace.git.as_ref());
        if let Some(line) = again.line() {
            let failed = JustFailed {
                line: &line,
                diagnosis: &diagnosis,
                log: &app.clean(failing.log.as_bytes()),
                exit_code: failing.how.code_or_signal(),
                took: Duration::try_from_secs_f64(failing.row.duration_seconds).unwrap_or_default(),
            };
            self.found = cause_of_run(app, workspace, &failed, progress);
            if is_traced {
                request.traced = trace_of_run(app, workspace, &failed, progress);
            }
            request.cause = self.found.as_ref().and_then(cause_of);
        }
        request.log = Some(log);
        request.rules = app.rules();
        request.exit_code = failing.how.code_or_signal();
        request.timed_out = failing.row.timed_out;
        request.test_commands = vec![self.command.clone()];
        if let Some(summary) = &mut self.summary {
            summary.cause.clone_from(&request.cause);
            if summary.cause.is_some() {
                summary.suspects.clear();
                summary.more_suspects = 0;
            }
        }
        let cached = ("HEAD", true);
        let (built, packet) = packed(app, workspace, &mut request, redactor, cached, None)?;
        if let Some(summary) = &mut self.summary {
            summary.packet = Some(packet_size(&built.context, &packet));
        }
        self.write("context.json", &to_json(&built.context)?)?;
        self.write("failure-packet.json", &to_json(&packet)?)?;
        self.write("run.json", &to_json(&self.document())?)
    }

    // Writes a file where the run is kept, and where it is shown.
    fn write(&self, name: &str, content: &str) -> Result<(), AppError> {
        let mut folders = self.folders.iter();
        folders.try_for_each(|folder| write_file(&folder.join(name), content))
    }

    fn failing(&self) -> Option<&Attempt> {
        self.attempts.iter().rev().find(|it| it.how != End::Exit(0))
    }

    /// What the runner of the tests says against a pass, which a pipe may hide; `None` when it agrees.
    pub(super) fn hidden_failure(&self, run: &CommandFiles) -> Option<String> {
        let last = self.attempts.last()?;
        let evidence = command_evidence(&CommandOutput {
            text: &sanitize_log(last.log.as_bytes()),
            passed: true,
            named: named_runners(run),
            report: None,
        });
        let hidden = hidden_failure(&vec![evidence])?;
        Some(format!(
            "{}: {hidden}: a pipe ends as its last command does; `set -o pipefail`, or leave the pipe \
             out: the log is kept",
            Code::R213
        ))
    }

    /// One line for a pass: the command, the time, and what the runner says last.
    pub(super) fn passed_in_words(&self) -> String {
        let Some(last) = self.attempts.last() else {
            return format!("`{}` passes", self.command);
        };
        let words = last_words(&last.log);
        let flaky = match self.status {
            CommandStatus::Flaky => "; flaky: it failed before without any change",
            _ => "",
        };
        let seconds = last.row.duration_seconds;
        let hidden = self.hidden.iter().map(|it| format!("\n{it}"));
        let hidden: String = hidden.collect();
        format!(
            "`{}` passes in {seconds:.1} s: {words}{flaky}{hidden}",
            self.command
        )
    }

    /// What the last run that failed wrote.
    pub(super) fn failing_log(&self) -> &str {
        self.failing().map_or("", |it| it.log.as_str())
    }

    /// Keeps in the registry that it passed, with its log.
    pub(super) fn keep_pass(&mut self, app: &App, again: &Again) -> Result<(), AppError> {
        let id = crate::state::RunId::now();
        let folder = runs::here(app)?.runs().start(&id)?;
        self.id = Some(id.to_string());
        if let Some(last) = self.attempts.last() {
            let log = app.redactor().redact(&last.log).text.into_owned();
            write_file(&folder.join("test.log"), log)?;
        }
        write_file(&folder.join("run.json"), to_json(&self.document())?)?;
        last_run::keep(&folder, again)?;
        last_run::forget_old(app)
    }

    // What the command wrote. When that is nothing, how it ended is all there is to go by.
    fn log_of(&self, attempt: &Attempt) -> String {
        let silent = attempt.log.trim().is_empty();
        match attempt.how {
            End::NotFound => format!("{}: command not found\n", self.command),
            End::NotExecutable => format!("{}: cannot execute: Permission denied\n", self.command),
            _ if silent => format!(
                "`{}` wrote nothing and ended by {}\n",
                self.command, attempt.row.end
            ),
            _ => attempt.log.clone(),
        }
    }
}

/// The last line that says something, as far as it fits into one.
fn last_words(log: &str) -> String {
    let mut lines = log.lines().rev().map(str::trim);
    let line = lines.find(|it| it.chars().any(char::is_alphanumeric));
    line.unwrap_or_default().chars().take(120).collect()
}
