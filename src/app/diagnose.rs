use super::{App, AppError, Progress};
use crate::diagnose::{LogFacts, diagnose, diagnose_in};
use crate::git::Repository;
use crate::model::Diagnosis;
use crate::workspace::At;

/// Say what a log tells about a failure.
#[derive(Debug, Clone, Default)]
pub struct DiagnoseRequest {
    /// What the command wrote, standard error included.
    pub log: Vec<u8>,
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
    };
    let log = app.clean(&request.log);
    if Repository::discover(app.directory())?.is_none() {
        return Ok(diagnose(&log, &facts, None));
    }
    let workspace = app.workspace(At::Worktree, progress)?;
    super::progress::go_on(progress, "reading the log")?;
    Ok(diagnose_in(&log, &facts, workspace.source.as_ref()))
}
