use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::explain_code;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Caller, Given, arguments};
use crate::model::CodePage;

/// What `explain` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// A code such as C101.
    code: Option<String>,
}

/// What `explain` gives.
#[derive(Serialize, JsonSchema)]
pub(super) struct Pages {
    /// The page of the code, or all of them.
    pages: Vec<CodePage>,
}

pub(super) fn call(_: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let pages = explain_code(given.code.as_deref())?;
    let line = |page: &CodePage| match given.code {
        Some(_) => format!("{}: {}\n\n{}\n", page.code, page.title, page.body),
        None => format!("{}  {}\n", page.code, page.title),
    };
    let text = pages.iter().map(line).collect();
    Given::new(text, &Pages { pages })
}
