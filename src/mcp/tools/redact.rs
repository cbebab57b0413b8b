use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::open::{file, policy, redactor, workspace};
use crate::mcp::error::ToolError;
use crate::mcp::place::Place;
use crate::mcp::progress::Progress;
use crate::mcp::tool::{Given, arguments};
use crate::model::{Code, Profile};
use crate::policy::Finding;

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
    findings: Vec<Row>,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    /// The rule that found it.
    rule: String,
    /// 1-based.
    line: u32,
    /// First byte and the byte after the last, in the text as it came.
    range: [usize; 2],
}

pub(super) fn call(
    place: &Place,
    given: JsonObject,
    progress: &Progress,
) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let text = match (given.text, given.file) {
        (Some(text), None) => text,
        (None, Some(typed)) => {
            progress.step("reading the file");
            content(place, &typed)?
        }
        _ => {
            return Err(ToolError {
                code: None,
                message: "give either `text` or `file`".to_owned(),
            });
        }
    };
    let redacted = redactor().redact(&text);
    let row = |finding: &Finding| Row {
        rule: finding.rule.to_string(),
        line: finding.line,
        range: [finding.start, finding.end],
    };
    let masked = Masked {
        findings: redacted.findings.iter().map(row).collect(),
        text: redacted.text.into_owned(),
    };
    Given::new(masked.text.clone(), &masked)
}

// Only what a packet might hold.
fn content(place: &Place, typed: &str) -> Result<String, ToolError> {
    let workspace = workspace(place, None)?;
    let path = file(&workspace, typed)?;
    let policy = policy(place, Profile::Ranked)?;
    if let Some(refusal) = policy.refuse(&path) {
        return Err(ToolError::new(
            refusal.code,
            format!("`{path}` is not shown: {}", refusal.reason),
        ));
    }
    let bytes = workspace
        .source
        .read(&path)
        .map_err(|error| ToolError::new(Code::U104, format!("`{typed}`: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
