use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::tool::ToolError;
use crate::app::{
    App, AppError, DiagnoseRequest, LastLog, Log, Progress, Report, diagnose_log, last_log, no_run,
    read_junit, read_log, readable_file,
};
use crate::mcp::tool::{Caller, Given, arguments};
use crate::model::DiagnosisDocument;
use crate::report::diagnosis_text;

/// What `diagnose` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[derive(Default)]
pub(super) struct Arguments {
    /// The output of the failing command, standard error included.
    log: Option<String>,
    /// A file of the repository that holds it. Without `log` and `logFile` it is the last run's.
    log_file: Option<String>,
    /// Its exit code; a negative number is a signal.
    exit_code: Option<i32>,
    /// Whether a time limit ended it.
    timed_out: Option<bool>,
    /// The command line.
    command: Option<String>,
    /// Reports of its tests: the text of `JUnit` XML files.
    junit: Vec<String>,
}

pub(super) fn call(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let app = caller.app()?;
    let unnamed = given.log.is_none() && given.log_file.is_none();
    let last = if unnamed && given.junit.is_empty() {
        Some(last(&app, caller.progress)?.ok_or_else(no_run)?)
    } else {
        None
    };
    let log = match &last {
        Some(last) => Some(last.log.clone()),
        None if unnamed => None,
        None => log(&app, given.log, given.log_file.as_deref(), caller.progress)?,
    };
    // How it ended is told as one: what a call says of it takes the place of all that the run says.
    let told = given.exit_code.is_some() || given.timed_out.is_some();
    let ended = last.as_ref().filter(|_| !told);
    let ended = ended.map(|it| (it.exit_code, it.timed_out));
    let (exit_code, timed_out) =
        ended.unwrap_or((given.exit_code, given.timed_out.unwrap_or_default()));
    let request = DiagnoseRequest {
        timed_out,
        log: log.unwrap_or_default(),
        exit_code,
        command: given.command.or(last.and_then(|it| it.command)),
        reports: reports(&given.junit)?,
    };
    let diagnosis = diagnose_log(&app, &request, caller.progress)?;
    let document = DiagnosisDocument::new(&diagnosis);
    Given::new(
        diagnosis_text(&diagnosis, false),
        &document,
        "mendit diagnose",
    )
}

/// The reports that a call brings along.
pub(super) fn reports(texts: &[String]) -> Result<Vec<Report>, AppError> {
    let one = |text: &String| read_junit("junit", text.as_bytes());
    texts.iter().map(one).collect()
}

/// The log that a call is about: its text, a file of the repository, or the last run.
pub(super) fn log(
    app: &App,
    text: Option<String>,
    file: Option<&str>,
    progress: &dyn Progress,
) -> Result<Option<Log>, ToolError> {
    match (text, file) {
        (Some(_), Some(_)) => Err(ToolError::Arguments(
            "give either `log` or `logFile`".to_owned(),
        )),
        (Some(text), None) => Ok(Some(Log::from(text))),
        (None, Some(file)) => {
            let bytes = readable_file(app, file, progress)?;
            let log = read_log(app, bytes.as_slice());
            Ok(Some(
                log.map_err(|error| AppError::unreadable(file, &error))?,
            ))
        }
        (None, None) => Ok(last(app, progress)?.map(|it| it.log)),
    }
}

// The last run, which is said.
fn last(app: &App, progress: &dyn Progress) -> Result<Option<LastLog>, AppError> {
    let last = last_log(app)?;
    if let Some(last) = &last {
        progress.note(&format!("the log of {}", last.said));
    }
    Ok(last)
}
