use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

use super::known_cause::known_cause;
use super::run_summary::told;
use super::{App, AppError, Progress};
use crate::diagnose::{Log, LogFacts, Scene, diagnose_masked};
use crate::git::Repository;
use crate::junit::{Report, read_report};
use crate::model::{Diagnosis, RunSummary};
use crate::policy::decode_log;
use crate::source::Memory;
use crate::workspace::At;

/// Say what a log tells about a failure.
#[derive(Debug, Clone, Default)]
pub struct DiagnoseRequest {
    /// What the command wrote, standard error included.
    pub log: Log,
    /// Its exit code; a negative number is a signal.
    pub exit_code: Option<i32>,
    /// Whether a time limit ended the command.
    pub timed_out: bool,
    /// The command line.
    pub command: Option<String>,
    /// Reports of its tests, in the form of `JUnit`.
    pub reports: Vec<Report>,
}

/// Diagnoses a log, with its secrets masked. Inside a repository its files have a say; elsewhere
/// there is nothing to map paths into.
///
/// # Errors
/// A repository that cannot be read.
pub fn diagnose_log(
    app: &App,
    request: &DiagnoseRequest,
    progress: &dyn Progress,
) -> Result<Diagnosis, AppError> {
    let facts = LogFacts {
        exit_code: request.exit_code,
        command: request.command.clone(),
        timed_out: request.timed_out,
        rules: app.rules(),
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
    let (log, reports) = (&request.log, &request.reports);
    Ok(diagnose_masked(log, &facts, scene, reports, app.redactor()))
}

/// The failures of a diagnosis, each with its place, and the change that made `command` fail, where trials on
/// these very files showed it.
///
/// # Errors
/// A repository that cannot be read.
pub fn summarise_diagnosis(
    app: &App,
    diagnosis: &Diagnosis,
    command: Option<&str>,
    progress: &dyn Progress,
) -> Result<RunSummary, AppError> {
    if Repository::discover(app.directory())?.is_none() {
        return Ok(told(diagnosis, &Memory::named([] as [(&str, &str); 0])));
    }
    let workspace = app.workspace(At::Worktree, progress)?;
    Ok(RunSummary {
        cause: command.and_then(|line| known_cause(app, &workspace, line)),
        ..told(diagnosis, workspace.source.as_ref())
    })
}

/// Reads a log of any size in bounded memory; see [`Log::read`]. One that gzip packed is unpacked.
///
/// # Errors
/// What the input gives, an archive, and what unpacks to more than 4 GiB.
pub fn read_log(app: &App, mut input: impl Read) -> io::Result<Log> {
    let mut start = Vec::new();
    (&mut input).take(4).read_to_end(&mut start)?;
    match start.as_slice() {
        b"PK\x03\x04" => Err(io::Error::other(
            "it is an archive; `mendit fix-ci` reads the logs in it",
        )),
        [0x1f, 0x8b, ..] => {
            let packed = MultiGzDecoder::new(start.as_slice().chain(input));
            let mut unpacked = packed.take(UNPACKED);
            let log = Log::read(&mut unpacked, &app.rules())?;
            match unpacked.limit() {
                0 => Err(io::Error::other("it unpacks to more than 4 GiB")),
                _ => Ok(log),
            }
        }
        _ => Log::read(start.as_slice().chain(input), &app.rules()),
    }
}

/// Bytes that a log may unpack to.
pub(super) const UNPACKED: u64 = 4 << 30;

/// Reads a report of tests in the form of `JUnit`; of one that breaks off, the tests up to there.
///
/// # Errors
/// Bytes that are no such report; `name` is what the message calls them.
pub fn read_junit(name: &str, bytes: &[u8]) -> Result<Report, AppError> {
    let report = read_report(&decode_log(bytes));
    if report.cases.is_empty() && !report.whole {
        let said = format!("`{name}` is no JUnit report: there is no test in it");
        return Err(AppError::usage(said).hint("`--junit` takes the XML that a test runner wrote"));
    }
    Ok(report)
}
