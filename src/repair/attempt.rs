//! Makes one attempt: validates a change, runs the tests, decides what to keep.

use super::commands::CommandsRun;
use super::error::RepairError;
use super::history::{History, last_failing};
use super::journal::{digest, round_millis};
use super::limits::TIME_UP;
use super::outcome::{judge_outcome, parses_now};
use super::run::Session;
use super::task::Task;
use crate::fixes::{Candidate, Judging};
use crate::model::{
    AttemptResult, EventKind, FailureKind, Level, Observed, Origin, PatchVerdict, RepoPath,
    RunStatus, Severity, StopReason,
};
use crate::patch::{Change, FileState, Judged, judge};

/// Who proposes a change.
pub(super) enum Proposer<'a> {
    /// The agent.
    Agent(&'a Ask<'a>),
    /// A change that needs no LLM.
    Heal(&'a Candidate),
}

/// One question to the agent.
pub(super) struct Ask<'a> {
    pub(super) level: Level,
    pub(super) requested: Vec<String>,
    pub(super) timeout: f64,
    pub(super) task: Option<&'a Task>,
    /// Tests of this part of a split task; empty for the whole.
    pub(super) focus: &'a [String],
    pub(super) attempts_left: u32,
    pub(super) seconds_left: Option<f64>,
}

/// An attempt while it goes on.
pub(super) struct Attempt<'a> {
    pub(super) folder: String,
    pub(super) result: AttemptResult,
    /// What fails without its change.
    pub(super) before: Option<Observed>,
    /// Tests that decide; empty for all.
    pub(super) focus: &'a [String],
    /// The change that needs no LLM, where that is what is tried.
    pub(super) heal: Option<&'a Candidate>,
    /// How the agent was cut off, where it left edits all the same.
    pub(super) cut_off: Option<(StopReason, String)>,
}

impl Attempt<'_> {
    pub(super) fn end(&mut self, reason: StopReason, message: impl Into<String>) {
        self.result.stop_reason = reason;
        self.result.message = message.into();
    }
}

/// A change laid in, and the run that says what it does.
pub(super) struct Trial {
    pub(super) changes: Vec<Change>,
    pub(super) ran: CommandsRun,
    /// Whether all that failed was counted as passed in a run of them alone.
    pub(super) passed_alone: bool,
}

impl Session<'_> {
    /// Makes one attempt: asks, reads, validates, lays in, runs, proves, keeps or drops.
    pub(super) fn attempt(
        &mut self,
        proposer: &Proposer<'_>,
        history: &History,
    ) -> Result<AttemptResult, RepairError> {
        let number = self.seen.attempts.len() + 1;
        let folder = format!("attempts/{number:02}");
        if let Some(earlier) = self.resume_attempt(&folder)? {
            return Ok(earlier);
        }
        let started = self.stage.journal.seconds();
        let (origin, level, focus, heal) = match proposer {
            Proposer::Agent(ask) => (Origin::Agent, ask.level, ask.focus, None),
            Proposer::Heal(heal) => (Origin::Heal, Level::Targets, &[][..], Some(*heal)),
        };
        let mut attempt = Attempt {
            folder,
            result: AttemptResult::new(number, origin, level),
            before: last_failing(history).cloned(),
            focus,
            heal,
            cut_off: None,
        };
        let patch = match proposer {
            Proposer::Agent(ask) => self.ask_agent(&mut attempt, ask, history)?,
            Proposer::Heal(heal) => Some(self.propose_heal(&mut attempt, heal)?),
        };
        let old_log = self.seen.log.clone();
        if let Some(patch) = patch
            && let Some(changes) = self.validate_patch(&mut attempt, &patch)?
        {
            let states = self.states_before(&changes)?;
            self.stage.place.write(&changes)?;
            let mut trial = self.run_trial(&attempt, changes)?;
            self.judge(&mut attempt, &mut trial)?;
            self.keep_or_drop(&mut attempt, &trial, states)?;
        }
        attempt.result.duration_seconds = round_millis(self.stage.journal.seconds() - started);
        self.finish_attempt(attempt, &old_log)
    }

    fn propose_heal(
        &mut self,
        attempt: &mut Attempt<'_>,
        heal: &Candidate,
    ) -> Result<Vec<u8>, RepairError> {
        let number = attempt.result.attempt;
        attempt.result.certain = heal.certain;
        self.stage.event(EventKind::HealStarted {
            attempt: number,
            what: heal.what.clone(),
        })?;
        if !heal.imports.is_empty() {
            let task = self.stage.task_ids();
            self.stage.event(EventKind::ImportErrorRecovery {
                attempt: number,
                undefined_names: heal.imports.keys().cloned().collect(),
                suggested_imports: heal.imports.clone(),
                task,
            })?;
        }
        Ok(heal.patch.clone())
    }

    /// Validates a patch and writes it and the verdict; `None` where it does not apply.
    fn validate_patch(
        &mut self,
        attempt: &mut Attempt<'_>,
        patch: &[u8],
    ) -> Result<Option<Vec<Change>>, RepairError> {
        let mut judged = self.judge_patch(patch, true)?;
        let applies = judged.verdict.verdict.applies();
        if applies {
            let patch = judged.canonical_patch();
            self.write_patch(attempt, &patch)?;
            let text = String::from_utf8(patch).ok();
            judged.verdict.canonical_patch = text.map(|text| self.asked.redactor.mask(&text));
        } else {
            self.write_patch(attempt, patch)?;
        }
        let preflight = format!("{}/preflight.json", attempt.folder);
        self.stage.journal.write_json(&preflight, &judged.verdict)?;
        if !applies {
            let code = judged.verdict.error_code;
            attempt.result.error_code = code.map(|code| code.to_string());
            let message = refusal_reason(&judged.verdict);
            attempt.end(judged.verdict.stop_reason(), message);
            return Ok(None);
        }
        attempt.result.files_modified = paths_of(&judged.changes);
        Ok(Some(judged.changes))
    }

    pub(super) fn write_patch(
        &mut self,
        attempt: &mut Attempt<'_>,
        patch: &[u8],
    ) -> Result<(), RepairError> {
        attempt.result.patch_digest = Some(digest(patch));
        let name = format!("{}/patch.diff", attempt.folder);
        self.stage.journal.write_masked(&name, patch)
    }

    // A patch that is made again was validated for the failure that it was the answer to.
    pub(super) fn judge_patch(&self, patch: &[u8], is_answer: bool) -> Result<Judged, RepairError> {
        let source = self.stage.place.source()?;
        let diagnosis = self.seen.diagnosis.as_ref().filter(|_| is_answer);
        let lines = self.asked.commands.all();
        let judging = Judging {
            lines: &lines,
            prefix: self.asked.prefix,
            allowed: &self.asked.allowed,
        };
        Ok(judge(patch, &source, &judging.options(&source, diagnosis)))
    }

    // The failing tests alone first, where that is enough to turn a change down; then all the commands.
    fn run_trial(
        &mut self,
        attempt: &Attempt<'_>,
        changes: Vec<Change>,
    ) -> Result<Trial, RepairError> {
        let why = format!("with the change of attempt {}", attempt.result.attempt);
        let mut passed_alone = false;
        let mut whole = self.stage.runs.iter().rev().filter(|run| run.whole);
        // Seconds of a run of everything that a person waits for
        // (nngroup.com/articles/response-times-3-important-limits). Of 13 such runs measured none took more than five
        // times as long as its failing tests alone, and most fixes hold.
        let is_short = whole.next().is_some_and(|run| run.seconds < 10.0);
        let alone = self.seen.alone.clone().filter(|_| attempt.heal.is_none() || !is_short);
        if let (Some(before), Some(line)) = (&attempt.before, alone) {
            let ran = self.stage.run(Some(&line), &why)?;
            let is_turned_down = fails_again(before, &ran.observed)
                && !judge_outcome(attempt, &ran.observed, &changes).is_progress;
            if is_turned_down || unfinished_run(&ran).is_some() {
                return Ok(Trial {
                    changes,
                    ran,
                    passed_alone,
                });
            }
            passed_alone = passes_all(before, &ran);
        }
        Ok(Trial {
            changes,
            ran: self.stage.run(None, &why)?,
            passed_alone,
        })
    }

    // Says what the run shows of the change, and proves it where the commands pass.
    fn judge(&mut self, attempt: &mut Attempt<'_>, trial: &mut Trial) -> Result<(), RepairError> {
        if trial.ran.observed.passed {
            self.minimize_patch(attempt, trial)?;
        }
        let log = format!("{}/test.log", attempt.folder);
        self.stage.journal.write_text(&log, &trial.ran.log)?;
        let observed = trial.ran.observed.clone();
        if !trial.ran.interrupted {
            attempt.result.test_result = Some(observed.test_result.clone());
        }
        if let Some((reason, message)) = unfinished_run(&trial.ran) {
            attempt.end(reason, message);
            return Ok(());
        }
        let judged = judge_outcome(attempt, &observed, &trial.changes);
        let must_fix = attempt.heal.is_some_and(|heal| heal.must_fix);
        let before = attempt.before.as_ref();
        let fewer = before.is_some_and(|before| fails_less(before, &observed));
        attempt.result.kept = judged.is_progress && (observed.passed || !must_fix || fewer);
        attempt.result.observed = Some(observed);
        attempt.end(judged.reason, judged.message);
        if trial.ran.observed.passed {
            return self.prove_fix(attempt, trial);
        }
        if !attempt.result.kept {
            self.name_unused_copy(attempt, trial);
        } else if !self.changed_tests(&trial.changes)?.is_empty() {
            attempt.result.kept = false;
            let message = &mut attempt.result.message;
            message.push_str(": it may depend on its changes to tests");
        }
        Ok(())
    }

    fn keep_or_drop(
        &mut self,
        attempt: &mut Attempt<'_>,
        trial: &Trial,
        states: Vec<(RepoPath, Option<FileState>)>,
    ) -> Result<(), RepairError> {
        // All that was read and run until here was what the run began with.
        if self.stage.has_moved()? {
            let message = self.stage.moved.clone().unwrap_or_default();
            attempt.end(StopReason::WorktreeChanged, message);
            (attempt.result.kept, attempt.result.proof) = (false, None);
        }
        self.stage.place.reset()?;
        if attempt.result.kept {
            self.stage.place.write(&trial.changes)?;
            self.keep_states(states)?;
            self.seen.evidence.push(trial.ran.evidence.clone());
            self.set_baseline(&trial.ran);
        }
        Ok(())
    }

    /// Takes what is laid in as what later attempts build on.
    pub(super) fn keep_states(
        &mut self,
        states: Vec<(RepoPath, Option<FileState>)>,
    ) -> Result<(), RepairError> {
        for (path, state) in states {
            self.seen.base.entry(path).or_insert(state);
        }
        Ok(self.stage.place.adopt()?)
    }

    pub(super) fn states_before(
        &self,
        changes: &[Change],
    ) -> Result<Vec<(RepoPath, Option<FileState>)>, RepairError> {
        let source = self.stage.place.source()?;
        Ok(changes
            .iter()
            .map(|change| (change.path.clone(), FileState::read(&source, &change.path)))
            .collect())
    }

    // Written last, because a resumed run repeats an attempt without its result.
    fn finish_attempt(
        &mut self,
        attempt: Attempt<'_>,
        old_log: &str,
    ) -> Result<AttemptResult, RepairError> {
        let mut result = attempt.result;
        let is_over = result.kept || result.stop_reason == StopReason::Interrupted;
        if let Some((reason, message)) = attempt.cut_off.filter(|_| !is_over) {
            result.message = format!("{message}; its edits: {}", result.message);
            result.stop_reason = reason;
        }
        if let Some(heal) = attempt.heal {
            result.message = format!("{}: {}", heal.what, result.message);
        }
        let first = self.seen.first.as_ref();
        let kind = first.map_or(FailureKind::Unknown, |first| first.kind);
        result.category = crate::diagnose::category(kind, Some(result.stop_reason));
        result.status = match result.stop_reason {
            StopReason::Fixed => super::result::success_status(result.proof.as_ref()),
            StopReason::Unproven => RunStatus::Unproven,
            StopReason::InvalidTask => RunStatus::InvalidTask,
            StopReason::UserActionRequired => RunStatus::UserActionRequired,
            _ => RunStatus::Failed,
        };
        result.message = self.asked.redactor.mask(&result.message);
        let says_nothing = [StopReason::Interrupted, StopReason::WorktreeChanged];
        if !says_nothing.contains(&result.stop_reason) {
            let name = format!("{}/result.json", attempt.folder);
            self.stage.journal.write_json(&name, &result)?;
        }
        self.stage.event(EventKind::AttemptEnded {
            attempt: result.attempt,
            stop_reason: result.stop_reason,
            kept: result.kept,
            why: result.message.clone(),
        })?;
        let journal = &self.stage.journal;
        self.seen.remember_attempt(&result, journal, &attempt.folder, old_log);
        Ok(result)
    }
}

pub(super) fn paths_of(changes: &[Change]) -> Vec<String> {
    changes.iter().map(|change| change.path.to_string()).collect()
}

/// Says why a run that did not end by itself shows nothing.
pub(super) fn unfinished_run(ran: &CommandsRun) -> Option<(StopReason, String)> {
    if ran.interrupted {
        return Some((StopReason::Interrupted, "it was interrupted".to_owned()));
    }
    let message = format!("{TIME_UP} while the tests ran with the change");
    ran.cut_short.then_some((StopReason::BudgetExhausted, message))
}

// What is wrong, with its file where the words do not name it.
fn refusal_reason(verdict: &PatchVerdict) -> String {
    let mut problems = verdict.problems.iter();
    let problem = problems.find(|problem| problem.severity == Severity::Error);
    let problem = problem.map(|problem| name_file(problem.path.as_deref(), &problem.message));
    let hunk = verdict.files.iter().find_map(|file| {
        let hunk = file.hunks.iter().find(|hunk| hunk.code.is_some())?;
        Some(name_file(Some(&file.path), &hunk.message))
    });
    let why = problem
        .or(hunk)
        .unwrap_or_else(|| "the files already match the patch".to_owned());
    format!("the patch is {}: {why}", verdict.verdict)
}

fn name_file(path: Option<&str>, message: &str) -> String {
    match path {
        Some(path) if !path.is_empty() && !message.contains(path) => {
            let allow = format!("--allow-protected {path}");
            format!("`{path}`: {message}").replace("--allow-protected PATH", &allow)
        }
        _ => message.to_owned(),
    }
}

// Whether a runner counts each of the tests that failed as passed, and none otherwise.
fn passes_all(before: &Observed, ran: &CommandsRun) -> bool {
    let mut accounts = ran.evidence.iter().flat_map(|command| &command.accounts);
    let expected = before.failing_tests.len() as u64;
    let counts = accounts.next().map(|account| account.counts);
    ran.observed.passed && counts.is_some_and(|c| c.passed >= expected && c.failed + c.errors == 0)
}

fn fails_again(before: &Observed, after: &Observed) -> bool {
    let mut failing = after.failing_tests.iter();
    !after.passed && failing.any(|test| before.failing_tests.contains(test))
}

// Whether fewer tests fail, or the code parses now: then the next fix is tried on top of this one.
fn fails_less(before: &Observed, after: &Observed) -> bool {
    let (then, now) = (before.failing_tests.len(), after.failing_tests.len());
    (now > 0 && now < then) || parses_now(before, after)
}
