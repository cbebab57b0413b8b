use std::collections::BTreeMap;

use crate::diagnose::{Retry, retry, suggested_actions};
use crate::model::{
    AttemptResult, Category, ChildFailure, FailureKind, Origin, RunResult, RunStatus,
    SCHEMA_VERSION, StopReason,
};
use crate::policy::Redactor;

/// The failure report of a run that did not succeed (R44 to R48), from what happened alone.
#[must_use]
pub fn child_failure(
    result: &RunResult,
    attempts: &[AttemptResult],
    redactor: &Redactor,
) -> ChildFailure {
    let category = result.category.unwrap_or(Category::Partial);
    let last = attempts.last();
    let progress = attempts.iter().any(|it| it.progress || it.kept);
    let rule = retry(category, progress);
    let mask = |text: &String| redactor.redact(text).text.into_owned();
    let mut completed_steps: Vec<String> = Vec::new();
    for attempt in attempts {
        completed_steps.extend(attempt.completed_steps.iter().map(mask));
        if attempt.kept {
            completed_steps.push(mask(&attempt.message));
        }
    }
    let mut actions = particular(result, rule, attempts);
    actions.extend(
        suggested_actions(category)
            .iter()
            .map(|it| (*it).to_owned()),
    );
    let suggested_retry = rule
        .is_retryable()
        .then(|| how(rule, attempts))
        .filter(|_| result.status != crate::model::RunStatus::UserActionRequired);
    ChildFailure {
        schema_version: SCHEMA_VERSION,
        document: "report".to_owned(),
        category,
        message: result.message.clone(),
        session_id: format!("child-{}", result.run_id),
        duration: result.duration_seconds,
        completed_steps,
        files_modified: result.files_modified.clone(),
        blocked_on: blocker(result, last).as_ref().map(mask),
        retryable: rule.is_retryable(),
        suggested_retry,
        suggested_actions: actions.iter().map(mask).collect(),
        tool_usage: usage(attempts),
        last_successful_tool: attempts
            .iter()
            .rev()
            .find(|it| it.kept)
            .map(|it| tool(it).to_owned()),
    }
}

fn blocker(result: &RunResult, last: Option<&AttemptResult>) -> Option<String> {
    let failure = result.failure.as_ref()?;
    Some(match last {
        Some(last) if !last.requested_files.is_empty() => {
            format!("files: {}", last.requested_files.join(", "))
        }
        Some(last) if last.stop_reason == StopReason::AgentTimeout => {
            "the agent's time limit".to_owned()
        }
        _ if !failure.undefined_names.is_empty() => {
            format!("undefined: {}", failure.undefined_names.join(", "))
        }
        _ if !failure.failing_tests.is_empty() => failure.failing_tests.join(", "),
        _ => failure.message.clone(),
    })
}

// What this very failure asks for, before the advice of its category.
fn particular(result: &RunResult, rule: Retry, attempts: &[AttemptResult]) -> Vec<String> {
    let mut actions = Vec::new();
    let alone = result.agent_calls == 0 && result.children.is_empty();
    if alone && result.stop_reason == StopReason::TestsFailed {
        actions.push("Name an agent with `--agent CMD`, or correct it by hand".to_owned());
    }
    if result.status == RunStatus::Unproven {
        actions.push(
            "Look at `proof.missing`: when the change is right, run the tests with a reporter that \
             prints its summary"
                .to_owned(),
        );
    }
    let kind = result.failure.as_ref().map(|it| it.kind);
    match kind {
        Some(FailureKind::MissingEnvVar) => actions.push(
            "Set the variable that the log names; `.env.example` may say what it means".to_owned(),
        ),
        Some(FailureKind::CommandNotFound) => {
            actions.push("Install the command or correct its name".to_owned());
        }
        Some(FailureKind::PermissionDenied) => actions.push("Check file permissions".to_owned()),
        Some(FailureKind::DependencyError) => {
            actions.push("Run your package installer, then retry".to_owned());
        }
        _ => {}
    }
    if result.category == Some(Category::Timeout) {
        actions.push(how(rule, attempts));
    }
    actions
}

// R45, R52: twice the time after progress, smaller parts without.
fn how(rule: Retry, attempts: &[AttemptResult]) -> String {
    match rule {
        Retry::LongerTimeout => {
            let longest = attempts
                .iter()
                .map(|it| it.agent_timeout_seconds)
                .fold(0.0, f64::max);
            let base = if longest > 0.0 { longest } else { 300.0 };
            format!("Retry with timeout={:.0}s", base * 2.0)
        }
        Retry::Decompose => "Split the task and retry its parts".to_owned(),
        Retry::MoreContext => "Retry with the next context level".to_owned(),
        Retry::FixedEnvironment => "Retry after the environment is mended".to_owned(),
        Retry::RemainingWork => "Retry with the work that is left".to_owned(),
        Retry::Never => "State the task anew".to_owned(),
    }
}

fn usage(attempts: &[AttemptResult]) -> BTreeMap<String, u32> {
    let mut usage = BTreeMap::new();
    for attempt in attempts {
        *usage.entry(tool(attempt).to_owned()).or_insert(0) += 1;
        if attempt.test_result.is_some() {
            *usage.entry("test".to_owned()).or_insert(0) += 1;
        }
    }
    usage
}

fn tool(attempt: &AttemptResult) -> &'static str {
    match attempt.origin {
        Origin::Heal => "heal",
        Origin::Agent => "agent",
    }
}

#[cfg(test)]
mod tests {
    use super::how;
    use crate::diagnose::Retry;

    #[test]
    fn a_retry_says_how() {
        // R45, R52.
        assert_eq!(how(Retry::LongerTimeout, &[]), "Retry with timeout=600s");
        assert!(how(Retry::Decompose, &[]).starts_with("Split"));
        assert_eq!(how(Retry::Never, &[]), "State the task anew");
    }
}
