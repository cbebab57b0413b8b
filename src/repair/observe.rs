use sha2::{Digest, Sha256};

use super::progress::{missing, plain};
use crate::exec::{End, Outcome};
use crate::model::{Diagnosis, FailureKind as Kind, Observed, RunFailure, TestResult, hex};

/// What one run of the commands says; `log` is what the diagnosis was made from.
#[must_use]
pub fn observe(outcome: &Outcome, diagnosis: &Diagnosis, log: &str) -> Observed {
    let passed = outcome.end == End::Exit(0);
    let mut observed = observe_log(diagnosis, log);
    let mut own = diagnosis.files.iter().filter(|it| it.in_repository);
    if let (End::TimedOut, Some(hung), [first, ..]) =
        (outcome.end, own.next(), observed.errors.as_mut_slice())
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
            _ => observed.kind,
        },
        message: if passed {
            "the commands pass".to_owned()
        } else {
            observed.message
        },
        test_result: test_result(outcome),
        ..observed
    }
}

/// What a log says of which nothing else is known.
#[must_use]
pub(super) fn observe_log(diagnosis: &Diagnosis, log: &str) -> Observed {
    let mut failing_tests = diagnosis.failing_tests.clone();
    failing_tests.sort();
    failing_tests.dedup();
    let errors = errors(diagnosis, log);
    Observed {
        passed: false,
        kind: diagnosis.kind,
        subkind: diagnosis.subkind.clone(),
        message: diagnosis.explanation.clone(),
        signature: signature(diagnosis, &failing_tests, &errors),
        failing_tests,
        requires_user_action: diagnosis.requires_user_action,
        undefined_names: diagnosis.undefined_names.clone(),
        errors,
        test_result: TestResult::default(),
    }
}

// A row for each failing test; where no test is named, for each line of evidence.
fn errors(diagnosis: &Diagnosis, log: &str) -> Vec<RunFailure> {
    if diagnosis.failing_tests.is_empty() {
        let evidence = diagnosis.evidence.iter();
        return evidence
            .map(|line| RunFailure {
                error: line.text.trim().to_owned(),
                ..RunFailure::default()
            })
            .collect();
    }
    let lines: Vec<&str> = log.lines().collect();
    let error_at = |number: Option<u64>| {
        let at = usize::try_from(number?).ok()?.checked_sub(1)?;
        let line = lines.get(at)?.trim();
        Some(line.strip_prefix("E ").unwrap_or(line).trim().to_owned())
    };
    // Of a file that did not load node prints its own frame first.
    let own = |message: &String| !message.starts_with("node:internal/");
    let decisive = diagnosis.evidence.first();
    let tests = diagnosis.tests.iter().map(|row| RunFailure {
        test: row.id.clone(),
        error: (row.message.clone().filter(own))
            .or_else(|| Some(decisive?.text.trim().to_owned()).filter(|_| row.message.is_some()))
            .or_else(|| error_at(row.log_line))
            .unwrap_or_default(),
        path: row.crash_path.clone().or_else(|| row.path.clone()),
        line: row.crash_path.as_ref().map_or(row.line, |_| row.crash_line),
        ..RunFailure::default()
    });
    // What other programs failed with.
    let beside = diagnosis.failures.iter().skip(1);
    let beside = beside.filter(|it| diagnosis.evidence.iter().any(|line| line.line == it.line));
    let beside = beside.map(|failure| RunFailure {
        error: error_at(Some(failure.line)).unwrap_or_default(),
        path: failure.path.clone(),
        line: failure.path_line,
        ..RunFailure::default()
    });
    tests.chain(beside).collect()
}

/// How the command ended, in numbers and in words.
#[must_use]
pub(super) fn test_result(outcome: &Outcome) -> TestResult {
    let code = match outcome.end {
        End::Exit(code) => Some(code),
        _ => None,
    };
    TestResult {
        exit: code,
        signal: match outcome.end {
            End::Signal(signal) => Some(signal),
            _ => None,
        },
        timed_out: matches!(outcome.end, End::TimedOut),
        leaked: outcome.leaked,
        duration_seconds: seconds(outcome.duration),
        message: match code {
            // What a POSIX shell says of a command that is not there.
            Some(127) => "exit code 127: command not found".to_owned(),
            _ => outcome.end.to_string(),
        },
    }
}

/// Seconds in steps of a millisecond.
#[must_use]
pub(super) fn seconds(duration: std::time::Duration) -> f64 {
    duration.as_millis() as f64 / 1000.0
}

// Tests and what they failed with identify a failure, numbers aside; without any test, names and
// evidence do.
fn signature(diagnosis: &Diagnosis, failing_tests: &[String], errors: &[RunFailure]) -> String {
    let mut digest = Sha256::new();
    let mut say = |part: &str| {
        digest.update(part.as_bytes());
        digest.update(b"\0");
    };
    say(&diagnosis.kind.to_string());
    let finer = diagnosis.subkind.as_ref().map(ToString::to_string);
    say(&finer.unwrap_or_default());
    for test in failing_tests {
        say(test);
    }
    if failing_tests.is_empty() {
        for names in [
            &diagnosis.undefined_names,
            &diagnosis.missing_modules,
            &diagnosis.missing_exports,
        ] {
            for name in names {
                say(name);
            }
            say("");
        }
    }
    for error in errors {
        say(&plain(&error.error));
        say(&missing(&error.error).unwrap_or_default());
        say(&error.line.map(|line| line.to_string()).unwrap_or_default());
    }
    let bytes: [u8; 32] = digest.finalize().into();
    hex(&bytes)
}
