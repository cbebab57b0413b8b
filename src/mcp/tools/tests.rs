use std::time::{Duration, Instant};

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::tool::ToolError;
use crate::app::settings::Settings;
use crate::app::{
    App, FixRequest, Flags, RunRequest, WhyRequest, enter_last, find_cause, find_fix, last_line,
    run_command,
};
use crate::mcp::tool::{Caller, Given, arguments};
use crate::model::{RunStatus, RunSummary, StopReason};
use crate::report::{kept_summary, why_page};

/// What `run_tests`, `find_cause` and `fix_tests` take.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Arguments {
    /// One of the commands that the server was given, word for word; the first when missing, else that
    /// of the last run.
    command: Option<String>,
}

/// What `run_tests` gives.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ran {
    /// Whether it passes.
    passed: bool,
    /// The command.
    command: String,
    /// How it ended; empty when it passes, unless its runner counts failures all the same.
    message: String,
    /// What its failure comes to.
    summary: Option<RunSummary>,
}

/// What `fix_tests` gives.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mended {
    /// How the fix ended.
    status: RunStatus,
    /// Why it ended there; `nothing_to_repair` where the command passes.
    stop_reason: StopReason,
    /// The same in one sentence.
    message: String,
    /// The patch that was found; `apply_patch` writes it. Null if a secret is in or beside the change: redacted,
    /// it would not apply.
    patch: Option<String>,
}

pub(super) fn run(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let chosen = chosen(caller, given)?;
    let mut app = caller.app()?;
    let words = match &chosen {
        Some(command) => vec![command.into()],
        None => enter_last(&mut app)?,
    };
    let command = words
        .iter()
        .map(|it| it.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ");
    let request = RunRequest {
        command: words,
        ..RunRequest::default()
    };
    // The whole log is kept with the run; the answer tells what it comes to.
    let mut heard = Heard::default();
    let mut sink = |_: bool, bytes: &[u8]| heard.take(bytes, &app, caller);
    let mut ran = run_command(&app, &request, &mut sink, caller.progress)?;
    ran.search_cause(&app, caller.progress)?;
    let message = ran.failure.as_ref().map_or_else(
        || ran.hidden.clone().unwrap_or_default(),
        |it| it.message.clone(),
    );
    let summary = ran.summary().cloned();
    let mut text = match &ran.failure {
        None => match &ran.hidden {
            Some(hidden) => format!("`{command}` ends with 0\n{hidden}\n"),
            None => format!("`{command}` passes\n"),
        },
        Some(_) => format!("{message}\n"),
    };
    if let Some(summary) = &summary {
        text.push_str(&format!("{}: {}\n", summary.kind, summary.explanation));
        text.push_str(&kept_summary(summary, false, false));
        if !summary.certain.is_empty() {
            text.push_str("`fix_tests` tries what is certain\n");
        }
        text.push_str(
            "`build_context` without a log shows the code; the whole log is the resource \
             mendit://run/last/test.log\n",
        );
    }
    let document = Ran {
        passed: ran.failure.is_none(),
        command,
        message,
        summary,
    };
    Given::new(text, &document, "mendit report latest")
}

pub(super) fn fix(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let command = chosen(caller, given)?;
    let mut app = (caller.open)(&NoAgent)?;
    let request = FixRequest {
        command: command.into_iter().map(Into::into).collect(),
        ..FixRequest::default()
    };
    let fixed = find_fix(&mut app, &request, caller.progress)?;
    let result = &fixed.repaired.result;
    let mask = |text: &str| app.redactor().redact(text).text.into_owned();
    let patch = fixed.repaired.whole_patch().map(str::to_owned);
    let mut text = mask(&format!("{}\n", result.message));
    if let Some(shown) = &fixed.repaired.patch {
        text.push_str(shown);
        if patch.is_none() {
            text.push_str(
                "a secret is masked here, so this does not apply; `mendit fix --yes --test CMD` writes it\n",
            );
        }
    }
    let document = Mended {
        status: result.status,
        stop_reason: result.stop_reason,
        message: mask(&result.message),
        patch,
    };
    Given::new(text, &document, "mendit fix")
}

struct NoAgent;

impl Flags for NoAgent {
    fn merge(&self, settings: &mut Settings) {
        settings.agent.command = None;
    }
}

pub(super) fn why(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let command = chosen(caller, given)?;
    let mut app = caller.app()?;
    let request = WhyRequest {
        command: command.into_iter().map(Into::into).collect(),
        ..WhyRequest::default()
    };
    let found = find_cause(&mut app, &request, caller.progress)?;
    Given::new(why_page(&found).text(false), &found, "mendit why")
}

// Tells now and then which line a command printed last, its secrets masked.
#[derive(Default)]
struct Heard {
    reported: Option<Instant>,
}

impl Heard {
    fn take(&mut self, bytes: &[u8], app: &App, caller: &Caller<'_>) {
        if self.reported.is_some_and(|it| it.elapsed() < LINES_APART) {
            return;
        }
        if let Some(line) = last_line(app, bytes) {
            (caller.heard)(&line);
            self.reported = Some(Instant::now());
        }
    }
}

const LINES_APART: Duration = Duration::from_secs(1);

// `None` for the command of the last run.
fn chosen(caller: &Caller<'_>, given: JsonObject) -> Result<Option<String>, ToolError> {
    let given: Arguments = arguments(given)?;
    let allowed = caller.commands;
    let found = match &given.command {
        Some(named) => allowed.iter().find(|it| *it == named),
        None if caller.last && allowed.is_empty() => return Ok(None),
        None => allowed.first(),
    };
    found.cloned().map(Some).ok_or_else(|| {
        let allowed: Vec<String> = allowed.iter().map(|it| format!("`{it}`")).collect();
        ToolError::Arguments(format!(
            "that command is not one of those this server may run: {}",
            allowed.join(", ")
        ))
    })
}
