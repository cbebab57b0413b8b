use rmcp::model::JsonObject;

use super::super::tool::ToolError;
use crate::app::{ImportsRequest, list_imports};
use crate::mcp::tool::{Caller, Given, arguments};
use crate::report::{imports_paths, imports_text};

pub(super) fn call(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let request: ImportsRequest = arguments(given)?;
    let document = list_imports(&caller.app()?, &request, caller.progress)?;
    let text = if request.tests {
        imports_paths
    } else {
        imports_text
    };
    Given::new(text(&document), &document, "mendit imports")
}
