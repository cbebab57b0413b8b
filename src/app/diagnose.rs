use std::io::{self, Read};

use super::{App, AppError, Progress};
use crate::diagnose::{LogFacts, diagnose, diagnose_in, read_log};
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
        rules: app.rules(),
    };
    let log = app.clean(&request.log);
    if Repository::discover(app.directory())?.is_none() {
        return Ok(diagnose(&log, &facts, None));
    }
    let workspace = app.workspace(At::Worktree, progress)?;
    super::progress::go_on(progress, "reading the log")?;
    Ok(diagnose_in(&log, &facts, workspace.source.as_ref()))
}

/// Reads a log of any size in bounded memory: as it is up to 64 MiB, beyond that the head, the tail
/// and what is telling between them, every line in its place.
///
/// # Errors
/// What the input gives.
pub fn bounded_log(mut input: impl Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    input.by_ref().take(WHOLE).read_to_end(&mut first)?;
    if (first.len() as u64) < WHOLE {
        return Ok(first);
    }
    read_log(first.as_slice().chain(input)).map(String::into_bytes)
}

const WHOLE: u64 = 64 << 20;
