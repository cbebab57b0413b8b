use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::tool::ToolError;
use super::diagnose::{junit, log};
use crate::app::{HintRequest, find_imports, last, reports};
use crate::mcp::tool::{Caller, Given, arguments};

/// What `find_import` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[derive(Default)]
pub(super) struct Arguments {
    /// Undefined names; those of the log are added.
    names: Vec<String>,
    /// The file that uses them; the log's when missing.
    file: Option<String>,
    /// The output of the failing command.
    log: Option<String>,
    /// A file of the repository that holds it. Without `log`, `logFile` and `file` it is the last
    /// run's.
    log_file: Option<String>,
    /// Reports of its tests: the text of `JUnit` XML files.
    junit: Vec<String>,
    /// A commit to read instead of the worktree.
    rev: Option<String>,
    /// Give a patch that adds the imports that are certain.
    fix: bool,
}

pub(super) fn call(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let app = caller.app()?;
    let log = log(&app, given.log, given.log_file.as_deref(), caller.progress)?;
    let log = match log {
        Some(log) => Some(log.log(caller.progress)?),
        None if given.file.is_none() => last(&app, caller.progress)?.map(|it| it.log),
        None => None,
    };
    if log.is_none() && (given.names.is_empty() || given.file.is_none()) {
        let message = "name what is undefined with `names` and `file`, or give a `log` that does";
        return Err(ToolError::Arguments(message.to_owned()));
    }
    let request = HintRequest {
        names: given.names,
        file: given.file,
        log,
        reports: reports(&junit(given.junit), caller.progress)?,
        rev: given.rev,
        fix: given.fix,
        apply: false,
        command: Vec::new(),
    };
    let hinted = find_imports(&app, &request, caller.progress)?;
    Given::new(hinted.lines(), &hinted.document, "mendit hint")
}
