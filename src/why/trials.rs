//! Runs trials: reverts hunks in an isolated copy, reruns the failing tests.

use std::path::Path;
use std::time::{Duration, Instant};

use super::failures::{Failures, Observation};
use super::test_files::holds_failing_test;
use super::{FindCause, States};
use crate::diagnose::LogFacts;
use crate::model::{Diagnosis, FailureKind, Traced, WhyOutcome, WhyReason, WhyTrial};
use crate::patch::{Change, FileState};
use crate::policy::CommandFiles;
use crate::repair::{
    CommandsAt, CommandsRun, RepairError, RunLimit, is_path, last_runner, run_traced,
};
use crate::runners::{WithOthers, choose_command, counts, with_others};
use crate::workplace::Workplace;
use crate::workspace::Workspace;

/// Files that say what uv installs.
const PACKAGING: [&str; 4] = ["pyproject.toml", "uv.lock", "setup.py", "setup.cfg"];
/// The runs that `mendit why` allows by default.
const MAX_RUNS: u32 = 100;
const MOST_AFTER_RUN: Duration = Duration::from_mins(1);
/// A command this short is run whole where its failing tests cannot be selected, and with the culprit reverted.
const WHOLE_AFTER_RUN: Duration = Duration::from_secs(20);

/// The budget of trials.
#[derive(Debug, Clone, Copy)]
pub struct TrialLimits {
    /// When the last must have ended.
    pub until: Option<Instant>,
    /// Maximum number of runs.
    pub max_runs: u32,
    /// The limit of one run; `None` takes five times the longest so far.
    pub each: Option<Duration>,
    /// Whether the whole command may run where its failing tests cannot be selected.
    pub whole: bool,
}

impl Default for TrialLimits {
    fn default() -> Self {
        Self {
            until: None,
            max_runs: MAX_RUNS,
            each: None,
            whole: true,
        }
    }
}

impl TrialLimits {
    /// The budget after a run that took so long: some runs, none much longer than it.
    pub fn after_run(took: Duration) -> Self {
        // After `mendit run` a run of selected tests may take half as long again as its own, within these bounds; a
        // run of the whole command may take as long as the upper one.
        let least_after_run = Duration::from_secs(10);
        Self {
            max_runs: 6,
            each: Some(took.mul_f64(1.5).clamp(least_after_run, MOST_AFTER_RUN)),
            // A command this short is run whole where its failing tests cannot be selected.
            whole: took <= WHOLE_AFTER_RUN,
            ..Self::default()
        }
    }
}

/// A trial that starts.
#[derive(Debug, Clone)]
pub struct TrialStart {
    /// Its number, from 1.
    pub run: u32,
    /// The state of the files, in words.
    pub what: String,
    /// Changes whose revert made the tests pass once, as `path:line`.
    pub likely: Option<String>,
}

impl TrialStart {
    /// `looking for the culprit: run 2 of at most 6, likely calc.py:7; Ctrl-C keeps what is known`
    pub fn in_words(&self, max_runs: u32) -> String {
        let most = max_runs.max(self.run);
        let most = (max_runs < MAX_RUNS).then(|| format!(" of at most {most}"));
        let most = most.unwrap_or_default();
        let likely = self.likely.iter();
        let likely: String = likely.map(|place| format!(", likely {place}")).collect();
        format!(
            "looking for the culprit: run {}{most}, {}{likely}; Ctrl-C stops and prints what is known",
            self.run, self.what
        )
    }
}

/// A failed run of the command, with which a search starts.
#[derive(Debug, Clone)]
pub struct RedRun {
    /// Its diagnosis.
    pub diagnosis: Diagnosis,
    /// Its output, without escapes and secrets.
    pub log: String,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub took: Duration,
}

impl RedRun {
    /// A failed run. Paths in its output are taken below the root, as trials print them.
    pub fn new(
        diagnosis: Diagnosis,
        log: &str,
        exit_code: Option<i32>,
        took: Duration,
        root: Option<&Path>,
    ) -> Self {
        let root = root.map(|root| format!("{}/", root.display()));
        Self {
            diagnosis,
            log: root.map_or_else(|| log.to_owned(), |root| log.replace(&root, "")),
            exit_code,
            took,
        }
    }

    /// Whether a change may explain the failure, and neither the environment nor a time limit does.
    pub fn may_be_of_change(&self) -> bool {
        let kind = self.diagnosis.kind;
        let is_outside = self.diagnosis.requires_user_action || kind.is_around_code();
        !is_outside && kind != FailureKind::Timeout
    }
}

/// Runs the failing tests with files in other states, and remembers what each state showed.
pub struct Trials<'a> {
    find: &'a FindCause<'a>,
    pub(super) place: Workplace<'a>,
    red: RedRun,
    /// The failures, each with an outcome of its own.
    pub failures: Failures,
    /// The smallest set of changes whose revert made the tests pass.
    pub likely: Option<Vec<String>>,
    // The line that runs only the failing tests, and how many it names.
    selection: Option<(String, usize)>,
    trace_plan: Option<WithOthers>,
    pub(super) traced: Traced,
    observed: Vec<(States, Observation)>,
    longest: Duration,
    // Runs beyond the limit: a culprit that is found with the last run is checked all the same.
    extra_runs: u32,
    ended: Option<WhyReason>,
    /// All trials, in order.
    pub tried: Vec<WhyTrial>,
    /// Runs of the failing tests.
    pub runs: u32,
    /// Runs of the whole command.
    pub whole_runs: u32,
}

impl<'a> Trials<'a> {
    /// Starts from a failed run; without one the command is run first. `false` where it passes or cannot be run.
    ///
    /// # Errors
    /// When the command cannot be run.
    pub fn start(
        find: &'a FindCause<'a>,
        place: Workplace<'a>,
    ) -> Result<(Self, bool), RepairError> {
        let silent = crate::diagnose::diagnose("", &LogFacts::default(), None);
        let mut trials = Self {
            red: find
                .red
                .cloned()
                .unwrap_or_else(|| RedRun::new(silent, "", None, Duration::ZERO, None)),
            find,
            place,
            failures: Failures::default(),
            likely: None,
            selection: None,
            trace_plan: None,
            traced: Traced::default(),
            observed: Vec::new(),
            longest: Duration::ZERO,
            extra_runs: 0,
            ended: None,
            tried: Vec::new(),
            runs: 0,
            whole_runs: 0,
        };
        if find.red.is_some() {
            trials.select_tests();
            return Ok((trials, true));
        }
        let began = Instant::now();
        let ran = trials.run_trial(&States::new(), "the unchanged command", None)?;
        let Some(ran) = ran.filter(|ran| !ran.observed.passed) else {
            return Ok((trials, false));
        };
        let exit_code = ran.observed.test_result.exit;
        trials.red = RedRun::new(
            ran.diagnosis.clone(),
            &ran.log,
            exit_code,
            began.elapsed(),
            None,
        );
        trials.select_tests();
        if trials.selection.is_none() {
            let seen = trials.observe_run(&States::new(), &ran);
            trials.observed.push((States::new(), seen));
        }
        Ok((trials, true))
    }

    // Finds out how the failing tests are run alone.
    fn select_tests(&mut self) {
        self.failures = Failures::collect(&self.red.diagnosis, &self.red.log);
        let [line] = self.find.commands.lines.as_slice() else {
            return self.end_without_selection();
        };
        let setup = self.find;
        let (source, prefix) = (setup.workspace.source.as_ref(), &setup.workspace.prefix);
        let files = CommandFiles::find(std::slice::from_ref(line), prefix, source);
        let is_path = |word: &str| is_path(source, prefix, word);
        let tests = &self.red.diagnosis.tests;
        let runner = last_runner(&files);
        if setup.trace {
            let plan = with_others(line, runner, tests, &is_path);
            self.trace_plan = Some(plan.unwrap_or_else(|| WithOthers {
                line: line.clone(),
                first: Vec::new(),
            }));
        }
        self.selection = choose_command(line, runner, tests, &is_path);
        if let Some((_, count)) = self.selection {
            self.failures.truncate(count);
        }
        self.end_without_selection();
    }

    // Runs the whole command from now on. Earlier outcomes are dropped, since they hold for the selection only.
    fn drop_selection(&mut self) {
        self.selection = None;
        self.observed.clear();
        self.likely = None;
        self.failures = Failures::collect(&self.red.diagnosis, &self.red.log);
        self.end_without_selection();
    }

    fn end_without_selection(&mut self) {
        if self.selection.is_none() && !self.find.limits.whole {
            self.ended = Some(WhyReason::Budget);
        }
    }

    /// The repository.
    pub fn workspace(&self) -> &'a Workspace {
        self.find.workspace
    }

    /// The failed run.
    pub fn red(&self) -> &RedRun {
        &self.red
    }

    /// Why the command never started.
    pub fn not_run(&self) -> Option<WhyReason> {
        let diagnosis = &self.red.diagnosis;
        match diagnosis.kind {
            _ if !diagnosis.failing_tests.is_empty() => None,
            FailureKind::CommandNotFound => Some(WhyReason::CommandNotFound),
            FailureKind::PermissionDenied if self.red.exit_code.is_none_or(|code| code == 126) => {
                Some(WhyReason::NotExecutable)
            }
            _ => None,
        }
    }

    /// Why nothing more can be run.
    pub fn ended(&self) -> Option<WhyReason> {
        self.ended
    }

    /// Reruns the failing tests under the tracer, where no trace is known. `None` where nothing ran.
    ///
    /// # Errors
    /// When they cannot be run.
    pub fn trace(&mut self, states: &States) -> Result<Option<WhyOutcome>, RepairError> {
        let Some(plan) = self.trace_plan.clone().filter(|_| self.traced.failing == 0) else {
            return Ok(None);
        };
        // Tests that cannot be selected can be traced all the same.
        let ended = self.ended.take();
        let seen = self.try_planned(states, None, &[], Some(&plan))?;
        self.ended = self.ended.or(ended);
        let outcome = seen.map(|seen| self.failures.outcome(&seen));
        if outcome.is_some_and(|outcome| outcome != WhyOutcome::Fails) {
            self.traced = Traced::default();
        }
        Ok(outcome)
    }

    /// What each run in these states showed so far.
    pub fn seen<'s>(&'s self, states: &'s States) -> impl Iterator<Item = &'s Observation> {
        let seen = self.observed.iter().filter(move |(other, _)| other == states);
        seen.map(|(_, seen)| seen)
    }

    /// Runs the failing tests with files in these states. `reverted` names the changes that are reverted, `commit`
    /// is the one whose files were laid in. `None` when nothing more can be run.
    ///
    /// # Errors
    /// When they cannot be run.
    pub fn try_states(
        &mut self,
        states: &States,
        commit: Option<&str>,
        reverted: &[String],
    ) -> Result<Option<Observation>, RepairError> {
        self.try_planned(states, commit, reverted, None)
    }

    fn try_planned(
        &mut self,
        states: &States,
        commit: Option<&str>,
        reverted: &[String],
        plan: Option<&WithOthers>,
    ) -> Result<Option<Observation>, RepairError> {
        let what = match (commit, reverted) {
            (Some(commit), []) => format!("at {}", commit.get(..9).unwrap_or(commit)),
            (_, []) => "as it is".to_owned(),
            (_, [one]) => format!("without {one}"),
            (_, several) => format!("without {} changes", several.len()),
        };
        let Some(ran) = self.run_trial(states, &what, plan)? else {
            return Ok(None);
        };
        let mut seen = self.observe_run(states, &ran);
        if self.selection.is_some() && self.is_missed(states, &ran, &seen) {
            self.drop_selection();
            let Some(ran) = self.run_trial(states, &what, None)? else {
                return Ok(None);
            };
            seen = self.observe_run(states, &ran);
        }
        // Tests that cannot be run alone end otherwise in every state, also in the one that is known to fail.
        let is_doubtful = self.selection.is_some()
            && !states.is_empty()
            && self.failures.outcome(&seen) == WhyOutcome::Other
            && self.seen(&States::new()).next().is_none();
        if is_doubtful {
            self.try_planned(&States::new(), None, &[], None)?;
            if self.selection.is_none() {
                let Some(ran) = self.run_trial(states, &what, None)? else {
                    return Ok(None);
                };
                seen = self.observe_run(states, &ran);
            }
        }
        let outcome = self.failures.outcome(&seen);
        tracing::info!("trial {what}: {outcome:?}");
        if outcome == WhyOutcome::Passes {
            self.failures.drop_skipped(&seen);
            // More changes than a line can name say nothing.
            let is_few = (1..=3).contains(&reverted.len());
            if is_few && self.likely.as_ref().is_none_or(|old| reverted.len() < old.len()) {
                self.likely = Some(reverted.to_vec());
            }
        }
        self.observed.push((states.clone(), seen.clone()));
        self.tried.push(WhyTrial {
            commit: commit.map(str::to_owned),
            count: reverted.len() as u64,
            // Changes that a trial names in the document.
            without: reverted.iter().take(20).cloned().collect(),
            outcome,
        });
        Ok(Some(seen))
    }

    /// Runs the whole command on the files as they are now with the culprit reverted, where it is short.
    /// Returns the tests that fail only then, or still where fewer fail; the error holds the tests that fail where
    /// reverting it does not help.
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn run_undone(
        &mut self,
        undo: &[Change],
    ) -> Result<Result<Vec<String>, Vec<String>>, RepairError> {
        let states = undo.iter().map(|change| (change.path.clone(), change.after.clone()));
        let states: States = states.collect();
        let is_known = self.selection.is_none() && self.seen(&states).next().is_some();
        if is_known || self.red.took > WHOLE_AFTER_RUN {
            return Ok(Ok(Vec::new()));
        }
        let selection = self.selection.take();
        self.extra_runs = 1;
        let ran = self.run_trial(&states, "all tests with the culprit reverted", None)?;
        self.selection = selection;
        let Some(ran) = ran else {
            self.ended = None;
            return Ok(Ok(Vec::new()));
        };
        let outcome = self.failures.outcome(&self.observe_run(&states, &ran));
        let before = self.failures.failed_before();
        let mut failing = ran.diagnosis.failing_tests;
        failing.retain(|id| !before.contains(id));
        let red = &self.red.diagnosis.failing_tests;
        if outcome == WhyOutcome::Fails {
            // One of several culprits: without it fewer tests fail, and no other ones.
            let is_fewer = !failing.is_empty() && failing.len() + before.len() < red.len();
            let helps = is_fewer && failing.iter().all(|id| red.contains(id));
            return Ok(if helps { Ok(failing) } else { Err(failing) });
        }
        // A red run that stopped early says nothing of the tests behind it.
        let is_whole = count_tests(&self.red.log) >= count_tests(&ran.log);
        failing.retain(|id| is_whole && !red.contains(id));
        Ok(Ok(failing))
    }

    // Whether the selection misses tests: it ran none, passes without counting all, or the tests do not fail alone
    // as they did among the others.
    fn is_missed(&self, states: &States, ran: &CommandsRun, seen: &Observation) -> bool {
        let failed = self.seen(&States::new()).next().is_some();
        let outcome = self.failures.outcome(seen);
        let is_green = ran.observed.passed && outcome == WhyOutcome::Other;
        !failed && ran_nothing(ran) || is_green || states.is_empty() && outcome != WhyOutcome::Fails
    }

    fn observe_run(&self, states: &States, ran: &CommandsRun) -> Observation {
        let named = self.selection.as_ref().map_or(1, |(_, count)| *count);
        // With the file of a failing test reverted, fewer tests may mean that it is gone.
        let mut paths = states.keys();
        let lacks_tests = self.selection.is_none()
            && paths.any(|path| holds_failing_test(path, &self.red.diagnosis))
            && count_tests(&ran.log) < count_tests(&self.red.log);
        self.failures.observe(ran, named, lacks_tests)
    }

    fn run_trial(
        &mut self,
        states: &States,
        what: &str,
        plan: Option<&WithOthers>,
    ) -> Result<Option<CommandsRun>, RepairError> {
        let limits = self.find.limits;
        let number = self.runs + self.whole_runs + 1;
        let left = limits.until.map(|until| until.saturating_duration_since(Instant::now()));
        if number > limits.max_runs.max(1) + self.extra_runs
            || left.is_some_and(|left| left.is_zero())
        {
            self.ended = self.ended.or(Some(WhyReason::Budget));
        }
        if self.ended.is_some() {
            return Ok(None);
        }
        (self.find.watch)(&TrialStart {
            run: number,
            what: what.to_owned(),
            likely: self.likely.as_ref().map(|changes| changes.join(", ")),
        });
        self.lay_in(states)?;
        let mut commands = self.find.commands.clone();
        if let Some((line, _)) = &self.selection {
            commands.lines = vec![line.clone()];
            self.runs += 1;
        } else {
            self.whole_runs += 1;
        }
        // uv does not sync because the folders of a copy look new to it, and it would build the package again
        // for each trial.
        if !states.keys().any(|path| PACKAGING.contains(&path.file_name())) {
            commands.environment.push("UV_NO_SYNC=1".to_owned());
        }
        // The limit of the first run, where the settings have none.
        let each = commands.timeout.unwrap_or(Duration::from_mins(30));
        let each = match limits.each {
            // A red run of the whole command may have stopped at its first failure.
            Some(_) if self.selection.is_none() => each.min(MOST_AFTER_RUN),
            Some(most) => each.min(most),
            None if self.longest.is_zero() => each,
            // The least limit of a later run; otherwise five times the longest so far.
            None => each.min((self.longest * 5).max(Duration::from_secs(30))),
        };
        let began = Instant::now();
        let how = CommandsAt {
            commands: &commands,
            place: &self.place,
            prefix: &self.find.workspace.prefix,
            redactor: self.find.redactor,
            source: self.find.workspace.source.as_ref(),
            limit: RunLimit { each, all: left },
        };
        let ran = if let Some(plan) = plan {
            let (ran, traced) = run_traced(&how, plan, self.find.stop)?;
            self.traced = traced;
            ran
        } else {
            let ran = how.run(self.find.stop)?;
            self.longest = self.longest.max(began.elapsed());
            ran
        };
        if ran.interrupted {
            self.ended = Some(WhyReason::Interrupted);
        } else if ran.cut_short
            // For `mendit run`, a rerun that takes this long is no evidence about the tests.
            || limits.each.is_some()
                && self.red.exit_code.is_some()
                && ran.observed.test_result.timed_out
        {
            self.ended = Some(WhyReason::Budget);
        }
        Ok(self.ended.is_none().then_some(ran))
    }

    // Brings the files of the copy into these states.
    fn lay_in(&mut self, states: &States) -> Result<(), RepairError> {
        let source = self.find.workspace.source.as_ref();
        let changes = states.iter().filter_map(|(path, state)| {
            let before = FileState::read(source, path);
            (before != *state).then(|| Change::between(path.clone(), before, state.clone()))
        });
        let changes: Vec<Change> = changes.collect();
        self.place.reset()?;
        self.place.write(&changes)?;
        Ok(())
    }
}

// How many tests runners counted in a log.
fn count_tests(log: &str) -> u64 {
    counts(log).iter().map(|count| count.tests).sum()
}

// Whether the runner ran no test at all.
fn ran_nothing(ran: &CommandsRun) -> bool {
    let accounts = ran.evidence.iter().flat_map(|evidence| &evidence.accounts);
    let counts = accounts.map(|account| account.counts.total() + account.counts.errors);
    let counts: Vec<u64> = counts.collect();
    ran.diagnosis.failing_tests.is_empty()
        && counts.iter().all(|count| *count == 0)
        && (ran.observed.passed || !counts.is_empty())
}
