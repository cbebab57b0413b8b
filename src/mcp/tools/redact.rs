use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::tool::ToolError;
use crate::app::{FindingRow, Input, RedactRequest, Switch, readable_file, redact_text};
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
    let (file, named) = match (given.text, given.file) {
        (Some(text), None) => (Input::held("", text), "FILE".into()),
        (None, Some(typed)) => {
            // Only what a packet might hold.
            let bytes = readable_file(&app, &typed, caller.progress)?;
            (Input::held(&typed, bytes), shell_word(&typed).into_owned())
        }
        _ => {
            let message = "give either `text` or `file`";
            return Err(ToolError::Arguments(message.to_owned()));
        }
    };
    let env = Switch::On;
    let masked = redact_text(&app, &RedactRequest { file, env }, caller.progress)?;
    let masked = Masked {
        text: String::from_utf8_lossy(&masked.bytes).into_owned(),
        findings: masked.findings,
    };
    Given::new(
        masked.text.clone(),
        &masked,
        format!("mendit redact {named}"),
    )
}
