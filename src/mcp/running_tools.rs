//! The MCP tools that run commands. They run only what a flag of the server named, because the client
//! is a model.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::tool::{Answer, Caller, parse_arguments};
use crate::app::settings::Settings;
use crate::app::{
    self, AppError, FixRequest, Flags, RunRequest, WhyRequest, enter_last, find_fix, no_run,
    run_command,
};
use crate::report::{kept_summary, why_page};

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Arguments {
    /// One of the commands that the server was given, word for word; the first when missing, else that
    /// of the last run.
    command: Option<String>,
}

pub(super) fn run_tests(caller: &Caller<'_>, given: JsonObject) -> Result<Answer, AppError> {
    let mut words = choose_command(caller, given)?;
    let mut app = (caller.open)(&())?;
    if words.is_empty() {
        words = enter_last(&mut app)?.ok_or_else(no_run)?;
    }
    let shown: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let command = shown.join(" ");
    let request = RunRequest {
        command: words,
        ..RunRequest::default()
    };
    let mut told: Option<Instant> = None;
    let mut ran = run_command(&app, &request, &mut |_, bytes| {
        // At most one progress line per second.
        if told.is_none_or(|last| last.elapsed() >= Duration::from_secs(1)) {
            app.show_output(bytes);
            told = Some(Instant::now());
        }
    })?;
    ran.search_cause(&app)?;
    let message = match &ran.failure {
        Some(failure) => failure.message.clone(),
        None => ran.hidden.clone().unwrap_or_default(),
    };
    let mut text = match &ran.failure {
        None if message.is_empty() => format!("`{command}` passes\n"),
        None => format!("`{command}` ends with 0\n{message}\n"),
        Some(_) => format!("{message}\n"),
    };
    if let Some(summary) = ran.record.summary.as_ref() {
        text.push_str(&format!("{}: {}\n", summary.kind, summary.explanation));
        text.push_str(&kept_summary(summary, false, false));
        if !summary.certain.is_empty() {
            text.push_str("`fix_tests` tries certain fixes\n");
        }
        text.push_str("`build_context` without a log shows the log and the code\n");
    }
    let document = json!({
        "passed": ran.failure.is_none(),
        "command": command,
        "message": message,
        "summary": ran.record.summary.as_ref(),
    });
    Answer::new(text, &document, "mendit report latest")
}

pub(super) fn find_cause(caller: &Caller<'_>, given: JsonObject) -> Result<Answer, AppError> {
    let request = WhyRequest {
        command: choose_command(caller, given)?,
        ..WhyRequest::default()
    };
    let found = app::find_cause(&mut (caller.open)(&())?, &request)?;
    Answer::new(why_page(&found).text(false), &found, "mendit why")
}

pub(super) fn fix_tests(caller: &Caller<'_>, given: JsonObject) -> Result<Answer, AppError> {
    let request = FixRequest {
        command: choose_command(caller, given)?,
        ..FixRequest::default()
    };
    let mut app = (caller.open)(&WithoutAgent)?;
    let repaired = find_fix(&mut app, &request)?;
    // None if a secret is in or beside the change, because redacted it would not apply.
    let patch = repaired.whole_patch();
    let mut text = format!("{}\n", repaired.result.message);
    if let Some(shown) = &repaired.patch {
        text.push_str(shown);
        if patch.is_none() {
            text.push_str(
                "a secret is redacted here, so this patch does not apply; `mendit fix --yes --test CMD` writes it\n",
            );
        }
    }
    let document = json!({
        "status": repaired.result.status,
        "stopReason": repaired.result.stop_reason,
        "message": app.redactor().mask(&repaired.result.message),
        "patch": patch,
    });
    Answer::new(app.redactor().mask(&text), &document, "mendit fix")
}

struct WithoutAgent;

impl Flags for WithoutAgent {
    fn merge(&self, settings: &mut Settings) {
        settings.agent.command = None;
    }
}

// Returns a command that the server was given; an empty one means the command of the last run.
fn choose_command(caller: &Caller<'_>, given: JsonObject) -> Result<Vec<OsString>, AppError> {
    let given: Arguments = parse_arguments(given)?;
    let allowed = caller.commands;
    let found = match &given.command {
        Some(named) => allowed.iter().find(|command| *command == named),
        None if caller.last && allowed.is_empty() => return Ok(Vec::new()),
        None => allowed.first(),
    };
    let found = found.ok_or_else(|| {
        let allowed = allowed.join("`, `");
        AppError::usage(format!(
            "this server may not run that command; it may run `{allowed}`"
        ))
    })?;
    Ok(vec![found.into()])
}
