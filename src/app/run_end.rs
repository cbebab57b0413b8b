use std::path::Path;

use super::AppError;
use crate::exec::{CommandLine, End, Job, Outcome, SandboxState};
use crate::inventory::missing_program;
use crate::model::{Code, Diagnosis, Exit, FailureKind};

/// Describes a run that did not pass, with the exit code.
pub(super) fn describe_failure(
    name: &str,
    diagnosis: Option<&Diagnosis>,
    outcome: &Outcome,
    job: &Job,
) -> AppError {
    let seconds = format!("{:.1} s", outcome.duration.as_secs_f64());
    let (code, message, exit) = match outcome.end {
        End::Exit(code) => {
            let is_missing = outcome.end.is_missing_command() && is_own(&job.command, diagnosis);
            let exit = if is_missing {
                Exit::Environment
            } else {
                Exit::No
            };
            let message = format!(" failed with exit code {code} after {seconds}");
            (Code::R201, message, exit)
        }
        End::Signal(_) => {
            let message = format!(" died of {} after {seconds}", outcome.end);
            (Code::R201, message, Exit::No)
        }
        End::TimedOut => {
            let message = format!(" was ended by the time limit after {seconds}");
            (Code::R203, message, Exit::TimedOut)
        }
        End::OutputLimit => {
            let message = format!(" was ended after {} bytes of output", outcome.output.bytes);
            (Code::R201, message, Exit::No)
        }
        End::NotFound | End::NotExecutable => {
            let is_there = outcome.end == End::NotExecutable;
            let what = if is_there {
                "not executable"
            } else {
                "command not found"
            };
            let error = AppError::new(Code::R206, format!("`{name}`: {what}"));
            let error = error.exit(Exit::Environment);
            return error.hint(not_started(name, is_there));
        }
        End::Interrupted => {
            let message = format!(" was interrupted after {seconds}");
            (Code::R208, message, Exit::Interrupted)
        }
    };
    let needs_person =
        exit == Exit::No && diagnosis.is_some_and(|diagnosis| diagnosis.requires_user_action);
    let exit = if needs_person {
        Exit::PersonMustAct
    } else {
        exit
    };
    let mut error = AppError::new(code, format!("`{name}`{message}")).exit(exit);
    let Some(diagnosis) = diagnosis else {
        return error;
    };
    // Tests that are listed say it better.
    if diagnosis.tests.is_empty() || needs_person {
        error = error.hint(format!("{}: {}", diagnosis.kind, diagnosis.explanation));
    }
    if needs_person {
        error = error.hint(diagnosis.suggested_fix.clone());
    }
    let hints = sandbox_hints(diagnosis, outcome, job).into_iter();
    hints.fold(error, AppError::hint)
}

// Whether a program that was not found stands in the command itself, and not in a script that it started.
fn is_own(command: &CommandLine, diagnosis: Option<&Diagnosis>) -> bool {
    let line = command.to_string();
    let mut evidence = diagnosis.iter().flat_map(|diagnosis| &diagnosis.evidence);
    let missing = evidence.find_map(|line| missing_program(&line.text));
    missing.is_none_or(|name| line.split_whitespace().any(|word| word == name))
}

/// What to do about a command that never started.
pub(super) fn not_started(command: &str, is_there: bool) -> String {
    let program = command.split_whitespace().next().unwrap_or_default();
    let path = Path::new(program);
    if is_there {
        let is_python = path.extension() == Some("py".as_ref());
        let with = if is_python { "python3" } else { "sh" };
        return format!("`mendit run {with} {command}`, or `chmod +x {program}`");
    }
    if path.is_dir() {
        return format!(
            "`{program}` is a directory: name a command, such as `mendit run pytest {program}`"
        );
    }
    if path.is_file() {
        return format!("a command is expected: `./{program}` when the file is one");
    }
    "check its spelling, install it, or activate the environment that holds it; `mendit doctor` \
     says what is missing"
        .to_owned()
}

// What the sandbox may have to do with the failure.
fn sandbox_hints(diagnosis: &Diagnosis, outcome: &Outcome, job: &Job) -> Vec<String> {
    let refused = outcome.refused.iter().map(|path| {
        let (code, path) = (Code::R212, path.display());
        format!("{code}: mendit's sandbox refused writing {path}; --allow-write {path}")
    });
    let mut hints: Vec<String> = refused.collect();
    let is_confined = outcome.sandbox != SandboxState::None;
    if diagnosis.kind == FailureKind::PermissionDenied && is_confined && hints.is_empty() {
        let what = if job.sandbox.no_network {
            "leave out `--no-net` when it needs the network, loopback included"
        } else {
            "`--allow-write PATH` opens a place, `--sandbox off` all"
        };
        hints.push(format!("{}: it was confined; {what}", Code::R212));
    }
    hints
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
