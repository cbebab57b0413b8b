use std::borrow::Cow;

use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output, open};
use crate::app::{RepairRequest, repair_repository};
use crate::model::Event;
use crate::report::{printable, run_text};

/// Make a failing test command pass
///
/// It diagnoses, heals, asks an agent, judges its patch and tests it.
/// All work is done in a copy of the worktree; your files change only with `--apply`, and only
/// when the commands pass. Commands come from this command line, never from the repository.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub(crate) struct Args {
    #[command(flatten)]
    request: RepairRequest,
    /// Put a patch that makes the commands pass into the worktree
    #[arg(long)]
    apply: bool,
    /// How to print the result
    #[arg(long, value_parser = PLAIN, default_value = "text")]
    format: Form,
}

const EXITS: &str = "Exit codes: 0 fixed, or nothing to repair · 1 still failing · 2 it could not \
be run · 3 a time limit ended it · 4 a person must act · 5 refused by policy · 130 interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let app = open(global, &args.request)?;
    let request = RepairRequest {
        apply: args.apply,
        ..args.request.clone()
    };
    let repaired = repair_repository(&app, &request, output)?;
    let folder = repaired.folder.display().to_string();
    output.document(args.format, &repaired.result, |it| run_text(it, &folder))?;
    Ok(repaired.exit)
}

/// What begins with an event and may take long.
pub(super) fn begins(event: &Event) -> Option<Cow<'static, str>> {
    let begun = match event.event.as_str() {
        "command_started" | "heal_started" => Some("running the commands"),
        "attempt_started" => Some("asking the agent and trying what it sends"),
        "agent_pause" => Some("waiting for the agent's service"),
        "agent_works" => {
            let what = event.fields.get("what").and_then(|it| it.as_str());
            return what
                .map(|it| format!("asking the agent, which is at {}", printable(it)).into());
        }
        _ => None,
    };
    begun.map(Cow::Borrowed)
}

/// What a person watching wants to know of an event.
pub(super) fn line_of(event: &Event) -> Option<String> {
    let text = |name: &str| {
        event
            .fields
            .get(name)
            .map(|value| {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            })
            .unwrap_or_default()
    };
    Some(match event.event.as_str() {
        "command_started" if text("what") == "baseline-again" => {
            format!("the commands run again: {}", text("why"))
        }
        "reported_failure" => format!("the log that was given tells of {}", text("kind")),
        "command_ended" if text("passed") == "true" => "the commands pass".to_owned(),
        "command_ended" => format!("the commands fail: {} ({})", text("kind"), text("end")),
        "heal_started" => format!("attempt {}: {}", text("attempt"), text("what")),
        "attempt_started" => format!(
            "attempt {}: asking the agent at level {}",
            text("attempt"),
            text("level")
        ),
        "agent_pause" => format!(
            "the agent's service turned it away for now: waiting {} s",
            text("seconds").trim_end_matches(".0")
        ),
        "attempt_ended" => format!(
            "attempt {} ended with {}: {}",
            text("attempt"),
            text("stopReason"),
            text("why")
        ),
        "timeout_auto_split_success" | "complexity_split_success" => {
            format!("the task is split into parts: {}", text("sub_issues_count"))
        }
        "timeout_auto_split_failed" => format!("the task cannot be split: {}", text("error")),
        "complexity_split_failed" => format!(
            "a large task that cannot be split: {}; the agent is asked for all of it",
            text("error")
        ),
        "workplace_copying" => format!(
            "copying the worktree: {} of {} files",
            text("files"),
            text("of")
        ),
        "workplace" => format!("workplace: {} ({})", text("kind"), text("why")),
        "sandbox" => format!(
            "{}: the sandbox is {}",
            text("code"),
            if text("sandbox") == "partial" {
                "only partly in force; places that should be closed may be written"
            } else {
                "not in force; commands and agents may write anywhere"
            }
        ),
        "sandbox_refused" => format!(
            "mendit's sandbox refused writing {0}; --{1}-write {0}",
            text("path"),
            if text("agent") == "true" {
                "agent"
            } else {
                "allow"
            }
        ),
        "worktree_changed" => format!("`{}` changed while the agent ran", text("path")),
        "part_started" => format!("part {}: {}", text("number"), text("title")),
        _ => return None,
    })
}
