use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::{ImportsRequest, list_imports};
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Caller, Given, arguments};
use crate::report::imports_text;

/// What `imports` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// Files, or directories whose files are meant.
    #[schemars(length(min = 1))]
    files: Vec<String>,
    /// How many imports away files may be.
    #[serde(default = "one")]
    hops: u32,
    /// Who imports the files, instead of what they import.
    #[serde(default)]
    reverse: bool,
    /// Follow each imported name to the file that defines it.
    #[serde(default)]
    symbols: bool,
    /// A commit to read instead of the worktree.
    rev: Option<String>,
}

fn one() -> u32 {
    1
}

pub(super) fn call(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let app = caller.app()?;
    if given.files.is_empty() {
        return Err(ToolError::Arguments("`files` is empty".to_owned()));
    }
    let request = ImportsRequest {
        files: given.files,
        hops: given.hops,
        reverse: given.reverse,
        symbols: given.symbols,
        rev: given.rev,
        ..ImportsRequest::default()
    };
    let document = list_imports(&app, &request, caller.progress)?;
    Given::new(imports_text(&document), &document)
}
