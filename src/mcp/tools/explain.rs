use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp::error::ToolError;
use crate::mcp::place::Place;
use crate::mcp::progress::Progress;
use crate::mcp::tool::{Given, arguments};
use crate::model::{Code, CodePage, code_pages, explain};

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

pub(super) fn call(_: &Place, given: JsonObject, _: &Progress) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let pages = match &given.code {
        None => code_pages(),
        Some(code) => vec![
            explain(code)
                .ok_or_else(|| ToolError::new(Code::U102, format!("`{code}` is not a code")))?,
        ],
    };
    let line = |page: &CodePage| match given.code {
        Some(_) => format!("{}: {}\n\n{}\n", page.code, page.title, page.body),
        None => format!("{}  {}\n", page.code, page.title),
    };
    let text = pages.iter().map(line).collect();
    Given::new(text, &Pages { pages })
}
