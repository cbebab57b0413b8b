use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::output::{ignore_itself, to_json, write_file};
use super::workspace::Workspace;
use super::{CliError, settings};
use crate::config::Settings;
use crate::context::{add_history, base_request, build, failure_packet};
use crate::exec::{End, Job, Outcome, SandboxState};
use crate::model::{Diagnosis, DiagnosisDocument, PacketBudget, SCHEMA_VERSION};
use crate::policy::Redactor;

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
        }
    }

    pub(super) fn document(&self) -> impl Serialize + '_ {
        RunDocument {
            schema_version: SCHEMA_VERSION,
            document: "run",
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
        settings: &Settings,
        workspace: &Workspace,
        redactor: &Redactor,
    ) -> Result<(), CliError> {
        let failing = self.attempts.iter().rev();
        let Some(failing) = failing.clone().find(|it| it.how != End::Exit(0)) else {
            return Ok(());
        };
        let mut request = base_request(settings, workspace.git.as_ref());
        request.log = Some(self.log_of(failing).into_bytes());
        request.exit_code = failing.how.code_or_signal();
        request.timed_out = failing.timed_out;
        request.test_commands = vec![self.command.clone()];
        add_history(&mut request, workspace.git.as_ref(), "HEAD");
        let policy = settings::read_policy(settings, request.profile)?;
        let built = build(workspace.source.as_ref(), &policy, redactor, &request)?;
        let packet = failure_packet(
            &built,
            redactor,
            &request.test_commands,
            &[],
            None,
            PacketBudget::default(),
        );
        let directory = directory_for(out, workspace)?;
        let log = redactor.redact(&failing.log).text.into_owned();
        write_file(&directory.join("test.log"), log)?;
        write_file(&directory.join("context.json"), to_json(&built.context)?)?;
        write_file(&directory.join("failure-packet.json"), to_json(&packet)?)?;
        self.diagnosis = built.context.diagnosis;
        if let Some(diagnosis) = &self.diagnosis {
            let printed = to_json(&DiagnosisDocument::new(diagnosis))?;
            write_file(&directory.join("diagnosis.json"), printed)?;
        }
        self.written_to = Some(directory.clone());
        write_file(&directory.join("run.json"), to_json(&self.document())?)
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

// A fresh folder below `.mendit` when none is named.
fn directory_for(out: Option<&Path>, workspace: &Workspace) -> Result<PathBuf, CliError> {
    if let Some(out) = out {
        return Ok(out.to_owned());
    }
    let here = super::workspace::directory()?;
    let state = workspace.root.as_ref().unwrap_or(&here).join(".mendit");
    ignore_itself(&state);
    Ok(state.join("runs").join(run_id(SystemTime::now())))
}

// The time to the millisecond and this process: sorted by age, and no two alike.
fn run_id(now: SystemTime) -> String {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (day, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(day);
    format!(
        "{year:04}{month:02}{day:02}-{:02}{:02}{:02}.{:03}-{}",
        second / 3600,
        second / 60 % 60,
        second % 60,
        since.subsec_millis(),
        std::process::id()
    )
}

// The date of a day counted from 1970-01-01. Years are taken to begin in March, so that the day
// that leap years add is the last.
fn date(day: u64) -> (u64, u64, u64) {
    let day = day + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + carry, month, day)
}

#[cfg(test)]
mod tests {
    use super::{date, run_id};
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn days_have_dates() {
        for (day, expected) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_453, (2025, 12, 31)),
        ] {
            assert_eq!(date(day), expected, "{day}");
        }
    }

    #[test]
    fn ids_sort_by_age() {
        let id = run_id(UNIX_EPOCH + Duration::from_millis(951_786_061_042));
        assert!(id.starts_with("20000229-010101.042-"), "{id}");
    }
}
