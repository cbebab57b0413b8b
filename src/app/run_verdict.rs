use super::run_record::Record;
use super::{AppError, Progress};
use crate::exec::{CommandLine, End, Job, Outcome, SandboxState, TimeLimit};
use crate::inventory::missing_program;
use crate::model::{Code, CommandStatus, Diagnosis, Exit, FailureKind};

/// On failure what to say about a run, with its exit code.
pub(super) fn conclude(
    record: &Record,
    outcome: &Outcome,
    job: &Job,
    progress: &dyn Progress,
) -> Option<AppError> {
    let seconds = format!("{:.1} s", outcome.duration.as_secs_f64());
    let name = &record.command;
    let diagnosis = record.diagnosis.as_ref();
    if let End::Exit(0) = outcome.end {
        let at = record.written_to.as_ref();
        let at = at.map_or_else(String::new, |at| at.display().to_string());
        let flaky = format!(
            "{}: `{name}` is flaky: it passed in run {} without any change; the failing run is in {at}",
            Code::R209,
            record.attempts.len(),
        );
        match &record.hidden {
            _ if record.status == CommandStatus::Flaky => progress.note(&flaky),
            Some(hidden) => progress.note(hidden),
            None => {}
        }
        return None;
    }
    let own = || outcome.end.is_missing_command() && is_own(&job.command, diagnosis);
    let (code, message, exit) = match outcome.end {
        End::Exit(code) => (
            Code::R201,
            format!(" failed with exit code {code} after {seconds}"),
            if own() { Exit::Environment } else { Exit::No },
        ),
        End::Signal(_) => {
            let message = format!(" died of {} after {seconds}", outcome.end);
            (Code::R201, message, Exit::No)
        }
        End::TimedOut(TimeLimit::Total) => {
            let message = format!(" was ended by the time limit after {seconds}");
            (Code::R203, message, Exit::TimedOut)
        }
        End::TimedOut(TimeLimit::Idle) => {
            let message = format!(" was ended after too long without output, at {seconds}");
            (Code::R203, message, Exit::TimedOut)
        }
        End::OutputLimit => {
            let message = format!(" was ended after {} bytes of output", outcome.output.bytes);
            (Code::R201, message, Exit::No)
        }
        End::NotFound => (
            Code::R206,
            ": command not found".to_owned(),
            Exit::Environment,
        ),
        End::NotExecutable => (Code::R206, ": not executable".to_owned(), Exit::Environment),
        End::Interrupted => {
            let message = format!(" was interrupted after {seconds}");
            (Code::R208, message, Exit::Interrupted)
        }
    };
    let message = format!("`{name}`{message}");
    let person = exit == Exit::No && diagnosis.is_some_and(|it| it.requires_user_action);
    let exit = if person { Exit::PersonMustAct } else { exit };
    let mut error = AppError::new(code, message).exit(exit);
    if let End::NotFound | End::NotExecutable = outcome.end {
        return Some(error.hint(not_started(name, outcome.end == End::NotExecutable)));
    }
    if let Some(diagnosis) = diagnosis {
        // Tests that are listed say it better.
        if diagnosis.tests.is_empty() || person {
            error = error.hint(format!("{}: {}", diagnosis.kind, diagnosis.explanation));
        }
        if person {
            error = error.hint(diagnosis.suggested_fix.clone());
        }
        for hint in hints(diagnosis, outcome, job) {
            error = error.hint(hint);
        }
    }
    Some(error)
}

// Whether a program that a shell did not find stands in the command, and not in a script that the
// command started.
fn is_own(command: &CommandLine, diagnosis: Option<&Diagnosis>) -> bool {
    let line = command.to_string();
    let evidence = diagnosis.map_or(&[][..], |it| &it.evidence);
    let missing = evidence.iter().find_map(|it| missing_program(&it.text));
    missing.is_none_or(|name| line.split_whitespace().any(|word| word == name))
}

/// What to do about a command that never began.
pub(super) fn not_started(command: &str, is_there: bool) -> String {
    let program = command.split_whitespace().next().unwrap_or_default();
    if is_there {
        let python = std::path::Path::new(program).extension() == Some("py".as_ref());
        let with = if python { "python3" } else { "sh" };
        return format!("`mendit run {with} {command}`, or `chmod +x {program}`");
    }
    if std::path::Path::new(program).is_dir() {
        return format!(
            "`{program}` is a directory: name a command, such as `mendit run pytest {program}`"
        );
    }
    if std::path::Path::new(program).is_file() {
        return format!("a command is expected: `./{program}` when the file is one");
    }
    "check its spelling, install it, or activate the environment that holds it; `mendit doctor` \
     says what is missing"
        .to_owned()
}

// What the way it was run may have to do with it.
fn hints(diagnosis: &Diagnosis, outcome: &Outcome, job: &Job) -> Vec<String> {
    let mut hints = Vec::new();
    let confined = outcome.sandbox != SandboxState::None;
    for path in &outcome.refused {
        hints.push(format!(
            "{}: mendit's sandbox refused writing {1}; --allow-write {1}",
            Code::R212,
            path.display()
        ));
    }
    let named = !outcome.refused.is_empty();
    if diagnosis.kind == FailureKind::PermissionDenied && confined && !named {
        hints.push(format!(
            "{}: it was confined; {}",
            Code::R212,
            if job.sandbox.no_network {
                "leave out `--no-net` when it needs the network, loopback included"
            } else {
                "`--allow-write PATH` opens a place, `--sandbox off` all"
            }
        ));
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::is_own;
    use crate::diagnose::{LogFacts, diagnose};
    use crate::exec::CommandLine;

    #[test]
    fn a_typo_in_a_script_is_none_of_the_commands_own() {
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
