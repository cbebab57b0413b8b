use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::open::{redactor, workspace};
use crate::diagnose::{LogFacts, diagnose};
use crate::mcp::error::ToolError;
use crate::mcp::place::Place;
use crate::mcp::progress::Progress;
use crate::mcp::tool::{Given, arguments};
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

pub(super) fn call(
    place: &Place,
    given: JsonObject,
    progress: &Progress,
) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    progress.step("reading the log");
    let workspace = workspace(place, None)?;
    let facts = LogFacts {
        exit_code: given.exit_code,
        command: given.command,
        timed_out: false,
    };
    let log = redactor().redact(&given.log).text.into_owned();
    let diagnosis = diagnose(&log, &facts, Some(workspace.source.listing()));
    Given::new(
        diagnosis_text(&diagnosis),
        &DiagnosisDocument::new(&diagnosis),
    )
}
