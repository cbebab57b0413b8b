use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::tool::ToolError;
use super::diagnose::{junit, log};
use crate::app::settings::{Bytes, Settings};
use crate::app::{ContextRequest, Flags, Input, LevelChoice, build_context};
use crate::mcp::answer::MOST_TOKENS;
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
    /// A file of the repository that holds it. Without `log`, `logFile`, `targets` and
    /// `requestedFiles` it is the last run's.
    log_file: Option<String>,
    /// The text of an issue or a task, in place of a log.
    issue: Option<String>,
    /// Reports of its tests: the text of `JUnit` XML files.
    junit: Vec<String>,
    /// Files the failure is about; a directory means its files.
    targets: Vec<String>,
    /// Commands that show the failure; they are not run.
    test_commands: Vec<String>,
    /// The context level, 0 to 3; chosen from the failure by default.
    #[schemars(range(min = 0, max = 3))]
    level: Option<u8>,
    /// The level of the previous attempt.
    #[schemars(range(min = 0, max = 3))]
    previous_level: Option<u8>,
    /// How the previous attempt ended: `stopReason` of its result.
    #[schemars(with = "Option<String>")]
    stop_reason: Option<StopReason>,
    /// More to show: `path`, `path:120-200` for lines, `path#name` for a definition.
    requested_files: Vec<String>,
    /// Files beyond targets and manifests.
    max_files: Option<u64>,
    /// Bytes of one file.
    max_file_bytes: Option<u64>,
    /// Bytes of all files.
    max_total_bytes: Option<u64>,
    /// Estimated tokens of all files: 11000 when missing, 8000 for a document.
    max_tokens: Option<u64>,
    /// A commit to read instead of the worktree.
    rev: Option<String>,
    /// The base of the change under test: its diff is shown, its files rank high.
    diff: Option<String>,
    /// Give the context document instead of the prompt.
    document: bool,
}

pub(super) fn call(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let is_sent = given.log.is_some();
    let level = |number: Option<u8>| number.map(level).transpose();
    let mut request = ContextRequest {
        targets: given.targets,
        issue: given.issue.map(|it| Input::held("issue", it)),
        diff: given.diff,
        junit: junit(given.junit),
        test_commands: given.test_commands,
        level: level(given.level)?.map_or(LevelChoice::Auto, LevelChoice::Exactly),
        previous_level: level(given.previous_level)?,
        stop_reason: given.stop_reason,
        requested: given.requested_files,
        rev: given.rev,
        max_files: given.max_files,
        max_file_bytes: given.max_file_bytes.map(Bytes),
        max_total_bytes: given.max_total_bytes.map(Bytes),
        max_tokens: given.max_tokens,
        max_log_bytes: given.max_tokens.is_none().then_some(Bytes(USUAL_LOG)),
        ..ContextRequest::default()
    };
    let app = (caller.open)(&Usual(&request, given.document))?;
    request.log = log(&app, given.log, given.log_file.as_deref(), caller.progress)?;
    let mut packed = build_context(&app, &request, caller.progress)?;
    if is_sent {
        // Who calls has it.
        packed.packet.logs.text.clear();
    }
    // A document beside the prompt would say every byte twice.
    let mut answer = if given.document {
        let text = context_text(&packed.context, packed.prompt_tokens());
        Given::new(text, &packed.context, COMMAND)?
    } else {
        Given::text(context_markdown(&packed.context, &packed.packet), COMMAND)
    };
    // Files are counted, and what is said of them is about as much again.
    let limit = request.max_tokens.map(|it| it.saturating_mul(2));
    answer.limit = limit.map(|it| if it == 0 { 0 } else { it.max(MOST_TOKENS) });
    Ok(answer)
}

const COMMAND: &str = "mendit context";
// What fits into an answer that every client takes.
const USUAL_TOKENS: u64 = 11_000;
// Quoted as JSON and with the reasons for each file it is longer.
const DOCUMENT_TOKENS: u64 = 8_000;
const USUAL_LOG: u64 = 12_288;

// What is asked for, within what every client takes where nobody says more.
struct Usual<'a>(&'a ContextRequest, bool);

impl Flags for Usual<'_> {
    fn merge(&self, settings: &mut Settings) {
        let Self(request, document) = self;
        request.merge(settings);
        let usual = [USUAL_TOKENS, DOCUMENT_TOKENS][usize::from(*document)];
        let context = &mut settings.context;
        context.max_tokens = context.max_tokens.or(Some(usual));
    }
}

// The whole repository without caps is never given to an agent.
fn level(number: u8) -> Result<Level, ToolError> {
    Level::from_number(number)
        .filter(|level| *level != Level::Bundle)
        .ok_or_else(|| ToolError::Arguments(format!("{number} is no level from 0 to 3")))
}
