use super::answer::Answer;
use super::{HealError, Probe};
use crate::diagnose::LogFacts;
use crate::exec::{self, CommandLine, Discard, End, Environment, Job, Limits, Stop};
use crate::model::FailureKind;

/// Runs a command. It answers when it passes, and also when it fails for a reason that lies in the
/// code: a repair can start from there.
pub(super) fn try_command(
    line: &str,
    probe: &Probe,
    place: &Job,
    environment: &[String],
    stop: &Stop,
) -> Result<Answer, HealError> {
    let job = Job {
        environment: Environment {
            allow: environment.to_vec(),
            ..Environment::default()
        },
        limits: Limits {
            timeout: Some(probe.timeout),
            ..Limits::default()
        },
        command: CommandLine::Shell(line.to_owned()),
        ..place.clone()
    };
    let outcome = exec::run(&job, stop, &mut Discard)?;
    let seconds = probe.timeout.as_secs_f64();
    let message = match outcome.end {
        End::Exit(0) => "Passed.".to_owned(),
        End::TimedOut(_) => format!("the command timed out after {seconds}s"),
        end => format!("it ended with {end}"),
    };
    Ok(Answer {
        answered: outcome.passed(),
        message,
        log: outcome.output.text(),
        sandbox: Some(outcome.sandbox),
        facts: LogFacts::of(&outcome, line),
        refused: outcome.refused,
        ..Answer::default()
    })
}

/// Whether a failure of this kind lies in the code and not around it.
pub(super) fn is_about_code(kind: FailureKind) -> bool {
    kind.is_in_code()
        || matches!(
            kind,
            FailureKind::TestFailure | FailureKind::SnapshotMismatch
        )
}
