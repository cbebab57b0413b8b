use std::path::{Path, PathBuf};

use serde::Serialize;

use super::files::{to_json, write_file};
use super::{App, AppError, runs};
use crate::context::{add_history, base_request, build, failure_packet};
use crate::exec::{End, Job, Outcome, SandboxState};
use crate::model::{Diagnosis, DiagnosisDocument, PacketBudget, SCHEMA_VERSION};
use crate::policy::Redactor;
use crate::workspace::Workspace;

/// What is kept of a command's runs.
pub(super) struct Record {
    /// The command, with secrets masked.
    pub(super) command: String,
    pub(super) status: Status,
    pub(super) attempts: Vec<Attempt>,
    pub(super) sandbox: SandboxState,
    /// Of the last run that failed.
    pub(super) diagnosis: Option<Diagnosis>,
    pub(super) written_to: Option<PathBuf>,
    // The name of the run that is kept of it.
    id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Passed,
    Flaky,
    Failed,
    Interrupted,
}

/// One run of the command.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attempt {
    /// How it ended, in words.
    end: String,
    exit: Option<i32>,
    signal: Option<i32>,
    timed_out: bool,
    leaked: u32,
    duration_seconds: f64,
    output_bytes: u64,
    #[serde(skip)]
    how: End,
    #[serde(skip)]
    log: String,
}

impl Attempt {
    pub(super) fn of(outcome: &Outcome) -> Self {
        let end = outcome.end;
        Self {
            end: end.to_string(),
            exit: end.exit_code(),
            signal: end.signal(),
            timed_out: matches!(end, End::TimedOut(_)),
            leaked: outcome.leaked,
            duration_seconds: (outcome.duration.as_secs_f64() * 1000.0).round() / 1000.0,
            output_bytes: outcome.output.bytes,
            how: end,
            log: if outcome.passed() {
                String::new()
            } else {
                outcome.output.text()
            },
        }
    }
}

/// `run.json`, and what `--format json` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunDocument<'a> {
    schema_version: u32,
    document: &'static str,
    run_id: Option<&'a str>,
    command: &'a str,
    status: Status,
    test_result: Option<&'a Attempt>,
    attempts: &'a [Attempt],
    sandbox: SandboxState,
    diagnosis: Option<&'a Diagnosis>,
    written_to: Option<String>,
}

impl Record {
    pub(super) fn new(
        job: &Job,
        outcome: &Outcome,
        attempts: Vec<Attempt>,
        redactor: &Redactor,
    ) -> Self {
        Self {
            command: redactor.redact(&job.command.to_string()).text.into_owned(),
            status: match outcome.end {
                End::Exit(0) if attempts.len() > 1 => Status::Flaky,
                End::Exit(0) => Status::Passed,
                End::Interrupted => Status::Interrupted,
                _ => Status::Failed,
            },
            attempts,
            sandbox: outcome.sandbox,
            diagnosis: None,
            written_to: None,
            id: None,
        }
    }

    pub(super) fn document(&self) -> impl Serialize + '_ {
        RunDocument {
            schema_version: SCHEMA_VERSION,
            document: "run",
            run_id: self.id.as_deref(),
            command: &self.command,
            status: self.status,
            test_result: self.attempts.last(),
            attempts: &self.attempts,
            sandbox: self.sandbox,
            diagnosis: self.diagnosis.as_ref(),
            written_to: self.written_to.as_ref().map(|at| at.display().to_string()),
        }
    }

    /// Writes the packet of the last run that failed, its log and this record.
    pub(super) fn write_failure(
        &mut self,
        out: Option<&Path>,
        app: &App,
        workspace: &Workspace,
    ) -> Result<(), AppError> {
        let redactor = app.redactor();
        let failing = self.attempts.iter().rev();
        let Some(failing) = failing.clone().find(|it| it.how != End::Exit(0)) else {
            return Ok(());
        };
        let mut request = base_request(app.settings(), workspace.git.as_ref());
        request.log = Some(self.log_of(failing).into());
        request.rules = app.rules();
        request.exit_code = failing.how.code_or_signal();
        request.timed_out = failing.timed_out;
        request.test_commands = vec![self.command.clone()];
        add_history(&mut request, workspace.git.as_ref(), "HEAD");
        let policy = app.read_policy(request.profile)?;
        let built = build(workspace.source.as_ref(), &policy, redactor, &request)?;
        let packet = failure_packet(
            &built,
            redactor,
            &request.test_commands,
            &[],
            None,
            PacketBudget::default(),
        );
        let log = redactor.redact(&failing.log).text.into_owned();
        let mut files = vec![
            ("test.log", log),
            ("context.json", to_json(&built.context)?),
            ("failure-packet.json", to_json(&packet)?),
        ];
        self.diagnosis = built.context.diagnosis;
        if let Some(diagnosis) = &self.diagnosis {
            let document = DiagnosisDocument::new(diagnosis);
            files.push(("diagnosis.json", to_json(&document)?));
        }
        let folders = runs::start(app, workspace, out, true)?;
        self.id = Some(folders.id());
        self.written_to = Some(folders.named().to_owned());
        files.push(("run.json", to_json(&self.document())?));
        for folder in std::iter::once(&folders.kept).chain(&folders.shown) {
            for (name, content) in &files {
                write_file(&folder.join(name), content)?;
            }
        }
        Ok(())
    }

    // What the command wrote. When that is nothing, how it ended is all there is to go by.
    fn log_of(&self, attempt: &Attempt) -> String {
        let silent = attempt.log.trim().is_empty();
        match attempt.how {
            End::NotFound => format!("{}: command not found\n", self.command),
            End::NotExecutable => format!("{}: cannot execute: Permission denied\n", self.command),
            _ if silent => format!(
                "`{}` wrote nothing and ended by {}\n",
                self.command, attempt.end
            ),
            _ => attempt.log.clone(),
        }
    }
}
