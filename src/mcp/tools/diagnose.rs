use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::log::log;
use crate::app::{AppError, DiagnoseRequest, Log, Report, diagnose_log, no_run, read_junit};
use crate::mcp::error::ToolError;
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
    /// The command line.
    command: Option<String>,
    /// Reports of its tests: the text of `JUnit` XML files.
    junit: Vec<String>,
}

pub(super) fn call(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let app = caller.app()?;
    let alone = given.log.is_none() && given.log_file.is_none() && !given.junit.is_empty();
    let log = if alone {
        Log::default()
    } else {
        let found = log(&app, given.log, given.log_file.as_deref(), caller.progress)?;
        found.ok_or_else(no_run)?
    };
    let request = DiagnoseRequest {
        log,
        exit_code: given.exit_code,
        command: given.command,
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
