use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::explain_word;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Caller, Given, arguments};
use crate::model::{Page, code_pages};

/// What `explain` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// A code such as C101, or a kind, level, stop reason or verdict.
    code: Option<String>,
}

/// What `explain` gives.
#[derive(Serialize, JsonSchema)]
pub(super) struct Pages {
    /// The page of the code, or all of them.
    pages: Vec<Page>,
}

pub(super) fn call(_: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    if let Some(word) = &given.code {
        let page = explain_word(word)?;
        let text = format!("{}: {}\n\n{}\n", page.name(), page.title(), page.body());
        return Given::new(text, &Pages { pages: vec![page] });
    }
    let pages: Vec<Page> = code_pages().into_iter().map(Page::Code).collect();
    let line = |page: &Page| format!("{}  {}\n", page.name(), page.title());
    let text = pages.iter().map(line).collect();
    Given::new(text, &Pages { pages })
}
