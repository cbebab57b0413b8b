use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::tool::ToolError;
use crate::app::{Explained, explain_word};
use crate::mcp::tool::{Caller, Given, arguments};
use crate::model::{CodePage, code_pages, shell_word};

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
    /// The page of the code; empty when none was named.
    pages: Vec<Explained>,
    /// Every code, when none was named.
    index: Vec<Group>,
}

/// Codes that are about one thing.
#[derive(Serialize, JsonSchema)]
pub(super) struct Group {
    /// What they are about.
    about: &'static str,
    /// The codes; each has a page.
    codes: Vec<&'static str>,
}

pub(super) fn call(_: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    if let Some(word) = &given.code {
        let page = explain_word(word)?;
        let command = format!("mendit explain {}", shell_word(word));
        let (pages, index) = (vec![page], Vec::new());
        let text = pages.iter().map(Explained::text).collect();
        return Given::new(text, &Pages { pages, index }, command);
    }
    let mut text = String::from("Name a code for its page.\n");
    let mut index = Vec::new();
    let pages = code_pages();
    let letter = |page: &CodePage| page.code.as_str().chars().next();
    for group in pages.chunk_by(|one, other| letter(one) == letter(other)) {
        let first = group.first().and_then(letter);
        let about = GROUPS.iter().find(|(it, _)| Some(*it) == first);
        let about = about.map_or("other codes", |(_, about)| about);
        text.push_str(&format!("\n{about}\n"));
        for page in group {
            text.push_str(&format!("{}  {}\n", page.code, page.title));
        }
        let codes = group.iter().map(|page| page.code.as_str()).collect();
        index.push(Group { about, codes });
    }
    let pages = Vec::new();
    Given::new(text, &Pages { pages, index }, "mendit explain")
}

const GROUPS: &[(char, &str)] = &[
    ('C', "why a file is not in a context"),
    ('F', "fixtures and the bench"),
    ('L', "the fix loop"),
    ('M', "what was corrected in a patch"),
    ('P', "what is wrong with a patch"),
    ('R', "running commands"),
    ('U', "usage, settings and environment"),
];
