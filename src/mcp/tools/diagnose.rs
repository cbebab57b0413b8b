use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::{DiagnoseRequest, Log, diagnose_log};
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Caller, Given, arguments};
use crate::model::DiagnosisDocument;
use crate::report::diagnosis_text;

/// What `diagnose` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// The output of the failing command, standard error included.
    log: String,
    /// Its exit code; a negative number is a signal.
    exit_code: Option<i32>,
    /// The command line.
    command: Option<String>,
}

pub(super) fn call(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let app = caller.app()?;
    let request = DiagnoseRequest {
        log: Log::from(given.log),
        exit_code: given.exit_code,
        command: given.command,
    };
    let diagnosis = diagnose_log(&app, &request, caller.progress)?;
    let document = DiagnosisDocument::new(&diagnosis);
    Given::new(diagnosis_text(&diagnosis), &document)
}
