use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::tool::ToolError;
use crate::app::{App, DiagnoseRequest, Input, Progress, diagnose_log, readable_file};
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
    let request = DiagnoseRequest {
        log: log(&app, given.log, given.log_file.as_deref(), caller.progress)?,
        exit_code: given.exit_code,
        timed_out: given.timed_out,
        command: given.command,
        junit: junit(given.junit),
        ..DiagnoseRequest::default()
    };
    let diagnosis = diagnose_log(&app, &request, caller.progress)?.diagnosis;
    let document = DiagnosisDocument::new(&diagnosis);
    Given::new(
        diagnosis_text(&diagnosis, false),
        &document,
        "mendit diagnose",
    )
}

/// The reports that a call brings along.
pub(super) fn junit(texts: Vec<String>) -> Vec<Input> {
    let held = |text: String| Input::held("junit", text);
    texts.into_iter().map(held).collect()
}

/// The log that a call names: its text, or a file of the repository.
pub(super) fn log(
    app: &App,
    text: Option<String>,
    file: Option<&str>,
    progress: &dyn Progress,
) -> Result<Option<Input>, ToolError> {
    Ok(match (text, file) {
        (Some(_), Some(_)) => {
            let message = "give either `log` or `logFile`";
            return Err(ToolError::Arguments(message.to_owned()));
        }
        (Some(text), None) => Some(Input::held("log", text)),
        (None, Some(file)) => Some(Input::held(file, readable_file(app, file, progress)?)),
        (None, None) => None,
    })
}
