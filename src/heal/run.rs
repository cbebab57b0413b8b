use super::gather::gather;
use super::probe::Answer;
use super::server::try_server;
use super::{Fix, HealError, History, Probe, Target, next};
use crate::diagnose::LogFacts;
use crate::exec;
use crate::exec::{CommandLine, Discard, End, Environment, Job, Limits, SandboxState, Stop};
use crate::model::{Diagnosis, FailureKind, HealedProbe, HealingAttempt};
use crate::policy::Redactor;
use crate::source::Listing;
use std::path::PathBuf;

/// How probes are healed.
pub struct Options<'a> {
    /// Where probes run, and how they are confined; its command is none of them.
    pub job: &'a Job,
    /// Where the files around them are looked for.
    pub directory: PathBuf,
    /// Fixes to try for each probe.
    pub max_attempts: u32,
    /// More variables for a command, as `NAME` or `NAME=VALUE`.
    pub environment: &'a [String],
    /// Masks secrets in what probes say.
    pub redactor: &'a Redactor,
    /// The files of the repository, for the paths that logs name.
    pub listing: Option<&'a Listing>,
    /// Asked between and during attempts.
    pub stop: &'a Stop,
}

/// A probe after healing.
pub struct Healed {
    /// The configuration that answers, or the last one tried.
    pub probe: Probe,
    /// How it stands.
    pub report: HealedProbe,
    /// The fixes that were tried.
    pub attempts: Vec<HealingAttempt>,
    /// How far it was confined when that was least; `None` when no program was run.
    pub sandbox: Option<SandboxState>,
    /// What the sandbox refused to be written.
    pub refused: Vec<PathBuf>,
}

/// Starts a probe, and while it does not answer, changes a copy of its configuration and starts it
/// again, at most [`Options::max_attempts`] times. Stops early when it answers, when only a
/// person can help, and when it is told to.
///
/// # Errors
/// A [`HealError`] when nothing could be started at all.
pub fn heal(probe: Probe, options: &Options<'_>) -> Result<Healed, HealError> {
    let surroundings = gather(&options.directory, &probe);
    let first = probe.clone();
    let mut current = probe;
    let mut earlier: Vec<(Probe, Diagnosis)> = Vec::new();
    let mut attempts: Vec<HealingAttempt> = Vec::new();
    let mut action = None;
    let (mut sandbox, mut refused) = (None, Vec::new());
    let (answer, wrong) = loop {
        let mut answer = start(&current, options)?;
        sandbox = weaker(sandbox, answer.sandbox);
        refused.append(&mut answer.refused);
        let wrong = (!answer.answered).then(|| answer.diagnosis(options.redactor, options.listing));
        let wrong = wrong.filter(|it| !passes_as_answer(&current, it, &mut answer));
        if let Some(last) = attempts.last_mut() {
            last.result = summary(&answer, wrong.as_ref(), options.redactor);
        }
        let Some(diagnosis) = wrong else {
            break (answer, None);
        };
        if options.stop.requested() {
            break (answer, Some(diagnosis));
        }
        let history = History {
            current: &current,
            earlier: &earlier,
            surroundings: &surroundings,
            tail: &answer.tail(options.redactor),
        };
        let fix = next(&diagnosis, &history);
        let number = attempts.len() as u32 + 1;
        let mut attempt = HealingAttempt {
            probe: current.name.clone(),
            attempt_number: number,
            diagnosis: diagnosis.clone(),
            fix_applied: None,
            result: String::new(),
        };
        match fix {
            Fix::Change { does, probe } if number <= options.max_attempts => {
                attempt.fix_applied = Some(does);
                attempts.push(attempt);
                earlier.push((std::mem::replace(&mut current, probe), diagnosis));
            }
            Fix::Change { .. } => {
                action = Some(format!(
                    "Gave up after {} attempts. {}",
                    attempts.len(),
                    diagnosis.suggested_fix
                ));
                break (answer, Some(diagnosis));
            }
            Fix::Person { advice, command } => {
                let command = command.map_or(String::new(), |command| format!(" (`{command}`)"));
                let advice = advice + &command;
                attempt.result = format!("A person must act: {advice}");
                if number <= options.max_attempts {
                    attempts.push(attempt);
                }
                action = Some(advice);
                break (answer, Some(diagnosis));
            }
        }
    };
    // What never answered is no better than what was given.
    let probe = if answer.answered {
        current
    } else {
        first.clone()
    };
    let report = HealedProbe {
        name: probe.name.clone(),
        transport: probe.transport(),
        fixed: answer.answered,
        message: summary(&answer, wrong.as_ref(), options.redactor),
        tools: answer.tools,
        changed: first.target != probe.target,
        timeout_seconds: probe.timeout.as_secs_f64(),
        diagnosis: wrong,
        user_action_needed: action,
    };
    Ok(Healed {
        probe,
        report,
        attempts,
        sandbox,
        refused,
    })
}

fn weaker(a: Option<SandboxState>, b: Option<SandboxState>) -> Option<SandboxState> {
    let rank = |state: &SandboxState| match state {
        SandboxState::None => 0,
        SandboxState::Partial => 1,
        SandboxState::Enforced => 2,
    };
    a.into_iter().chain(b).min_by_key(rank)
}

fn start(probe: &Probe, options: &Options<'_>) -> Result<Answer, HealError> {
    match &probe.target {
        Target::Command(line) => {
            try_command(line, probe, options.job, options.environment, options.stop)
        }
        Target::Server(endpoint) => try_server(endpoint, probe, options.job, options.stop),
    }
}

// A command that fails for a reason in the code has answered: that is what a repair is for.
fn passes_as_answer(probe: &Probe, wrong: &Diagnosis, answer: &mut Answer) -> bool {
    let passes = matches!(probe.target, Target::Command(_)) && is_about_code(wrong.kind);
    if passes {
        answer.answered = true;
        answer.message = format!("Runs, and fails in the code: {}.", wrong.kind);
    }
    passes
}

fn summary(answer: &Answer, wrong: Option<&Diagnosis>, redactor: &Redactor) -> String {
    let message = redactor.redact(&answer.message).text.into_owned();
    match wrong {
        Some(wrong) if wrong.kind != FailureKind::Unknown => format!("{}: {message}", wrong.kind),
        _ => message,
    }
}

/// Runs a command. It answers when it passes, and also when it fails for a reason that lies in the
/// code: a repair can start from there.
fn try_command(
    line: &str,
    probe: &Probe,
    place: &Job,
    environment: &[String],
    stop: &Stop,
) -> Result<Answer, HealError> {
    let job = Job {
        environment: Environment::with(environment.to_vec()),
        limits: Limits::within(probe.timeout),
        command: CommandLine::Shell(line.to_owned()),
        ..place.clone()
    };
    let outcome = exec::run(&job, stop, &mut Discard)?;
    let seconds = probe.timeout.as_secs_f64();
    let message = match outcome.end {
        End::Exit(0) => "Passed.".to_owned(),
        End::TimedOut => format!("the command timed out after {seconds}s"),
        end => format!("it ended with {end}"),
    };
    Ok(Answer {
        answered: outcome.passed(),
        message,
        log: outcome.output.text(),
        sandbox: Some(outcome.sandbox),
        facts: LogFacts::new(&outcome, line),
        refused: outcome.refused,
        ..Answer::default()
    })
}

/// Whether a failure of this kind lies in the code and not around it.
fn is_about_code(kind: FailureKind) -> bool {
    kind.is_in_code()
        || matches!(
            kind,
            FailureKind::TestFailure | FailureKind::SnapshotMismatch
        )
}
