use std::cell::Cell;
use std::time::{Duration, Instant};

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::tool::{Answer, Caller, parse_arguments};
use crate::app::settings::Settings;
use crate::app::{
    self, App, AppError, FixRequest, Flags, RunRequest, WhyRequest, enter_last, find_fix,
    last_line, no_run, run_command,
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
    let chosen = choose_command(caller, given)?;
    let mut app = (caller.open)(&())?;
    let words = match chosen {
        Some(command) => vec![command.into()],
        None => enter_last(&mut app)?.ok_or_else(no_run)?,
    };
    let shown: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let command = shown.join(" ");
    let request = RunRequest {
        command: words,
        ..RunRequest::default()
    };
    let reported = Cell::new(None);
    let mut sink = |_: bool, bytes: &[u8]| report_line(bytes, &app, caller, &reported);
    let mut ran = run_command(&app, &request, &mut sink)?;
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
            text.push_str("`fix_tests` tries what is certain\n");
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

// Tells at most once a second which line a command printed last, its secrets masked.
fn report_line(bytes: &[u8], app: &App, caller: &Caller<'_>, reported: &Cell<Option<Instant>>) {
    if reported
        .get()
        .is_some_and(|last| last.elapsed() < LINES_APART)
    {
        return;
    }
    if let Some(line) = last_line(app, bytes) {
        (caller.heard)(&line);
        reported.set(Some(Instant::now()));
    }
}

const LINES_APART: Duration = Duration::from_secs(1);

pub(super) fn find_cause(caller: &Caller<'_>, given: JsonObject) -> Result<Answer, AppError> {
    let command = choose_command(caller, given)?;
    let mut app = (caller.open)(&())?;
    let request = WhyRequest {
        command: command.into_iter().map(Into::into).collect(),
        ..WhyRequest::default()
    };
    let found = app::find_cause(&mut app, &request)?;
    Answer::new(why_page(&found).text(false), &found, "mendit why")
}

pub(super) fn fix_tests(caller: &Caller<'_>, given: JsonObject) -> Result<Answer, AppError> {
    let command = choose_command(caller, given)?;
    let mut app = (caller.open)(&WithoutAgent)?;
    let request = FixRequest {
        command: command.into_iter().map(Into::into).collect(),
        ..FixRequest::default()
    };
    let repaired = find_fix(&mut app, &request)?;
    let mask = |text: &str| app.redactor().redact(text).text.into_owned();
    // None if a secret is in or beside the change, because redacted it would not apply.
    let patch = repaired.whole_patch();
    let mut text = format!("{}\n", repaired.result.message);
    if let Some(shown) = &repaired.patch {
        text.push_str(shown);
        if patch.is_none() {
            text.push_str(
                "a secret is masked here, so this does not apply; `mendit fix --yes --test CMD` writes it\n",
            );
        }
    }
    let document = json!({
        "status": repaired.result.status,
        "stopReason": repaired.result.stop_reason,
        "message": mask(&repaired.result.message),
        "patch": patch,
    });
    Answer::new(mask(&text), &document, "mendit fix")
}

struct WithoutAgent;

impl Flags for WithoutAgent {
    fn merge(&self, settings: &mut Settings) {
        settings.agent.command = None;
    }
}

// Returns a command that the server was given; `None` stands for the command of the last run.
fn choose_command(caller: &Caller<'_>, given: JsonObject) -> Result<Option<String>, AppError> {
    let given: Arguments = parse_arguments(given)?;
    let allowed = caller.commands;
    let found = match &given.command {
        Some(named) => allowed.iter().find(|command| *command == named),
        None if caller.last && allowed.is_empty() => return Ok(None),
        None => allowed.first(),
    };
    found.cloned().map(Some).ok_or_else(|| {
        AppError::usage(format!(
            "that command is not one of those this server may run: `{}`",
            allowed.join("`, `")
        ))
    })
}
