use super::proof_text::proof_rows;
use crate::model::{Observed, RunResult, RunStatus, StopReason};

// Lines of other programs than the tests' runner.
const MOST_LINES: usize = 3;

// The tests that still fail, and the lines that say why the command does.
fn left(remaining: &Observed) -> String {
    let own = remaining.errors.iter().filter(|it| it.test.is_empty());
    let own = own.map(|it| it.error.clone()).filter(|it| !it.is_empty());
    let mut failing = remaining.failing_tests.clone();
    failing.extend(own.take(MOST_LINES));
    if failing.is_empty() {
        failing.push(remaining.message.clone());
    }
    failing.join(", ")
}

/// Formats a fix that the user declined.
#[must_use]
pub fn declined_text(result: &RunResult, folder: &str) -> String {
    let text = run_text(result, folder);
    let rest = text.strip_prefix(status_word(result)).unwrap_or(&text);
    format!("found, not written{rest}")
}

/// Formats the end of a run: its status first, then where to look.
#[must_use]
pub fn run_text(result: &RunResult, folder: &str) -> String {
    let mut rows = failed(result);
    if let Some(trouble) = &result.agent_trouble {
        rows.extend(below("agent", &trouble.last_lines));
    }
    if result.command_runs.len() > 1 {
        let took: f64 = result.command_runs.iter().map(|it| it.seconds).sum();
        let whys = result.command_runs.iter().map(|it| it.why.as_str());
        let whys = whys.collect::<Vec<_>>();
        let summary = format!("{} in {took:.1} s: {}", whys.len(), whys.join("; "));
        rows.push(("runs", summary));
    }
    if result.attempts > 0 {
        let spent = format!(
            "{} in {:.1} s; agent calls: {}; highest level: {}",
            result.attempts, result.duration_seconds, result.agent_calls, result.level
        );
        rows.push(("attempts", spent));
    }
    if let (None, Some(end)) = (&result.failure, &result.test_result) {
        rows.push(("test", end.message.clone()));
    }
    rows.extend(result.proof.iter().flat_map(proof_rows));
    let name = if result.applied { "changed" } else { "changes" };
    rows.push((name, changes(result)));
    rows.extend(below("next", &result.suggested_actions));
    let patch = format!("{folder}/final.patch");
    match (&result.patch_digest, result.applied) {
        (Some(_), true) => rows.push(("applied", patch)),
        (Some(_), false) => {
            rows.push((
                "patch",
                format!("{patch} (`mendit apply` writes it to the worktree)"),
            ));
        }
        (None, _) => {}
    }
    rows.push(("run", folder.to_owned()));
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    let rows = rows.map(|(name, value)| format!("{name:<9}{value}\n"));
    let head = format!("{}: {}\n", status_word(result), result.message);
    head + &rows.collect::<String>()
}

// What failed first, and what is left of it.
fn failed(result: &RunResult) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if let Some(failure) = &result.failure {
        let end = &failure.test_result.message;
        rows.push((
            "failure",
            format!("{} ({end}): {}", failure.kind, failure.message),
        ));
        let mut errors = failure.errors.iter().filter(|it| !it.error.is_empty());
        // What is left otherwise tells it.
        let elsewhere = result.remaining.is_some() || result.status.is_success();
        if let Some(error) = errors.next().filter(|_| !elsewhere) {
            let place = match (&error.path, error.line) {
                (Some(path), Some(line)) => format!("  {path}:{line}"),
                _ => String::new(),
            };
            rows.push(("error", format!("{}{place}", error.error)));
        }
        let cause = result.cause.iter().filter(|_| !elsewhere);
        rows.extend(cause.map(|it| ("cause", it.clone())));
    }
    for (name, id) in [("task", &result.task_id), ("issue", &result.issue)] {
        rows.push((name, id.clone().unwrap_or_default()));
    }
    rows.extend(result.remaining.iter().map(|it| ("left", left(it))));
    rows
}

// The first line beside a name, the others below it.
fn below(name: &'static str, lines: &[String]) -> impl Iterator<Item = (&'static str, String)> {
    let names = std::iter::once(name).chain(std::iter::repeat(""));
    names.zip(lines.iter().cloned())
}

// The files with how many lines come and go in each. A result of an older program counts none.
fn changes(result: &RunResult) -> String {
    if result.file_changes.is_empty() {
        return result.files_modified.join(", ");
    }
    let rows = result.file_changes.iter();
    let changes =
        rows.map(|change| format!("{} +{} -{}", change.path, change.added, change.removed));
    changes.collect::<Vec<_>>().join(", ")
}

/// Returns the status of a run in a word or two.
pub(super) fn status_word(result: &RunResult) -> &'static str {
    match (result.status, result.stop_reason) {
        (RunStatus::Fixed, _) if result.attempts == 0 => "nothing to fix",
        (RunStatus::Fixed, _) => "fixed",
        (RunStatus::Passed, _) => "passed",
        (RunStatus::Unproven, _) => "unproven",
        (_, StopReason::Interrupted) => "interrupted",
        (RunStatus::Failed | RunStatus::Blocked, _) if result.applied => "fixed in part",
        (RunStatus::Blocked, _) => "blocked",
        (RunStatus::Failed, StopReason::Flaky) => "flaky",
        (RunStatus::Failed, _) => "not fixed",
        (RunStatus::Split, _) => "not fixed, split",
        (RunStatus::UserActionRequired, _) => "action required",
        (RunStatus::InvalidTask, _) => "the task cannot be done",
    }
}

#[cfg(test)]
mod tests {
    use super::left;
    use crate::model::{Observed, TestError};

    #[test]
    fn what_is_left_is_a_test_or_a_line_before_it_is_a_kind() {
        let error = "ERROR: file or directory not found: tests/test_a.py".to_owned();
        let mut remaining = Observed {
            message: "A file that is read does not exist.".to_owned(),
            ..Observed::default()
        };
        assert_eq!(left(&remaining), remaining.message);
        remaining.errors.push(TestError {
            error: error.clone(),
            ..TestError::default()
        });
        assert_eq!(left(&remaining), error);
        remaining.failing_tests = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(left(&remaining), format!("a, b, {error}"));
    }
}
