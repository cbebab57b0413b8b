use crate::model::{Event, EventKind};

/// Says what begins with an event and may take long.
pub(super) fn begins(event: &Event) -> Option<&'static str> {
    let begun = match &event.kind {
        EventKind::CommandStarted { .. } | EventKind::HealStarted { .. } => "running the commands",
        EventKind::AttemptStarted { .. } => "asking the agent and trying what it sends",
        _ => return None,
    };
    Some(begun)
}

/// Whether something that took long is over.
pub(super) fn ends(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::CommandEnded { .. }
            | EventKind::AttemptEnded { .. }
            | EventKind::PartEnded { .. }
            | EventKind::RunEnded { .. }
    )
}

/// Says what a person watching wants to know of an event.
pub(super) fn line_of(event: &Event) -> Option<String> {
    Some(match &event.kind {
        EventKind::CommandStarted { what, why, .. } if what == "baseline-again" => {
            format!("the commands run again: {why}")
        }
        EventKind::CommandEnded { passed: true, .. } => "the commands pass".to_owned(),
        EventKind::CommandEnded { kind, end, .. } => format!("the commands fail: {kind} ({end})"),
        EventKind::HealStarted { attempt, what } => format!("attempt {attempt}: {what}"),
        EventKind::AttemptStarted {
            attempt,
            context_level,
            ..
        } => format!("attempt {attempt}: asking the agent at level {context_level}"),
        EventKind::AttemptEnded {
            attempt,
            stop_reason,
            why,
            ..
        } => format!("attempt {attempt} ended with {stop_reason}: {why}"),
        EventKind::AgentSettings { code, dropped } => {
            let paths: Vec<String> = dropped.iter().map(|path| format!("~/{path}")).collect();
            let paths = paths.join(", ");
            format!("{code}: dropped what the agent wrote into its home: {paths}")
        }
        EventKind::TimeoutAutoSplitSuccess(split) | EventKind::ComplexitySplitSuccess(split) => {
            let count = split.sub_issues_count.unwrap_or_default();
            format!("the task is split into parts: {count}")
        }
        EventKind::TimeoutAutoSplitFailed(split) => {
            let why = split.error.as_deref().unwrap_or_default();
            format!("the task cannot be split: {why}")
        }
        EventKind::ComplexitySplitFailed(split) => {
            let why = split.error.as_deref().unwrap_or_default();
            format!("a large task that cannot be split: {why}; the agent is asked for all of it")
        }
        EventKind::Workplace { kind, why } => format!("workplace: {kind} ({why})"),
        EventKind::Sandbox { code, sandbox, .. } => {
            let state = if sandbox == "partial" {
                "only partly in force; places that should be closed may be written"
            } else {
                "not in force; commands and agents may write anywhere"
            };
            format!("{code}: the sandbox is {state}")
        }
        EventKind::SandboxRefused(refused) => {
            let flag = if refused.agent { "agent" } else { "allow" };
            let path = &refused.path;
            format!("mendit's sandbox refused writing {path}; --{flag}-write {path}")
        }
        EventKind::PartStarted { number, title, .. } => format!("part {number}: {title}"),
        _ => return None,
    })
}
