use super::flags::Args;
use super::input::{last, reports};
use super::run_summary::summary;
use super::why::known_cause;
use super::{App, AppError, Input, Progress, no_run};
use crate::diagnose::{LogFacts, Scene, diagnose_masked};
use crate::git::Repository;
use crate::junit::{Report, read_report};
use crate::model::{Diagnosis, RunSummary};
use crate::policy::decode_log;
use crate::workspace::At;

/// Classify the failure in a log.
#[derive(Debug, Clone, Default, Args)]
pub struct DiagnoseRequest {
    /// The log, or `-` for standard input; by default what is piped in, otherwise the last run
    pub log: Option<Input>,
    /// The same as LOG
    #[arg(long = "log", value_name = "FILE", conflicts_with = "log")]
    pub log_flag: Option<Input>,
    /// A `JUnit` report of the tests; repeatable
    #[arg(long, value_name = "FILE")]
    pub junit: Vec<Input>,
    /// The exit code of the command that wrote it; a negative number is a signal
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub exit_code: Option<i32>,
    /// The command that wrote it
    #[arg(long, value_name = "CMD")]
    pub command: Option<String>,
    /// Whether a time limit ended it.
    #[arg(skip)]
    pub timed_out: Option<bool>,
}

/// A diagnosis, and the command that it is of, as far as it is known.
pub struct Diagnosed {
    /// The diagnosis.
    pub diagnosis: Diagnosis,
    /// The command line.
    pub command: Option<String>,
}

/// Diagnoses a log, with its secrets masked; without a log or a report, that of the last run. Inside a repository its files have a say; elsewhere
/// there is nothing to map paths into.
///
/// # Errors
/// A log or a repository that cannot be read; no log where nothing was run yet.
pub fn diagnose_log(
    app: &App,
    request: &DiagnoseRequest,
    progress: &dyn Progress,
) -> Result<Diagnosed, AppError> {
    let named = request.log.as_ref().or(request.log_flag.as_ref());
    let unnamed = named.is_none() && request.junit.is_empty();
    let last = unnamed.then(|| last(app, progress)?.ok_or_else(no_run));
    let last = last.transpose()?;
    let log = named.map(|it| it.log(progress)).transpose()?;
    let log = log.or(last.as_ref().map(|it| it.log.clone()));
    // How it ended is told as one: what a call says of it takes the place of all that the run says.
    let is_given = request.exit_code.is_some() || request.timed_out.is_some();
    let ended = last.as_ref().filter(|_| !is_given);
    let timed_out = request.timed_out.unwrap_or_default();
    let ended = ended.map(|it| (it.exit_code, it.timed_out));
    let (exit_code, timed_out) = ended.unwrap_or((request.exit_code, timed_out));
    let command = request.command.clone().or(last.and_then(|it| it.command));
    let facts = LogFacts {
        exit_code,
        command: command.clone(),
        timed_out,
    };
    let workspace = match Repository::discover(app.directory())? {
        Some(_) => Some(app.workspace(At::Worktree, progress)?),
        None => None,
    };
    super::progress::go_on(progress, "reading the log")?;
    let scene = Scene {
        source: workspace.as_ref().map(|it| it.source.as_ref()),
        directory: workspace.as_ref().map_or("", |it| it.prefix.as_str()),
    };
    let (log, reports) = (log.unwrap_or_default(), reports(&request.junit, progress)?);
    let diagnosis = diagnose_masked(&log, &facts, scene, &reports, app.redactor());
    Ok(Diagnosed { diagnosis, command })
}

/// The failures of a diagnosis, each with its place, and the change that made its command fail, where trials on
/// these very files showed it.
///
/// # Errors
/// A repository that cannot be read.
pub fn summarise_diagnosis(
    app: &App,
    Diagnosed { diagnosis, command }: &Diagnosed,
    progress: &dyn Progress,
) -> Result<RunSummary, AppError> {
    if Repository::discover(app.directory())?.is_none() {
        return Ok(summary(diagnosis));
    }
    let workspace = app.workspace(At::Worktree, progress)?;
    Ok(RunSummary {
        cause: command
            .as_ref()
            .and_then(|line| known_cause(app, &workspace, line)),
        ..summary(diagnosis)
    })
}

/// Reads a report of tests in the form of `JUnit`; of one that breaks off, the tests up to there.
///
/// # Errors
/// Bytes that are no such report; `name` is what the message calls them.
pub fn read_junit(name: &str, bytes: &[u8]) -> Result<Report, AppError> {
    let report = read_report(&decode_log(bytes));
    if report.cases.is_empty() && !report.whole {
        let message = format!("`{name}` is no JUnit report: there is no test in it");
        return Err(
            AppError::usage(message).hint("`--junit` takes the XML that a test runner wrote")
        );
    }
    Ok(report)
}
