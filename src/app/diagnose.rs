use std::io::{self, Read};

use super::{App, AppError, Progress};
use crate::diagnose::{Log, LogFacts, diagnose_masked};
use crate::git::Repository;
use crate::model::Diagnosis;
use crate::workspace::At;

/// Say what a log tells about a failure.
#[derive(Debug, Clone, Default)]
pub struct DiagnoseRequest {
    /// What the command wrote, standard error included.
    pub log: Log,
    /// Its exit code; a negative number is a signal.
    pub exit_code: Option<i32>,
    /// The command line.
    pub command: Option<String>,
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
        timed_out: false,
        rules: app.rules(),
    };
    let workspace = match Repository::discover(app.directory())? {
        Some(_) => Some(app.workspace(At::Worktree, progress)?),
        None => None,
    };
    super::progress::go_on(progress, "reading the log")?;
    let source = workspace.as_ref().map(|it| it.source.as_ref());
    Ok(diagnose_masked(
        &request.log,
        &facts,
        source,
        app.redactor(),
    ))
}

/// Reads a log of any size in bounded memory; see [`Log::read`].
///
/// # Errors
/// What the input gives.
pub fn read_log(app: &App, input: impl Read) -> io::Result<Log> {
    Log::read(input, &app.rules())
}
