use std::borrow::Cow;

use crate::model::Event;
use crate::report::printable;

/// What begins with an event and may take long.
pub(super) fn begins(event: &Event) -> Option<Cow<'static, str>> {
    let begun = match event.event.as_str() {
        "command_started" | "heal_started" => Some("running the commands"),
        "attempt_started" => Some("asking the agent and testing its patch"),
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

/// Returns what to print for an event.
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
        "reported_failure" => format!("the given log shows {}", text("kind")),
        "command_ended" if text("passed") == "true" => "the commands pass".to_owned(),
        "command_ended" => format!("the commands fail: {} ({})", text("kind"), text("end")),
        "heal_started" => format!("attempt {}: {}", text("attempt"), text("what")),
        "attempt_started" => format!(
            "attempt {}: asking the agent at level {}",
            text("attempt"),
            text("level")
        ),
        "agent_pause" => format!(
            "the agent's service is rate limited: waiting {} s",
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
            "a large task that cannot be split: {}; asking the agent for all of it",
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
                "only partly in force; commands may write to places that should be closed"
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
