use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::tool::ToolError;
use crate::app::{ImportsRequest, list_imports};
use crate::mcp::tool::{Caller, Given, arguments};
use crate::model::shell_word;
use crate::report::{imports_paths, imports_text};

/// What `imports` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// Files, or directories whose files are meant; none with `changed`.
    #[serde(default)]
    files: Vec<String>,
    /// How many imports away files may be; 1 when missing, any with `changed` or `tests`.
    hops: Option<u32>,
    /// Who imports the files, instead of what they import.
    #[serde(default)]
    reverse: bool,
    /// A commit: what the files that differ from it can reach, which is their importers and those
    /// of them.
    changed: Option<String>,
    /// Only tests, of what imports the files or what changed: the tests worth running. The text is
    /// a path on each line.
    #[serde(default)]
    tests: bool,
    /// Follow each imported name to the file that defines it.
    #[serde(default)]
    symbols: bool,
    /// A commit to read instead of the worktree.
    rev: Option<String>,
}

pub(super) fn call(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let app = caller.app()?;
    match (&given.changed, given.files.is_empty()) {
        (None, true) => {
            let said = "`files` is empty, and `changed` names no commit";
            return Err(ToolError::Arguments(said.to_owned()));
        }
        (Some(_), false) => {
            let said = "`changed` finds the files itself: send it without `files`";
            return Err(ToolError::Arguments(said.to_owned()));
        }
        (Some(_), true) if given.rev.is_some() => {
            let said = "`changed` compares with the worktree: send it without `rev`";
            return Err(ToolError::Arguments(said.to_owned()));
        }
        _ => {}
    }
    let far = given.changed.is_some() || given.tests;
    let request = ImportsRequest {
        files: given.files,
        hops: given.hops.unwrap_or(if far { u32::MAX } else { 1 }),
        reverse: given.reverse || far,
        symbols: given.symbols,
        rev: given.rev,
        changed: given.changed,
        tests: given.tests,
        no_cache: false,
    };
    let document = list_imports(&app, &request, caller.progress)?;
    let command = command(&request, far);
    let text = if given.tests {
        imports_paths(&document)
    } else {
        imports_text(&document)
    };
    Given::new(text, &document, command)
}

fn command(request: &ImportsRequest, far: bool) -> String {
    let mut line = String::from("mendit imports");
    let mut add = |words: &[&str]| {
        for word in words {
            line.push(' ');
            line.push_str(&shell_word(word));
        }
    };
    if let Some(base) = &request.changed {
        add(&["--changed", base]);
    }
    if request.tests {
        add(&["--tests"]);
    } else if request.reverse && !far {
        add(&["--reverse"]);
    }
    if request.hops != if far { u32::MAX } else { 1 } {
        add(&["--hops", &request.hops.to_string()]);
    }
    if request.symbols {
        add(&["--symbols"]);
    }
    if let Some(rev) = &request.rev {
        add(&["--rev", rev]);
    }
    for file in &request.files {
        add(&[file]);
    }
    line
}
