use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::{Explained, explain_word};
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Caller, Given, arguments};
use crate::model::{Page, code_pages};

/// What `explain` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// A code such as C101, or a kind, level, stop reason, verdict or rule.
    code: Option<String>,
}

/// What `explain` gives.
#[derive(Serialize, JsonSchema)]
pub(super) struct Pages {
    /// The page of the code, or all of them.
    pages: Vec<Explained>,
}

pub(super) fn call(_: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    if let Some(word) = &given.code {
        let page = explain_word(word)?;
        let text = page.text();
        return Given::new(text, &Pages { pages: vec![page] });
    }
    let text = code_pages()
        .iter()
        .map(|page| format!("{}  {}\n", page.code, page.title))
        .collect();
    let pages = code_pages().into_iter().map(Page::Code);
    let pages = pages.map(Explained::Page).collect();
    Given::new(text, &Pages { pages })
}
