use serde_json::json;
use sha2::{Digest, Sha256};

use super::commands::{CommandsRun, diagnose_again};
use super::error::RepairError;
use super::limits::TIME_UP;
use super::load_check::{Expected, LoadCheck};
use super::plan::could_be_flaky;
use super::progress::{Effect, effect};
use super::prove::NO_TIME;
use super::session::Session;
use crate::fixes::Judging;
use crate::model::{AttemptResult, FailureKind, Observed, PatchVerdict, RepoPath, StopReason, hex};
use crate::patch::{Change, FileState, Judged, Objects, judge};

/// A patch to try.
pub(super) struct Trial<'a> {
    pub(super) patch: &'a [u8],
    /// What fails without it.
    pub(super) before: Option<&'a Observed>,
    /// Tests that decide; empty for all.
    pub(super) focus: &'a [String],
    /// Whether anything but passing commands undoes it.
    pub(super) must_fix: bool,
    /// Whether nobody stands for it who could put it right later: then a test that only gets
    /// further is no reason to keep it.
    pub(super) unattended: bool,
}

impl<'a> Trial<'a> {
    /// What somebody sent who is there to answer for it.
    pub(super) fn new(patch: &'a [u8], before: Option<&'a Observed>) -> Self {
        Self {
            patch,
            before,
            focus: &[],
            must_fix: false,
            unattended: false,
        }
    }
}

// The run that says what a change does.
struct Tried {
    ran: CommandsRun,
    // Tests that failed in a run before it, with the same change.
    shaky: Vec<String>,
    // Whether it is of the failing tests alone.
    alone: bool,
}

impl Session<'_> {
    /// Judges a patch, makes it in the scratch copy, runs the commands and keeps it or undoes it.
    pub(super) fn try_patch(
        &mut self,
        result: &mut AttemptResult,
        trial: &Trial<'_>,
        folder: &str,
    ) -> Result<(), RepairError> {
        let Some(judged) = self.judge_into(result, trial, folder)? else {
            return Ok(());
        };
        let states = self.states_before(&judged.changes)?;
        self.place.write(&judged.changes)?;
        let mut changes = judged.changes.clone();
        let mut tried = match self.turned_down_alone(trial, &judged.changes)? {
            Some(ran) => Tried {
                ran,
                shaky: Vec::new(),
                alone: true,
            },
            None => self.run_with_change(trial)?,
        };
        if no_verdict(&tried.ran).is_none() && !tried.alone {
            (changes, tried.ran) = self.lessen(result, trial, (changes, tried.ran), folder)?;
        }
        let ran = &tried.ran;
        self.journal.text(&format!("{folder}/test.log"), &ran.log)?;
        if let Some((reason, message)) = no_verdict(ran) {
            self.place.reset()?;
            if !ran.interrupted {
                result.test_result = Some(ran.observed.test_result.clone());
            }
            (result.stop_reason, result.message) = (reason, message);
            return Ok(());
        }
        self.weigh_run(result, trial, &changes, &tried)?;
        // Last: all that was read and run until here was what the run began with.
        if self.has_moved()? {
            result.stop_reason = StopReason::WorktreeChanged;
            (result.kept, result.proof) = (false, None);
            result.message = self.moved.clone().unwrap_or_default();
        }
        if result.kept {
            self.place.adopt()?;
            self.remember_base(&changes, states)?;
            self.hold_to(&format!("{folder}/evidence.json"), &ran.evidence)?;
            self.stand_on(ran);
        } else {
            self.place.reset()?;
        }
        Ok(())
    }

    // Says of a patch whether it applies, and keeps both in the attempt's folder; `None` when not.
    fn judge_into(
        &mut self,
        result: &mut AttemptResult,
        trial: &Trial<'_>,
        folder: &str,
    ) -> Result<Option<Judged>, RepairError> {
        let mut judged = self.judge(trial.patch, true)?;
        let applies = judged.verdict.verdict.applies();
        let patch = if applies {
            judged.canonical_patch()
        } else {
            trial.patch.to_vec()
        };
        self.journal
            .masked(&format!("{folder}/patch.diff"), &patch)?;
        if applies {
            judged.verdict.canonical_patch = String::from_utf8(patch.clone())
                .ok()
                .map(|patch| self.setup.redactor.redact(&patch).text.into_owned());
        }
        self.journal
            .json(&format!("{folder}/preflight.json"), &judged.verdict)?;
        result.patch_digest = Some(digest(&patch));
        if !applies {
            (result.stop_reason, result.message) = refusal(&judged.verdict);
            result.error_code = judged.verdict.error_code.map(|code| code.to_string());
            return Ok(None);
        }
        let changes = judged.changes.iter();
        result.files_modified = changes.map(|it| it.path.to_string()).collect();
        Ok(Some(judged))
    }

    // What a run with the change says of it: kept or not, and proved where it passes.
    fn weigh_run(
        &mut self,
        result: &mut AttemptResult,
        trial: &Trial<'_>,
        changes: &[Change],
        tried: &Tried,
    ) -> Result<(), RepairError> {
        let Tried { ran, shaky, .. } = tried;
        let observed = &ran.observed;
        result.test_result = Some(observed.test_result.clone());
        let (stop_reason, kept, mut message) = reason(trial, observed, changes);
        if !shaky.is_empty() {
            message += &format!(
                "; {} failed in the run before, with the same change",
                shaky.join(", ")
            );
        }
        let before = trial.before;
        let brings_on = before.is_some_and(|before| brings_on(before, observed));
        result.kept = kept && (observed.passed || !trial.must_fix || brings_on);
        result.stop_reason = stop_reason;
        message.clone_into(&mut result.message);
        result.observed = Some(observed.clone());
        if observed.passed {
            self.prove(result, trial, changes, ran)?;
        } else if result.kept {
            self.keep_without_tests(result, trial, changes)?;
        }
        let settled = result.stop_reason == stop_reason;
        if settled && (observed.passed || stop_reason == StopReason::TestsFailed) {
            self.check_loaded(result, trial, changes, tried, &message)?;
        }
        Ok(())
    }

    // Whether what ran was what was changed; the change is laid in again where it is kept.
    fn check_loaded(
        &mut self,
        result: &mut AttemptResult,
        trial: &Trial<'_>,
        changes: &[Change],
        tried: &Tried,
        message: &str,
    ) -> Result<(), RepairError> {
        self.place.reset()?;
        let now = &tried.ran.observed;
        let passed = now.passed;
        let expected = Expected {
            whole: trial.before.filter(|_| !passed).unwrap_or(now),
            alone: (passed || tried.alone).then_some(now),
        };
        match self.check_load(changes, &expected)? {
            Some(LoadCheck::NotLoaded { finding, elsewhere }) => {
                result.kept = false;
                if elsewhere || passed {
                    result.stop_reason = StopReason::WorkplaceUnused;
                }
                result.message = format!("{message}, but {finding}");
            }
            Some(LoadCheck::CutShort) if passed => {
                let mut proof = result.proof.take().unwrap_or_default();
                proof.missing = vec![NO_TIME.to_owned()];
                proof.proven = false;
                self.unproven(result, &proof)?;
                result.proof = Some(proof);
            }
            _ => {}
        }
        if result.kept {
            self.place.write(changes)?;
        }
        Ok(())
    }

    // Runs the commands with a change laid in; once more where what failed passes and what passed before
    // fails, which may come and go by itself.
    fn run_with_change(&mut self, trial: &Trial<'_>) -> Result<Tried, RepairError> {
        let whole = |ran, shaky| Tried {
            ran,
            shaky,
            alone: false,
        };
        let ran = self.run_commands()?;
        let is_whole = !ran.interrupted && !ran.cut_short;
        if !(is_whole && fails_elsewhere(trial.before, &ran.observed)) {
            return Ok(whole(ran, Vec::new()));
        }
        self.event("info", "command_started", json!({ "what": "change-again" }))?;
        self.purpose = Some("once more with it, since other tests failed than before".to_owned());
        let again = self.run_commands()?;
        if again.observed.passed {
            self.unstable = true;
            return Ok(whole(again, ran.observed.failing_tests));
        }
        let last = if again.interrupted { again } else { ran };
        Ok(whole(last, Vec::new()))
    }

    /// Makes the change of an attempt that an interrupted run kept.
    pub(super) fn make_again(
        &mut self,
        folder: &str,
        result: &AttemptResult,
    ) -> Result<(), RepairError> {
        let path = self.journal.path(&format!("{folder}/patch.diff"));
        let patch = std::fs::read(&path).map_err(|error| RepairError::write(&path, &error))?;
        if result.patch_digest != Some(digest(&patch)) {
            return Err(RepairError::Resume(format!(
                "a secret stands in the change of `{folder}`, and what is kept of it is masked"
            )));
        }
        let judged = self.judge(&patch, false)?;
        if !judged.verdict.verdict.applies() {
            return Err(RepairError::Resume(format!(
                "the change of `{folder}` no longer applies"
            )));
        }
        let states = self.states_before(&judged.changes)?;
        self.remember_base(&judged.changes, states)?;
        self.place.write(&judged.changes)?;
        Ok(self.place.adopt()?)
    }

    pub(super) fn stand_on_again(
        &mut self,
        log: String,
        observed: &Observed,
    ) -> Result<(), RepairError> {
        let source = self.place.source()?;
        let command = self.setup.commands.lines.first().map_or("", String::as_str);
        let diagnosis =
            diagnose_again(&log, command, observed, &self.setup.commands.rules, &source);
        drop(source);
        self.note_failed(&diagnosis);
        self.choose_alone(&diagnosis, &Vec::new());
        self.diagnosis = Some(diagnosis);
        self.log = log;
        Ok(())
    }

    // What is made again was judged for the failure that it was the answer to.
    fn judge(&self, patch: &[u8], is_answer: bool) -> Result<Judged, RepairError> {
        let source = self.place.source()?;
        let objects = self.place.objects();
        let diagnosis = self.diagnosis.as_ref().filter(|_| is_answer);
        let lines = self.setup.commands.all();
        let judging = Judging {
            lines: &lines,
            prefix: self.setup.prefix,
            allowed: &self.setup.allowed,
            objects: objects.as_ref().map(|objects| objects as &dyn Objects),
        };
        let options = judging.options(&source, diagnosis);
        Ok(judge(patch, &source, &options))
    }

    fn remember_base(
        &mut self,
        changes: &[Change],
        states: Vec<(RepoPath, Option<FileState>)>,
    ) -> Result<(), RepairError> {
        let suspected = self.suspected_in(changes)?;
        self.suspected.extend(suspected);
        let tests = self.answered_in_tests(changes)?;
        for (path, state) in states {
            if tests.contains(&path) {
                let state = state.clone();
                self.tests.entry(path.clone()).or_insert(state);
            }
            self.base.entry(path).or_insert(state);
        }
        Ok(())
    }

    fn states_before(
        &self,
        changes: &[Change],
    ) -> Result<Vec<(RepoPath, Option<FileState>)>, RepairError> {
        let source = self.place.source()?;
        Ok(changes
            .iter()
            .map(|change| (change.path.clone(), FileState::of(&source, &change.path)))
            .collect())
    }
}

/// SHA-256 of a patch or a reply, in hex.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

// Why a run that did not end by itself says nothing.
fn no_verdict(ran: &CommandsRun) -> Option<(StopReason, String)> {
    if ran.interrupted {
        Some((StopReason::Interrupted, "it was interrupted".to_owned()))
    } else if ran.cut_short {
        let message = format!("{TIME_UP} while the commands ran with the change");
        Some((StopReason::BudgetExhausted, message))
    } else {
        None
    }
}

// What is wrong, with its file where the words do not name it.
fn at(path: Option<&str>, message: &str) -> String {
    match path.filter(|path| !path.is_empty() && !message.contains(path)) {
        Some(path) => format!("`{path}`: {message}").replace(
            "--allow-protected PATH",
            &format!("--allow-protected {path}"),
        ),
        None => message.to_owned(),
    }
}

fn refusal(verdict: &PatchVerdict) -> (StopReason, String) {
    let why = verdict
        .problems
        .iter()
        .find(|problem| problem.severity == crate::model::Severity::Error)
        .map(|problem| at(problem.path.as_deref(), &problem.message))
        .or_else(|| {
            verdict.files.iter().find_map(|file| {
                let hunk = file.hunks.iter().find(|hunk| hunk.code.is_some())?;
                Some(at(Some(&file.path), &hunk.message))
            })
        })
        .unwrap_or_else(|| "the files already are as the patch would make them".to_owned());
    (
        verdict.stop_reason(),
        format!("the patch is judged {}: {why}", verdict.verdict.as_str()),
    )
}

// How an attempt ended, from what its change did.
fn reason(trial: &Trial<'_>, after: &Observed, changes: &[Change]) -> (StopReason, bool, String) {
    let (reason, kept, message) = outcome(trial, after, changes);
    let message = match trial.before {
        Some(before) if message == PART_GONE => gone(before, after),
        Some(_) if reason == StopReason::TestsChanged => match next_error(after) {
            "" => message.to_owned(),
            next => format!("{message}: {next}"),
        },
        _ => message.to_owned(),
    };
    (reason, kept, message)
}

/// Whether a run is one step further than what a patch began with.
pub(super) fn is_progress(trial: &Trial<'_>, after: &Observed, changes: &[Change]) -> bool {
    outcome(trial, after, changes).1
}

fn next_error(after: &Observed) -> &str {
    let next = after.errors.iter().find(|it| !it.error.is_empty());
    next.map_or(after.message.as_str(), |it| it.error.as_str())
}

// What passes or is found now, by name.
fn gone(before: &Observed, after: &Observed) -> String {
    let less = |before: &[String], after: &[String]| -> Vec<String> {
        let left = before.iter().filter(|it| !after.contains(it));
        left.cloned().collect()
    };
    let more = |names: &[String]| match names.len().saturating_sub(MOST_GONE) {
        0 => names.join(", "),
        rest => format!("{} and {rest} more", names[..MOST_GONE].join(", ")),
    };
    let tests = less(&before.failing_tests, &after.failing_tests);
    let names = less(&before.undefined_names, &after.undefined_names);
    let still = after.failing_tests.len();
    if !tests.is_empty() && still > 0 {
        format!(
            "no longer failing: {}; still failing: {still}",
            more(&tests)
        )
    } else if !names.is_empty() {
        format!(
            "no longer undefined: {}; the commands fail otherwise",
            more(&names)
        )
    } else {
        format!("the failure is another one now: {}", next_error(after))
    }
}

// Whether nothing that failed fails any more, but tests that passed.
fn fails_elsewhere(before: Option<&Observed>, after: &Observed) -> bool {
    let then = before.map_or(&[][..], |it| &it.failing_tests);
    let now = &after.failing_tests;
    let are_others = !then.is_empty() && !now.is_empty() && !now.iter().any(|it| then.contains(it));
    are_others && could_be_flaky(after)
}

const PART_GONE: &str = "part of the failure is gone";
// Names that are told.
const MOST_GONE: usize = 3;

// Whether fewer tests fail, or what did not parse does: reason enough to try the next mend upon it.
fn brings_on(before: &Observed, after: &Observed) -> bool {
    let (then, now) = (before.failing_tests.len(), after.failing_tests.len());
    (now > 0 && now < then) || parses_now(before, after)
}

fn parses_now(before: &Observed, after: &Observed) -> bool {
    before.kind == FailureKind::SyntaxError && after.kind != FailureKind::SyntaxError
}

fn outcome(
    trial: &Trial<'_>,
    after: &Observed,
    changes: &[Change],
) -> (StopReason, bool, &'static str) {
    if after.passed {
        return (StopReason::Fixed, true, "the commands pass");
    }
    let focus = trial.focus;
    let Some(before) = trial.before else {
        return (StopReason::TestsFailed, false, "the commands still fail");
    };
    let effect = effect(before, after, changes);
    let mine_pass = !focus.is_empty()
        && !after.failing_tests.is_empty()
        && focus.iter().all(|test| !after.failing_tests.contains(test));
    match effect {
        Effect::Better if mine_pass => (StopReason::Fixed, true, "the tests of this part pass"),
        Effect::Better => (StopReason::TestsChanged, true, PART_GONE),
        Effect::Further => (
            StopReason::TestsChanged,
            !trial.unattended || parses_now(before, after),
            "the commands get further and fail otherwise",
        ),
        Effect::Fixed => (StopReason::Fixed, true, "the commands pass"),
        Effect::Same => (
            StopReason::TestsFailed,
            false,
            "the commands fail as before",
        ),
        Effect::Changed => (
            StopReason::TestsChanged,
            false,
            "the commands fail in another way",
        ),
        Effect::Regressed if after.test_result.timed_out => (
            StopReason::CommandTimeout,
            false,
            "the commands no longer end",
        ),
        Effect::Regressed => (
            StopReason::Regressed,
            false,
            "something that worked no longer does",
        ),
    }
}
