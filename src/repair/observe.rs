//! Reads what one run of the commands shows: failing tests, names, errors.

use super::journal::{digest, round_millis};
use super::progress::{missing_name, plain};
use crate::exec::{End, Outcome};
use crate::model::{Diagnosis, FailureKind as Kind, Observed, RunFailure, TestResult};

/// Says what one run of the commands shows; `log` is what the diagnosis was made from.
pub fn observe(outcome: &Outcome, diagnosis: &Diagnosis, log: &str) -> Observed {
    let passed = outcome.end == End::Exit(0);
    let mut failing_tests = diagnosis.failing_tests.clone();
    failing_tests.sort();
    failing_tests.dedup();
    let mut errors = run_errors(diagnosis, log);
    // Where it hung.
    let mut own = diagnosis.files.iter().filter(|file| file.in_repository);
    if let (End::TimedOut, Some(hung), Some(first)) = (outcome.end, own.next(), errors.first_mut())
        && first.path.is_none()
    {
        first.path = Some(hung.path.clone());
        first.line = hung.line;
    }
    Observed {
        passed,
        kind: match outcome.end {
            End::TimedOut => Kind::Timeout,
            End::NotFound => Kind::CommandNotFound,
            End::NotExecutable => Kind::PermissionDenied,
            _ => diagnosis.kind,
        },
        subkind: diagnosis.subkind.clone(),
        message: if passed {
            "the test command passes".to_owned()
        } else {
            diagnosis.explanation.clone()
        },
        signature: signature(diagnosis, &failing_tests, &errors),
        failing_tests,
        requires_user_action: diagnosis.requires_user_action,
        undefined_names: diagnosis.undefined_names.clone(),
        errors,
        test_result: test_result(outcome),
    }
}

// A row for each failing test; where no test is named, for each line of evidence.
fn run_errors(diagnosis: &Diagnosis, log: &str) -> Vec<RunFailure> {
    let evidence = diagnosis.evidence.iter().map(|line| line.text.trim());
    // pytest marks lines of an error.
    let evidence = evidence.map(|text| text.strip_prefix("E   ").map_or(text, str::trim_start));
    if diagnosis.failing_tests.is_empty() {
        return evidence
            .map(|error| RunFailure {
                error: error.to_owned(),
                ..RunFailure::default()
            })
            .collect();
    }
    let decisive = evidence.take(1).next();
    let tests = diagnosis.tests.iter().map(|row| {
        let error = match row.message.as_deref() {
            // When a file does not load, node prints a frame of its own first.
            Some(message) if message.starts_with("node:internal/") => decisive,
            None => row.log_line.and_then(|number| {
                let line = log.lines().nth(usize::try_from(number).ok()?.checked_sub(1)?)?;
                Some(line.trim().trim_start_matches("E ").trim())
            }),
            message => message,
        };
        let crash = row.crash_path.as_ref();
        RunFailure {
            test: row.id.clone(),
            error: error.unwrap_or_default().to_owned(),
            path: crash.or(row.path.as_ref()).cloned(),
            line: crash.map_or(row.line, |_| row.crash_line),
            ..RunFailure::default()
        }
    });
    tests.collect()
}

/// How the command ended, in numbers and in words.
pub fn test_result(outcome: &Outcome) -> TestResult {
    let (exit, signal) = match outcome.end {
        End::Exit(code) => (Some(code), None),
        End::Signal(signal) => (None, Some(signal)),
        _ => (None, None),
    };
    TestResult {
        exit,
        signal,
        timed_out: outcome.end == End::TimedOut,
        leaked: outcome.leaked,
        duration_seconds: round_millis(outcome.duration.as_secs_f64()),
        message: match exit {
            // What a POSIX shell says of a command that is not there.
            Some(127) => "exit code 127: command not found".to_owned(),
            _ => outcome.end.to_string(),
        },
    }
}

// Tests and what they failed with identify a failure, numbers aside; without any test, names and evidence do.
fn signature(diagnosis: &Diagnosis, failing_tests: &[String], errors: &[RunFailure]) -> String {
    let names = [
        &diagnosis.undefined_names, &diagnosis.missing_modules, &diagnosis.missing_exports,
    ];
    let names = Some(names).filter(|_| failing_tests.is_empty());
    let errors = errors.iter().map(|row| (plain(&row.error), missing_name(&row.error), row.line));
    let errors: Vec<_> = errors.collect();
    let kind = (diagnosis.kind, &diagnosis.subkind);
    digest(format!("{kind:?} {failing_tests:?} {names:?} {errors:?}").as_bytes())
}
