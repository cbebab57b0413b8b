use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::tool::ToolError;
use crate::app::{FindingRow, RedactRequest, readable_file, redact_text};
use crate::mcp::tool::{Caller, Given, arguments};
use crate::model::shell_word;

/// What `redact` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// The text, such as a log. Either this or `file`.
    text: Option<String>,
    /// A file of the repository.
    file: Option<String>,
}

/// What `redact` gives.
#[derive(Serialize, JsonSchema)]
pub(super) struct Masked {
    /// The text with its secrets masked.
    text: String,
    /// Where they were, never what they were.
    findings: Vec<FindingRow>,
}

pub(super) fn call(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let app = caller.app()?;
    let (name, text) = match (given.text, given.file) {
        (Some(text), None) => (String::new(), text.into_bytes()),
        (None, Some(typed)) => {
            // Only what a packet might hold.
            let bytes = readable_file(&app, &typed, caller.progress)?;
            (typed, bytes)
        }
        _ => {
            let said = "give either `text` or `file`";
            return Err(ToolError::Arguments(said.to_owned()));
        }
    };
    let request = RedactRequest {
        text,
        name,
        without_environment: false,
    };
    let redacted = redact_text(&app, &request, caller.progress)?;
    let masked = Masked {
        findings: FindingRow::of(&redacted.findings),
        text: String::from_utf8_lossy(&redacted.bytes).into_owned(),
    };
    let named = if request.name.is_empty() {
        "FILE".to_owned()
    } else {
        shell_word(&request.name).into_owned()
    };
    Given::new(
        masked.text.clone(),
        &masked,
        format!("mendit redact {named}"),
    )
}
