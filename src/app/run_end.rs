//! Describes how a command ended, and what to do when it never started.

use std::path::Path;

use super::AppError;
use crate::exec::{CommandLine, End, Job, Outcome, SandboxState};
use crate::inventory::missing_program;
use crate::model::{Code, Diagnosis, Exit, FailureKind, RemedySource, RunSummary};
use crate::report::kept_summary;

/// Describes a run that did not pass, with the exit code.
pub(super) fn describe_failure(
    name: &str,
    diagnosis: Option<&Diagnosis>,
    outcome: &Outcome,
    job: &Job,
) -> AppError {
    let (code, what, exit) = match outcome.end {
        End::NotFound | End::NotExecutable => {
            let error = AppError::new(Code::R206, format!("`{name}`: {}", outcome.end));
            let hint = not_started(name, outcome.end == End::NotExecutable);
            return error.exit(Exit::Environment).hint(hint);
        }
        end @ End::Signal(_) => (Code::R201, format!("killed by {end}"), Exit::No),
        End::TimedOut => (
            Code::R203,
            "was ended by the time limit".to_owned(),
            Exit::TimedOut,
        ),
        End::OutputLimit => {
            let what = format!("was ended by {} bytes of output", outcome.output.bytes);
            (Code::R201, what, Exit::No)
        }
        End::Interrupted => (Code::R208, "was interrupted".to_owned(), Exit::Interrupted),
        end if end.is_missing_command() && is_own(&job.command, diagnosis) => {
            (Code::R201, format!("failed with {end}"), Exit::Environment)
        }
        end => (Code::R201, format!("failed with {end}"), Exit::No),
    };
    let seconds = outcome.duration.as_secs_f64();
    let message = format!("`{name}` {what} after {seconds:.1} s");
    let mut error = AppError::new(code, message).exit(exit);
    let Some(diagnosis) = diagnosis else {
        return error;
    };
    let needs_person = exit == Exit::No && diagnosis.requires_user_action;
    let is_quoted = diagnosis.remedy_source == RemedySource::Tool;
    // Tests that are listed, and the tool's own remedy, say it better.
    if needs_person || diagnosis.tests.is_empty() && !is_quoted {
        error = error.hint(format!("{}: {}", diagnosis.kind, diagnosis.explanation));
    }
    if needs_person {
        error = error.exit(Exit::PersonMustAct);
    }
    if needs_person || is_quoted {
        error = error.hint(diagnosis.suggested_fix.clone());
    }
    let hints = sandbox_hints(diagnosis, outcome, job).into_iter();
    hints.fold(error, AppError::hint)
}

// Whether a program that was not found is in the command itself, and not in a script that it started.
fn is_own(command: &CommandLine, diagnosis: Option<&Diagnosis>) -> bool {
    let line = command.to_string();
    let mut evidence = diagnosis.iter().flat_map(|diagnosis| &diagnosis.evidence);
    let missing = evidence.find_map(|line| missing_program(&line.text));
    missing.is_none_or(|name| line.split_whitespace().any(|word| word == name))
}

/// Returns a hint for a command that never started.
pub(super) fn not_started(command: &str, is_there: bool) -> String {
    let program = command.split_whitespace().next().unwrap_or_default();
    let path = Path::new(program);
    if is_there {
        let is_python = path.extension() == Some("py".as_ref());
        let with = if is_python { "python3" } else { "sh" };
        format!("`mendit run {with} {command}`, or `chmod +x {program}`")
    } else if path.is_dir() {
        format!("`{program}` is a directory: name a command, such as `mendit run pytest {program}`")
    } else if path.is_file() {
        format!("a command is expected: `./{program}` when the file is one")
    } else {
        "check its spelling, install it, or activate the environment that holds it; `mendit doctor` says what is missing"
            .to_owned()
    }
}

// What the sandbox may have to do with the failure.
fn sandbox_hints(diagnosis: &Diagnosis, outcome: &Outcome, job: &Job) -> Vec<String> {
    let code = Code::R212;
    let is_confined = outcome.sandbox != SandboxState::None;
    let is_denied = diagnosis.kind == FailureKind::PermissionDenied && is_confined;
    if outcome.refused.is_empty() && is_denied {
        let what = if job.sandbox.no_network {
            "leave out `--no-net` when it needs the network, loopback included"
        } else {
            "`--allow-write PATH` permits a path, `--sandbox off` all"
        };
        return vec![format!("{code}: it ran in the sandbox; {what}")];
    }
    let refused = outcome.refused.iter().map(|path| path.display());
    let hint =
        |path| format!("{code}: mendit's sandbox refused writing {path}; --allow-write {path}");
    refused.map(hint).collect()
}

/// The output of a command. When there is none, how it ended is all there is to go by.
pub(super) fn log_or_end(outcome: &Outcome, command: &str) -> String {
    let text = outcome.output.text();
    match outcome.end {
        End::NotFound => format!("{command}: command not found\n"),
        End::NotExecutable => format!("{command}: cannot execute: Permission denied\n"),
        end if text.trim().is_empty() => format!("`{command}` wrote nothing and ended by {end}\n"),
        _ => text,
    }
}

/// Lines of output that is not understood, and how long each may be.
const MAX_OUTPUT_LINES: usize = 20;
const MAX_OUTPUT_LINE: usize = 160;

/// Writes what an agent needs of a failed command: the failures, candidate fixes, the culprit; where nothing is
/// understood, the end of the output.
pub(super) fn brief_text(summary: &RunSummary, end: &str, log: &str) -> String {
    let failures = kept_summary(summary, false, false);
    let (kind, explanation) = (summary.kind, &summary.explanation);
    let mut text = format!("{end}\n{kind}: {explanation}\n{failures}");
    if summary.failures.is_empty() || kind == FailureKind::Unknown {
        text.push_str("the end of its output:\n");
        let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
        let first = lines.len().saturating_sub(MAX_OUTPUT_LINES);
        for line in lines.iter().skip(first) {
            text.extend(line.chars().take(MAX_OUTPUT_LINE).chain(['\n']));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::is_own;
    use crate::diagnose::{LogFacts, diagnose};
    use crate::exec::CommandLine;

    #[test]
    fn program_missing_in_script_is_not_the_commands_own() {
        let log = "> test\n> vitst run\n\nsh: 1: vitst: not found\n";
        let diagnosis = diagnose(log, &LogFacts::default(), None);
        for (line, own) in [
            ("npm test", false),
            ("vitst run", true),
            ("cd a && vitst", true),
        ] {
            let command = CommandLine::Shell(line.to_owned());
            assert_eq!(is_own(&command, Some(&diagnosis)), own, "{line}");
            assert!(is_own(&command, None));
        }
    }
}
