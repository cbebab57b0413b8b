//! Writes the failure report of a run and its suggestions.

use std::collections::BTreeSet;

use super::limits::TIME_UP;
use super::plan::longer_timeout;
use crate::agent::in_words;
use crate::diagnose::{NEXT_LEVEL, REVIEW, suggested_actions, words};
use crate::model::{
    AttemptResult, Category, ChildFailure, Level, Observed, RunResult, RunStatus, SCHEMA_VERSION,
    StopReason, TroubleKind,
};
use crate::policy::Redactor;

/// Returns the failure report of a run that did not succeed, from what happened alone; `remedies` are what a person
/// types to fix the environment.
pub fn child_failure(
    result: &RunResult,
    attempts: &[AttemptResult],
    remedies: &[String],
    redactor: &Redactor,
) -> ChildFailure {
    let category = result.category.unwrap_or(Category::Partial);
    let mut steps: Vec<String> = Vec::new();
    for attempt in attempts {
        steps.extend(attempt.completed_steps.iter().map(|text| redactor.mask(text)));
        steps.extend(attempt.kept.then(|| redactor.mask(&attempt.message)));
    }
    let mut actions = list_actions(result, category, attempts, remedies);
    let mut seen = BTreeSet::new();
    actions.retain(|action| seen.insert(action.clone()));
    let is_retryable = category != Category::InvalidTask;
    ChildFailure {
        schema_version: SCHEMA_VERSION,
        document: "report".to_owned(),
        category,
        message: result.message.clone(),
        session_id: format!("child-{}", result.run_id),
        task_id: result.task_id.clone(),
        issue: result.issue.clone(),
        duration: result.duration_seconds,
        completed_steps: steps,
        files_modified: result.files_modified.clone(),
        blocked_on: find_blocker(result, attempts.last()).as_ref().map(|text| redactor.mask(text)),
        retryable: is_retryable,
        suggested_actions: actions.iter().map(|text| redactor.mask(text)).collect(),
    }
}

// What this very failure asks for, then the advice of its category.
fn list_actions(
    result: &RunResult,
    category: Category,
    attempts: &[AttemptResult],
    remedies: &[String],
) -> Vec<String> {
    if result.stop_reason == StopReason::WorktreeChanged {
        return vec!["Start again; `--workplace copy` lets you edit during the run".to_owned()];
    }
    let refused = result.workplace.refused.iter().map(|refused| {
        let flag = ["--allow-write", "--agent-write"][usize::from(refused.agent)];
        let path = &refused.path;
        format!("mendit's sandbox refused writing {path}: `{flag} {path}` allows it")
    });
    let mut actions: Vec<String> = refused.chain(remedies.iter().cloned()).collect();
    let failure = last_failure(result);
    // The search for the culprit, where the code fails and no change is known that broke it.
    let is_code = failure.is_some_and(|f| !f.requires_user_action && !f.kind.is_around_code());
    let search = (is_code && result.cause.is_none())
        .then(|| "mendit why  (finds the change that broke it)".to_owned());
    let left_to_agent = result.agent_calls == 0
        && result.children.is_empty()
        && result.stop_reason == StopReason::StillFailing;
    if left_to_agent {
        actions.extend(search.clone());
        actions.extend([
            "Use an agent: `mendit fix --agent claude`".to_owned(),
            "Or fix it by hand: `mendit context` lists the relevant files".to_owned(),
        ]);
    }
    actions.extend(by_end(result, attempts));
    if category == Category::Timeout {
        actions.push(how_to_retry(attempts));
    }
    if !left_to_agent && remedies.is_empty() {
        let around = failure.filter(|failure| failure.kind.is_around_code());
        let fix = around.map(|failure| words(failure.kind, failure.subkind.as_ref()).1);
        actions.extend(fix.map(str::to_owned));
        let is_begun = !result.files_modified.is_empty();
        let mut rows = suggested_actions(category).to_vec();
        rows.retain(|action| match *action {
            NEXT_LEVEL => result.agent_calls > 0 && result.level < Level::Requested,
            REVIEW => is_begun,
            _ => true,
        });
        if category == Category::Partial && !is_begun {
            rows = vec![
                "See what was tried: `mendit report`",
                "Describe what is wanted: `--task FILE`",
            ];
        }
        actions.extend(rows.iter().map(|action| (*action).to_owned()));
    }
    actions.extend(search);
    actions
}

// What fails with the changes that were kept.
fn last_failure(result: &RunResult) -> Option<&Observed> {
    result.remaining.as_ref().or(result.failure.as_ref())
}

// By how the run ended.
fn by_end(result: &RunResult, attempts: &[AttemptResult]) -> Option<String> {
    if let Some(trouble) = &result.agent_trouble {
        let relief = match trouble.kind {
            TroubleKind::Login => {
                "Log the agent in, or pass its key with `--agent-env NAME`, then retry"
            }
            TroubleKind::Credit => "Add credit to the agent's account, or name another agent",
            TroubleKind::RateLimit => "Retry when the agent's rate limit has reset",
            TroubleKind::TooLong => {
                "Send less with `--max-level`, or name an agent with a larger context"
            }
            TroubleKind::Crash => {
                "Run the agent's command by hand; its output is in the run's folder"
            }
        };
        return Some(relief.to_owned());
    }
    Some(match result.stop_reason {
        StopReason::WorkplaceUnused => {
            "Make the tests use the worktree's own files: install the project in editable mode, or in the isolated copy with `--setup CMD`"
                .to_owned()
        }
        StopReason::PolicyRejected => {
            let mut messages = attempts.iter().rev().map(|attempt| &attempt.message);
            let path = messages.find_map(|message| message.split_once("--allow-protected "))?.1.split([' ', '`']).next()?;
            format!(
                "If `{path}` should change, allow it: `--allow-protected {path}`; otherwise state in the task that it must not"
            )
        }
        StopReason::CommandTimeout => {
            let took = result.test_result.as_ref();
            let seconds = longer_timeout(took.map_or(60.0, |took| took.duration_seconds));
            format!("Allow the tests more time: `--test-timeout {seconds:.0}`")
        }
        StopReason::BudgetExhausted if result.message.contains(TIME_UP) => {
            let seconds = (result.duration_seconds * 2.0).ceil();
            format!("Allow the whole run more time: `--budget-seconds {seconds}`")
        }
        _ if result.status == RunStatus::Unproven => {
            let proof = result.proof.as_ref();
            let is_counted = proof.is_some_and(|proof| proof.decisive.after.is_some());
            let advice = [
                "Use a test reporter that prints a summary, so that a fix can be proven",
                "Review what is missing from the proof; if the change is right, apply it by hand",
            ];
            advice[usize::from(is_counted)].to_owned()
        }
        _ => return None,
    })
}

// Twice the time after progress, smaller parts without.
fn how_to_retry(attempts: &[AttemptResult]) -> String {
    if !attempts.iter().any(|attempt| attempt.agent_reacted || attempt.kept) {
        return "Split the task and retry its parts".to_owned();
    }
    let longest = attempts.iter().map(|attempt| attempt.agent_timeout_seconds).fold(0.0, f64::max);
    let base = if longest > 0.0 { longest } else { 300.0 };
    format!("Retry with timeout={:.0}s", base * 2.0)
}

// What is in the way now: the agent's own trouble, then what fails with the kept changes.
fn find_blocker(result: &RunResult, last: Option<&AttemptResult>) -> Option<String> {
    if let Some(trouble) = &result.agent_trouble {
        let line = trouble.last_lines.last().unwrap_or(&trouble.end).trim();
        return Some(format!("{}: {line}", in_words(trouble.kind)));
    }
    let failure = last_failure(result)?;
    Some(match last {
        Some(last) if !last.requested_files.is_empty() => {
            format!("files: {}", last.requested_files.join(", "))
        }
        Some(last) if last.stop_reason == StopReason::AgentTimeout => {
            "the agent's time limit".to_owned()
        }
        _ if result.stop_reason == StopReason::CommandTimeout => {
            "the time limit of the test command".to_owned()
        }
        _ if !failure.undefined_names.is_empty() => {
            format!("undefined: {}", failure.undefined_names.join(", "))
        }
        _ if !failure.failing_tests.is_empty() => failure.failing_tests.join(", "),
        _ => failure.message.clone(),
    })
}
