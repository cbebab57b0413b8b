//! Formats the result of `fix`.

use super::page::{Page, Row};
use crate::model::{
    MutationOutcome, Observed, Proof, ProofLevel, RunRecord, RunResult, RunStatus, RunnerProof,
    StopReason, TestEnd,
};

/// Formats a fix that the user declined.
pub fn declined_text(result: &RunResult, folder: &str) -> String {
    run_page("found, not written", result, folder)
}

/// Formats the end of a run: its status first, then where to look.
pub fn run_text(result: &RunResult, folder: &str) -> String {
    run_page(status_word(result), result, folder)
}

fn run_page(status: &str, result: &RunResult, folder: &str) -> String {
    let mut page = Page::default();
    page.title(format!("{status}: {}", result.message), "");
    let mut rows = rows(result);
    if result.status.is_success() {
        // The end of a fix is read at a glance; `mendit report` has the rest.
        rows.retain(|(name, _)| !["failure", "attempts", "runner", "runs"].contains(name));
    }
    if result.patch_digest.is_some() && !result.applied {
        rows.push(("patch", format!("{folder}/final.patch")));
    }
    rows.push(("run", folder.to_owned()));
    page.rows(rows);
    page.text(false)
}

/// Formats a run as Markdown, for the comment under a pull request.
pub fn run_markdown(run: &RunRecord) -> String {
    let mut page = page(run, "mendit: ");
    let last = run.attempts.iter().rev().find(|attempt| !attempt.log.is_empty());
    if run.result.patch_digest.is_none() {
        page.folded(
            "End of the log",
            end_of(last.map_or(&run.log, |attempt| &attempt.log)),
        );
    }
    page.markdown()
}

/// Formats a run as an HTML page, with the packet, patch and log of every attempt.
pub fn run_html(run: &RunRecord) -> String {
    let mut page = page(run, "");
    page.folded("End of the first log", &run.log);
    for attempt in &run.attempts {
        let packet = attempt.files.iter().map(|(path, why)| format!("{path}: {why}\n"));
        for (what, text) in [
            ("packet", &packet.collect::<String>()),
            ("patch", &attempt.patch),
            ("feedback", &attempt.feedback),
            ("end of the test log", &attempt.log),
        ] {
            page.folded(&format!("Attempt {}: {what}", attempt.result.attempt), text);
        }
    }
    page.html(&format!(
        "{}: {}",
        status_word(&run.result),
        run.result.run_id
    ))
}

fn page(run: &RunRecord, prefix: &str) -> Page {
    let result = &run.result;
    let mut page = Page::default();
    page.title(
        format!("{prefix}{}", status_word(result)),
        if result.status.is_success() { "good" } else { "bad" },
    );
    page.line(&result.message);
    let commit = run.commit.as_deref().and_then(|commit| commit.get(..12));
    let commit = commit.map_or(String::new(), |commit| format!(" at {commit}"));
    let mut facts = vec![
        ("run", result.run_id.clone()),
        ("worktree", format!("{}{commit}", run.repository)),
        ("commands", run.commands.join("; ")),
        ("agent", run.agent.clone().unwrap_or_default()),
    ];
    facts.extend(rows(result));
    page.rows(facts);
    page.code(&run.evidence.join("\n"));
    let columns = "attempt origin level stopReason packetBytes durationSeconds message";
    let attempts: Vec<_> = run.attempts.iter().map(|attempt| &attempt.result).collect();
    page.records(columns, &attempts);
    page.diff(run.patch.as_deref().unwrap_or_default());
    page
}

fn end_of(log: &str) -> &str {
    // Bounded, because a comment may have at most 65,536 characters on GitHub.
    let from = log.len().saturating_sub(4096);
    &log[log.ceil_char_boundary(from)..]
}

/// Returns the status of a run in a word or two.
fn status_word(result: &RunResult) -> &'static str {
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

// What failed, what it cost, what was changed and why that is a fix.
fn rows(result: &RunResult) -> Vec<Row> {
    let failure = result.failure.as_ref();
    let ended = failure.map(|failure| {
        let end = &failure.test_result.message;
        format!("{} ({end}): {}", failure.kind, failure.message)
    });
    // What is left says it otherwise.
    let is_left = result.remaining.is_some() || result.status.is_success();
    let error = failure.filter(|_| !is_left).map(first_error);
    let passed = result.test_result.as_ref().filter(|_| failure.is_none());
    let cost = result.usage.and_then(|usage| usage.cost_usd);
    let spent = (result.attempts > 0).then(|| {
        let (attempts, seconds) = (result.attempts, result.duration_seconds);
        match result.agent_calls {
            0 => format!("{attempts} in {seconds:.1} s, without an agent"),
            calls => format!("{attempts} in {seconds:.1} s, {calls} by the agent"),
        }
    });
    let trouble = result.agent_trouble.iter();
    let mut rows = Vec::from_iter(
        [
            ("failure", ended),
            ("error", error),
            ("cause", result.cause.clone()),
            ("task", result.task_id.clone()),
            ("issue", result.issue.clone()),
            ("still failing", result.remaining.as_ref().map(left_words)),
            ("attempts", spent),
            ("cost", cost.map(|cost| format!("{cost:.2} USD"))),
            ("test", passed.map(|end| end.message.clone())),
        ]
        .map(|(name, value)| (name, value.unwrap_or_default())),
    );
    rows.extend(below(
        "agent",
        trouble.flat_map(|trouble| &trouble.last_lines),
    ));
    rows.extend(result.proof.iter().flat_map(proof_rows));
    let name = match result.applied {
        true => "changed",
        false if result.status.is_success() => "changes",
        false => "not applied",
    };
    rows.push((name, change_words(result)));
    rows.extend(below("part", &result.children));
    rows.extend(below("next", &result.suggested_actions));
    rows
}

fn first_error(failure: &Observed) -> String {
    let errors = &failure.errors;
    let Some(error) = errors.iter().find(|error| !error.error.is_empty()) else {
        return String::new();
    };
    let place = match (&error.path, error.line) {
        (Some(path), Some(line)) => format!("  {path}:{line}"),
        _ => String::new(),
    };
    format!("{}{place}", error.error)
}

// The tests that still fail, and the lines that say why the command does.
fn left_words(remaining: &Observed) -> String {
    let errors = remaining.errors.iter();
    let lines = errors.filter(|error| error.test.is_empty() && !error.error.is_empty());
    let lines = lines.map(|error| error.error.clone());
    let mut left = remaining.failing_tests.clone();
    // Lines of programs other than the test runner.
    left.extend(lines.take(3));
    if left.is_empty() {
        left.push(remaining.message.clone());
    }
    left.join(", ")
}

// The first line beside a name, the others below it.
fn below<'a>(
    name: &'static str,
    lines: impl IntoIterator<Item = &'a String>,
) -> impl Iterator<Item = Row> {
    let names = std::iter::once(name).chain(std::iter::repeat(""));
    names.zip(lines.into_iter().cloned())
}

// The files, with the lines that are added and removed.
fn change_words(result: &RunResult) -> String {
    let changes = result.file_changes.iter().map(|change| {
        let (path, added, removed) = (&change.path, change.added, change.removed);
        format!("{path} +{added} -{removed}")
    });
    changes.collect::<Vec<_>>().join(", ")
}

/// Formats the evidence for a passing run.
fn proof_rows(proof: &Proof) -> Vec<Row> {
    let tests = &proof.decisive.tests;
    let passed = tests
        .iter()
        .filter(|test| matches!(test.ended, TestEnd::Passed | TestEnd::Counted))
        .count();
    let mut words = level_words(proof);
    if !tests.is_empty() {
        let skipped = tests.iter().filter(|test| test.ended == TestEnd::Skipped).count();
        let skipped = (skipped > 0).then(|| format!(" ({skipped} skipped)"));
        let skipped = skipped.unwrap_or_default();
        words = format!(
            "{passed} of {} previously failing tests pass{skipped}; {words}",
            tests.len()
        );
    }
    if proof.level == ProofLevel::ExitCode && proof.decisive.runner.is_none() {
        words = runner_words(&proof.decisive, proof);
    }
    let mut rows = vec![("proof", words)];
    let runners = std::iter::once(&proof.decisive).chain(&proof.also);
    let runners = runners.filter(|one| one.runner.is_some());
    rows.extend(runners.map(|one| ("runner", runner_words(one, proof))));
    let (red, green) = (proof.red_runs, proof.green_runs);
    let runs = format!("{red} failed without the fix, {green} passed with it");
    rows.push(("runs", runs));
    if !proof.own_values.is_empty() {
        let values = proof.own_values.join(", ");
        rows.push(("rests on", format!("the test's own values: {values}")));
    }
    rows.extend(below("look at", &proof.suspicions));
    rows.extend(below("missing", &proof.missing));
    rows
}

fn level_words(proof: &Proof) -> String {
    let check = proof.mutation.as_ref();
    match (proof.level, check) {
        (ProofLevel::ExitCode, _) => "exit code only".to_owned(),
        (ProofLevel::Mutation, Some(check)) => {
            let failed = check.count(MutationOutcome::Failed);
            let all = failed + check.count(MutationOutcome::Passed);
            format!("mutation check: the tests fail for {failed} of {all} changed expected values")
        }
        (_, check) => match check.and_then(|check| check.reason.as_ref()) {
            Some(reason) => format!("no mutation check: {reason}"),
            None => "the test runner reports success".to_owned(),
        },
    }
}

fn runner_words(one: &RunnerProof, proof: &Proof) -> String {
    let Some(name) = one.runner else {
        let files = proof.rests_on.join("`, `");
        return match files.as_str() {
            "" => "exit code only: unknown test runner".to_owned(),
            files => format!("exit code only, from `{files}`, which the change touches"),
        };
    };
    let counts = [(": ", one.after), ("; before ", one.before)];
    let counts = counts.map(|(word, counts)| counts.map(|counts| format!("{word}{counts}")));
    let counts: String = counts.into_iter().flatten().collect();
    format!("{name}{counts}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ProvenTest, RunFailure, TestCounts, TestRunner};

    #[test]
    fn log_end_starts_at_character() {
        let log = "ä".repeat(5000);
        let end = end_of(&log);
        assert!(end.len() <= 4096 && end.len() > 4000 && log.ends_with(end));
    }

    #[test]
    fn summary_prefers_tests_to_kind() {
        let error = "ERROR: file or directory not found: tests/test_a.py".to_owned();
        let mut remaining = Observed {
            message: "A file that is read does not exist.".to_owned(),
            ..Observed::default()
        };
        assert_eq!(left_words(&remaining), remaining.message);
        remaining.errors.push(RunFailure {
            error: error.clone(),
            ..RunFailure::default()
        });
        assert_eq!(left_words(&remaining), error);
        remaining.failing_tests = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(left_words(&remaining), format!("a, b, {error}"));
    }

    #[test]
    fn proof_rows_name_counts_runs_and_level() {
        let counts = |passed, failed| {
            Some(TestCounts {
                passed,
                failed,
                ..TestCounts::default()
            })
        };
        let mut proof = Proof {
            decisive: RunnerProof {
                runner: Some(TestRunner::Pytest),
                before: counts(1, 1),
                after: counts(2, 0),
                tests: vec![ProvenTest {
                    id: "t".to_owned(),
                    ended: TestEnd::Passed,
                }],
                ..RunnerProof::default()
            },
            red_runs: 2,
            green_runs: 2,
            missing: vec!["x".to_owned()],
            ..Proof::default()
        };
        let text = |proof: &Proof| {
            let rows = proof_rows(proof).into_iter();
            let rows: Vec<String> = rows.map(|(name, value)| format!("{name}|{value}")).collect();
            rows.join("\n")
        };
        assert_eq!(
            text(&proof),
            "proof|1 of 1 previously failing tests pass; exit code only\n\
             runner|pytest: 2 passed, 0 failed; before 1 passed, 1 failed\n\
             runs|2 failed without the fix, 2 passed with it\nmissing|x"
        );
        proof.decisive = RunnerProof::default();
        proof.missing.clear();
        proof.rests_on = vec!["main.py".to_owned()];
        assert!(text(&proof).starts_with("proof|exit code only, from `main.py`, which"));
    }
}
