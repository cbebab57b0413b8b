use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::diagnose::reports;
use crate::app::settings::Bytes;
use crate::app::{ContextRequest, Log, build_context};
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Caller, Given, arguments};
use crate::model::{Level, StopReason};
use crate::report::{context_markdown, context_text};

/// What `build_context` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[derive(Default)]
pub(super) struct Arguments {
    /// The output of the failing command; it says which files matter when no target is given.
    log: Option<String>,
    /// Reports of its tests: the text of `JUnit` XML files.
    junit: Vec<String>,
    /// Files the failure is about; a directory means its files.
    targets: Vec<String>,
    /// Commands that show the failure; they are not run.
    test_commands: Vec<String>,
    /// Rung of the ladder, 0 to 3; chosen from the failure when missing.
    #[schemars(range(min = 0, max = 3))]
    level: Option<u8>,
    /// The rung of the attempt before.
    #[schemars(range(min = 0, max = 3))]
    previous_level: Option<u8>,
    /// How the attempt before ended.
    stop_reason: Option<StopReason>,
    /// More files to show.
    requested_files: Vec<String>,
    /// Files beyond targets and manifests.
    max_files: Option<u64>,
    /// Bytes of one file.
    max_file_bytes: Option<u64>,
    /// Bytes of all files.
    max_total_bytes: Option<u64>,
    /// Estimated tokens of all files: 18000 when missing.
    max_tokens: Option<u64>,
    /// Where the files' text stands: in the answer's text, or in its document. Never in both.
    form: Form,
    /// A commit to read instead of the worktree.
    rev: Option<String>,
}

/// Where the text of the files stands.
#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
enum Form {
    /// In the text; in the document the `content` of each file is empty.
    #[default]
    Text,
    /// In the document; the text is a table.
    Document,
}

/// Clients cut what a tool gives at about 25,000 tokens.
const MAX_TOKENS: u64 = 18_000;

pub(super) fn call(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let app = (caller.open)(&|settings| {
        let context = &mut settings.context;
        context.max_files = given.max_files.or(context.max_files);
        let bytes = |given: Option<u64>| given.map(Bytes);
        context.max_file_bytes = bytes(given.max_file_bytes).or(context.max_file_bytes);
        context.max_total_bytes = bytes(given.max_total_bytes).or(context.max_total_bytes);
        let own = context.max_tokens.or(Some(MAX_TOKENS));
        context.max_tokens = given.max_tokens.or(own);
    })?;
    let request = ContextRequest {
        targets: given.targets,
        log: given.log.map(Log::from),
        reports: reports(&given.junit)?,
        test_commands: given.test_commands,
        level: given.level.map(level).transpose()?,
        previous_level: given.previous_level.map(level).transpose()?,
        stop_reason: given.stop_reason,
        requested: given.requested_files,
        rev: given.rev,
        ..ContextRequest::default()
    };
    let mut packed = build_context(&app, &request, caller.progress)?;
    if given.form == Form::Document {
        return Given::new(context_text(&packed.context), &packed.context);
    }
    // Who calls has the log.
    packed.packet.logs.text.clear();
    let text = context_markdown(&packed.context, &packed.packet);
    for file in &mut packed.context.files {
        file.content.clear();
    }
    Given::new(text, &packed.context)
}

// The whole repository without caps is never given to an agent.
fn level(number: u8) -> Result<Level, ToolError> {
    Level::from_number(number)
        .filter(|level| *level != Level::Bundle)
        .ok_or_else(|| ToolError::Arguments(format!("{number} is no level from 0 to 3")))
}
