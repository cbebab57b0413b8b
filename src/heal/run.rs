//! Starts a probe, corrects its configuration and retries until it answers.

use std::path::PathBuf;

use super::gather::gather_surroundings;
use super::probe::Answer;
use super::{Fix, HealError, History, Probe, Surroundings, Target, choose_fix};
use crate::diagnose::LogFacts;
use crate::exec::{self, CommandLine, Discard, End, Environment, Job, Limits, SandboxState, Stop};
use crate::model::{Diagnosis, FailureKind, HealedProbe, HealingAttempt};
use crate::policy::Redactor;
use crate::source::Listing;

/// How probes are repaired.
pub struct Options<'a> {
    /// Where probes run, and how they are confined; its command is not one of them.
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
    /// Its state.
    pub report: HealedProbe,
    /// The failure of a command that starts, and then fails in the code.
    pub in_code: Option<Diagnosis>,
    /// The fixes that were tried.
    pub attempts: Vec<HealingAttempt>,
    /// How far it was confined at the end; `None` when no program was run.
    pub sandbox: Option<SandboxState>,
    /// What the sandbox refused to be written.
    pub refused: Vec<PathBuf>,
}

/// Starts a probe, and while it does not answer, changes a copy of its configuration and starts it
/// again, at most [`Options::max_attempts`] times. Stops early when it answers, when a person must act,
/// and on a stop signal.
///
/// # Errors
/// A [`HealError`] when nothing could be started at all.
pub fn heal(probe: Probe, options: &Options<'_>) -> Result<Healed, HealError> {
    let mut healing = Healing {
        surroundings: gather_surroundings(&options.directory, &probe),
        current: probe,
        earlier: Vec::new(),
        attempts: Vec::new(),
    };
    let (mut sandbox, mut refused) = (None, Vec::new());
    loop {
        let mut answer = start_server(&healing.current, options)?;
        sandbox = answer.sandbox.or(sandbox);
        refused.append(&mut answer.refused);
        let (diagnosis, in_code) = match diagnose_answer(&healing.current, &mut answer, options) {
            found if answer.answered => (None, found),
            found => (found, None),
        };
        let message = summarize_answer(&answer, diagnosis.as_ref(), options.redactor);
        if let Some(last) = healing.attempts.last_mut() {
            last.result.clone_from(&message);
        }
        let failed = diagnosis.as_ref().filter(|_| !options.stop.requested());
        let advice = failed.map(|failed| healing.try_fix(failed, &answer, options));
        if matches!(advice, Some(None)) {
            continue;
        }
        let first = healing.earlier.into_iter().next().map(|(first, _)| first);
        let changed = answer.answered
            && first.as_ref().is_some_and(|first| first.target != healing.current.target);
        // What never answered is no better than what was given.
        let probe = first.filter(|_| !answer.answered).unwrap_or(healing.current);
        let report = HealedProbe {
            name: probe.name.clone(),
            fixed: answer.answered,
            message,
            tools: answer.tools,
            changed,
            diagnosis,
            user_action_needed: advice.flatten(),
        };
        return Ok(Healed {
            probe,
            report,
            in_code,
            attempts: healing.attempts,
            sandbox,
            refused,
        });
    }
}

// A probe, and what was tried so that it answers.
struct Healing {
    surroundings: Surroundings,
    current: Probe,
    earlier: Vec<(Probe, Diagnosis)>,
    attempts: Vec<HealingAttempt>,
}

impl Healing {
    // Changes the configuration; where nothing is left to change, says what a person can do.
    fn try_fix(
        &mut self,
        diagnosis: &Diagnosis,
        answer: &Answer,
        options: &Options<'_>,
    ) -> Option<String> {
        let fix = choose_fix(
            diagnosis,
            &History {
                current: &self.current,
                earlier: &self.earlier,
                surroundings: &self.surroundings,
                tail: &answer.tail(options.redactor),
            },
        );
        let tried = self.attempts.len() as u32;
        let mut attempt = HealingAttempt {
            probe: self.current.name.clone(),
            attempt_number: tried + 1,
            diagnosis: diagnosis.clone(),
            fix_applied: None,
            result: String::new(),
        };
        match fix {
            Fix::Change { does, probe } if tried < options.max_attempts => {
                attempt.fix_applied = Some(does);
                self.attempts.push(attempt);
                let before = std::mem::replace(&mut self.current, probe);
                self.earlier.push((before, diagnosis.clone()));
                None
            }
            Fix::Change { .. } => {
                let advice = &diagnosis.suggested_fix;
                Some(format!("Gave up after {tried} attempts. {advice}"))
            }
            Fix::Person(advice) => {
                attempt.result = format!("Action required: {advice}");
                let is_listed = tried < options.max_attempts;
                self.attempts.extend(is_listed.then_some(attempt));
                Some(advice)
            }
        }
    }
}

fn start_server(probe: &Probe, options: &Options<'_>) -> Result<Answer, HealError> {
    match &probe.target {
        Target::Command(line) => try_command(line, probe, options),
        #[cfg(feature = "mcp")]
        Target::Server(endpoint) => {
            super::connect::try_server(endpoint, probe, options.job, options.stop)
        }
        #[cfg(not(feature = "mcp"))]
        Target::Server(_) => Err(HealError::NotBuilt("mcp")),
    }
}

// Returns why a probe does not answer. A command that fails for a reason in the code has answered: that is what a
// repair is for.
fn diagnose_answer(probe: &Probe, answer: &mut Answer, options: &Options<'_>) -> Option<Diagnosis> {
    if answer.answered {
        return None;
    }
    let diagnosis = answer.diagnosis(options.redactor, options.listing);
    let kind = diagnosis.kind;
    let is_about_code = kind.is_in_code()
        || matches!(
            kind,
            FailureKind::TestFailure | FailureKind::SnapshotMismatch
        );
    if is_about_code
        && !diagnosis.requires_user_action
        && matches!(probe.target, Target::Command(_))
    {
        answer.answered = true;
        answer.message = format!("starts, then fails ({kind})");
    }
    Some(diagnosis)
}

fn summarize_answer(answer: &Answer, wrong: Option<&Diagnosis>, redactor: &Redactor) -> String {
    let message = redactor.mask(&answer.message);
    match wrong {
        Some(wrong) if wrong.kind != FailureKind::Unknown => format!("{message} ({})", wrong.kind),
        _ => message,
    }
}

fn try_command(line: &str, probe: &Probe, options: &Options<'_>) -> Result<Answer, HealError> {
    let job = Job {
        environment: Environment::with(options.environment.to_vec()),
        limits: Limits::within(probe.timeout),
        command: CommandLine::Shell(line.to_owned()),
        ..options.job.clone()
    };
    let outcome = exec::run(&job, options.stop, &mut Discard)?;
    let seconds = probe.timeout.as_secs_f64();
    let message = match outcome.end {
        End::Exit(0) => "passed".to_owned(),
        End::TimedOut => format!("the command timed out after {seconds}s"),
        end => format!("ended with {end}"),
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
