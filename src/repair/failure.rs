use std::collections::{BTreeMap, BTreeSet};

use super::limits::TIME_UP;
use super::plan::longer;
use crate::agent::in_words;
use crate::diagnose::{GO_ON, NEXT_LEVEL, REVIEW, Retry, retry, suggested_actions};
use crate::model::{
    AttemptResult, Category, ChildFailure, FailureKind, Level, Origin, RunResult, RunStatus,
    SCHEMA_VERSION, StopReason, TestResult, TroubleKind,
};
use crate::policy::Redactor;

/// The failure report of a run that did not succeed , from what happened alone;
/// `remedies` are what a person types to mend the environment.
#[must_use]
pub fn child_failure(
    result: &RunResult,
    attempts: &[AttemptResult],
    remedies: &[String],
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
    let mut actions = particular(result, rule, attempts, remedies);
    // Beside what mends this very failure general advice is noise.
    let moved = result.stop_reason == StopReason::WorktreeChanged;
    if !is_left_to_an_agent(result) && remedies.is_empty() && !moved {
        actions.extend(general(category, result, attempts));
    }
    actions.extend(search_step(result));
    let mut seen = BTreeSet::new();
    actions.retain(|it| seen.insert(it.clone()));
    let suggested_retry = rule
        .is_retryable()
        .then(|| how_here(rule, result, attempts))
        .filter(|_| result.status != crate::model::RunStatus::UserActionRequired);
    ChildFailure {
        schema_version: SCHEMA_VERSION,
        document: "report".to_owned(),
        category,
        message: result.message.clone(),
        session_id: format!("child-{}", result.run_id),
        task_id: result.task_id.clone(),
        issue: result.issue.clone(),
        duration: result.duration_seconds,
        completed_steps,
        files_modified: result.files_modified.clone(),
        blocked_on: blocker(result, last).as_ref().map(mask),
        retryable: rule.is_retryable(),
        suggested_retry,
        suggested_actions: actions.iter().map(mask).collect(),
        tool_usage: usage(result, attempts),
        last_successful_tool: last_tool(result, attempts).map(str::to_owned),
    }
}

// The advice of a category, as far as it fits this run: no next level above the last or without an
// agent, and nothing to go on with where nothing was done.
fn general(category: Category, result: &RunResult, attempts: &[AttemptResult]) -> Vec<String> {
    let rows = suggested_actions(category).iter().copied();
    let mut rows: Vec<&str> = rows
        .filter(|action| match *action {
            NEXT_LEVEL => may_climb(result),
            GO_ON | REVIEW => is_begun(result, attempts),
            _ => true,
        })
        .collect();
    if category == Category::Partial && rows.is_empty() {
        rows.extend([
            "See what was tried: `mendit report`",
            "Say what is wanted: `--task FILE`",
        ]);
    }
    rows.into_iter().map(str::to_owned).collect()
}

fn may_climb(result: &RunResult) -> bool {
    result.agent_calls > 0 && result.level < Level::Requested
}

fn is_begun(result: &RunResult, attempts: &[AttemptResult]) -> bool {
    !result.files_modified.is_empty() || attempts.iter().any(|it| it.kept)
}

fn how_here(rule: Retry, result: &RunResult, attempts: &[AttemptResult]) -> String {
    match rule {
        Retry::MoreContext if result.agent_calls == 0 => {
            "Retry with an agent: `mendit fix --agent claude`".to_owned()
        }
        Retry::MoreContext if !may_climb(result) => {
            "Retry with the task stated: `--task FILE`".to_owned()
        }
        Retry::RemainingWork if !is_begun(result, attempts) => {
            "Retry with the task stated: `--task FILE`, or with another agent".to_owned()
        }
        rule => how(rule, attempts),
    }
}

// What stands in the way now: the agent's own trouble, then what fails with the kept changes.
fn blocker(result: &RunResult, last: Option<&AttemptResult>) -> Option<String> {
    if let Some(trouble) = &result.agent_trouble {
        let last_line = trouble.last_lines.last();
        let message = last_line.map_or_else(|| trouble.end.clone(), |line| line.trim().to_owned());
        return Some(format!("{}: {message}", in_words(trouble.kind)));
    }
    let failure = result.remaining.as_ref().or(result.failure.as_ref())?;
    Some(match last {
        Some(last) if !last.requested_files.is_empty() => {
            format!("files: {}", last.requested_files.join(", "))
        }
        Some(last) if last.stop_reason == StopReason::AgentTimeout => {
            "the agent's time limit".to_owned()
        }
        _ if result.stop_reason == StopReason::CommandTimeout => {
            "the time limit of the commands".to_owned()
        }
        _ if !failure.undefined_names.is_empty() => {
            format!("undefined: {}", failure.undefined_names.join(", "))
        }
        _ if !failure.failing_tests.is_empty() => failure.failing_tests.join(", "),
        _ => failure.message.clone(),
    })
}

// Nothing went wrong: what needs no model was not enough.
fn is_left_to_an_agent(result: &RunResult) -> bool {
    let alone = result.agent_calls == 0 && result.children.is_empty();
    alone && result.stop_reason == StopReason::TestsFailed
}

// What this very failure asks for, before the advice of its category.
fn particular(
    result: &RunResult,
    rule: Retry,
    attempts: &[AttemptResult],
    remedies: &[String],
) -> Vec<String> {
    if result.stop_reason == StopReason::WorktreeChanged {
        return vec!["Start again; `--workplace copy` lets you work on meanwhile".to_owned()];
    }
    let refused = result.workplace.refused.iter();
    let mut actions: Vec<String> = refused
        .map(|one| {
            let flag = ["--allow-write", "--agent-write"][usize::from(one.agent)];
            format!(
                "mendit's sandbox refused writing {0}: `{flag} {0}` opens it",
                one.path
            )
        })
        .collect();
    actions.extend_from_slice(remedies);
    if is_left_to_an_agent(result) {
        actions.extend(search_step(result));
        let failure = result.remaining.as_ref().or(result.failure.as_ref());
        let names = failure.map_or(&[][..], |it| &it.undefined_names);
        actions.extend(names.iter().take(MOST_NAMES).map(|name| {
            format!("`{name}` is not defined: define or import it, or correct the name")
        }));
        actions.extend([
            "Name an agent: `mendit fix --agent claude`".to_owned(),
            "Or correct it by hand: `mendit context` lists the files that it needs".to_owned(),
        ]);
    }
    if let Some(trouble) = &result.agent_trouble {
        actions.push(relief(trouble.kind).to_owned());
    }
    let hints = result.recovery_hint.as_deref().unwrap_or_default().lines();
    actions.extend(hints.filter_map(|line| line.strip_prefix("- ").map(str::to_owned)));
    if result.status == RunStatus::Unproven {
        actions.push(
            "Look at `proof.missing`: when the change is right, run the tests with a reporter that \
             prints its summary"
                .to_owned(),
        );
    }
    if result.stop_reason == StopReason::WorkplaceUnused {
        actions.push(
            "Have the commands run the worktree's own files: install the project editable, or in the \
             workplace with `--setup CMD`"
                .to_owned(),
        );
    }
    if result.stop_reason == StopReason::PolicyRejected {
        actions.extend(attempts.iter().rev().find_map(may_pass));
    }
    let kind = result.failure.as_ref().map(|it| it.kind);
    if result.agent_trouble.is_none()
        && let Some(advice) = kind.and_then(advice).filter(|_| remedies.is_empty())
    {
        actions.push(advice.to_owned());
    }
    if result.stop_reason == StopReason::CommandTimeout {
        let took = result
            .test_result
            .as_ref()
            .map_or(60.0, |it| it.duration_seconds);
        actions.push(format!(
            "Give the commands longer: `--test-timeout {:.0}`",
            longer(took)
        ));
        return actions;
    }
    let time_up = result.message.contains(TIME_UP);
    if result.stop_reason == StopReason::BudgetExhausted && time_up {
        let longer = (result.duration_seconds * 2.0).ceil();
        actions.push(format!(
            "Give the whole run longer: `--budget-seconds {longer}`"
        ));
    } else if result.category == Some(Category::Timeout) {
        actions.push(how(rule, attempts));
    }
    actions
}

/// Offers the search for the culprit where the code fails and no change is known that broke it.
fn search_step(result: &RunResult) -> Option<String> {
    let failure = result.remaining.as_ref().or(result.failure.as_ref())?;
    let is_open = result.cause.is_none() && !failure.requires_user_action;
    (is_open && !failure.kind.is_around_code())
        .then(|| "mendit why  (finds the change that broke it)".to_owned())
}

/// Names that are told one by one.
const MOST_NAMES: usize = 3;

// The flag that a refusal names, with its file.
fn may_pass(attempt: &AttemptResult) -> Option<String> {
    let (_, rest) = attempt.message.split_once("--allow-protected ")?;
    let path = rest.split([' ', '`']).next()?;
    Some(format!(
        "When `{path}` is to change, let it pass: `--allow-protected {path}`; else say in the task \
         that it stays"
    ))
}

fn relief(kind: TroubleKind) -> &'static str {
    match kind {
        TroubleKind::Login => {
            "Log the agent in, or hand its key on with `--agent-env NAME`, then retry"
        }
        TroubleKind::Credit => "Add credit to the agent's account, or name another agent",
        TroubleKind::RateLimit => "Retry when the agent's service takes calls again",
        TroubleKind::TooLong => "Send less with `--max-level`, or name an agent that reads more",
        TroubleKind::Crash => {
            "Run the agent's command by hand: what it wrote is in the run's folder"
        }
    }
}

fn advice(kind: FailureKind) -> Option<&'static str> {
    Some(match kind {
        FailureKind::MissingEnvVar => {
            "Set the variable that the log names; `.env.example` may say what it means"
        }
        FailureKind::CommandNotFound => "Install the command or correct its name",
        FailureKind::PermissionDenied => "Check file permissions",
        FailureKind::DependencyError => "Run your package installer, then retry",
        FailureKind::ConnectionRefused => "Start the service that the commands connect to",
        FailureKind::AuthFailed => "Renew the credentials that the commands use",
        FailureKind::NetworkError => "Check the network, then retry",
        FailureKind::PortInUse => "End what holds the port, or choose another",
        FailureKind::DiskFull => "Make room on the disk",
        FailureKind::OutOfMemory => "Give the commands more memory, or run fewer at a time",
        _ => return None,
    })
}

// Twice the time after progress, smaller parts without.
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
        Retry::MoreContext => NEXT_LEVEL.to_owned(),
        Retry::FixedEnvironment => "Retry after the environment is mended".to_owned(),
        Retry::RemainingWork => "Retry with the work that is left".to_owned(),
        Retry::Never => "State the task anew".to_owned(),
    }
}

fn usage(result: &RunResult, attempts: &[AttemptResult]) -> BTreeMap<String, u32> {
    let mut usage: BTreeMap<String, u32> = BTreeMap::new();
    let mut add = |tool: &str, times: usize| {
        if times > 0 {
            let times = u32::try_from(times).unwrap_or(u32::MAX);
            *usage.entry(tool.to_owned()).or_insert(0) += times;
        }
    };
    for attempt in attempts {
        add(tool(attempt), 1);
        add("judge", usize::from(attempt.patch_digest.is_some()));
    }
    add("test", result.command_runs.len());
    usage
}

// In the order in which an attempt uses them: who makes the change, the judge, the commands.
fn last_tool(result: &RunResult, attempts: &[AttemptResult]) -> Option<&'static str> {
    let of_attempt = |attempt: &AttemptResult| {
        let ended = |it: &TestResult| !it.timed_out;
        let answered = !matches!(
            attempt.stop_reason,
            StopReason::AgentError | StopReason::AgentTimeout | StopReason::Interrupted
        );
        if attempt.test_result.as_ref().is_some_and(ended) {
            Some("test")
        } else if !attempt.files_modified.is_empty() {
            Some("judge")
        } else {
            answered.then(|| tool(attempt))
        }
    };
    let before = result.failure.as_ref().is_some_and(|first| {
        !first.test_result.timed_out && first.kind != FailureKind::CommandNotFound
    });
    let tried = attempts.iter().rev().find_map(of_attempt);
    tried.or(before.then_some("test"))
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
        assert_eq!(how(Retry::LongerTimeout, &[]), "Retry with timeout=600s");
        assert!(how(Retry::Decompose, &[]).starts_with("Split"));
        assert_eq!(how(Retry::Never, &[]), "State the task anew");
    }
}
