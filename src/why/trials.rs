use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::failures::{Failures, Observation, passed};
use crate::exec::Stop;
use crate::model::{Diagnosis, FailureKind, RepoPath, Traced, WhyOutcome, WhyReason, WhyTrial};
use crate::patch::{Change, FileState};
use crate::policy::{CommandFiles, Redactor};
use crate::repair::{
    Commands, CommandsRun, RepairError, RunLimit, TraceRun, is_path, own_place, run_traced,
};
use crate::runners::{WithOthers, chosen, with_others};
use crate::workplace::Workplace;
use crate::workspace::Workspace;

/// Files with the content they are to have; `None` for one that is to be gone.
pub type States = BTreeMap<RepoPath, Option<FileState>>;

/// Where and how trials are run.
pub struct TrialSetup<'a> {
    /// The repository.
    pub workspace: &'a Workspace,
    /// The isolated copy that they run in.
    pub place: Workplace<'a>,
    /// The command, and how it is run.
    pub commands: &'a Commands,
    /// Masks secrets.
    pub redactor: &'a Redactor,
    /// Ends them.
    pub stop: &'a Stop,
    /// Is told what is tried.
    pub watch: &'a dyn Fn(&TrialStart),
    /// What they may cost.
    pub limits: TrialLimits,
    /// Whether lines that run may be looked at.
    pub trace: bool,
}

/// What trials may cost.
#[derive(Debug, Clone, Copy)]
pub struct TrialLimits {
    /// When the last must have ended.
    pub until: Option<Instant>,
    /// Runs at most.
    pub max_runs: u32,
    /// The time of one run; `None` takes five times the longest so far.
    pub each: Option<Duration>,
    /// Whether the whole command may be run where its failing tests cannot be run alone.
    pub whole: bool,
}

/// A trial that begins.
#[derive(Debug, Clone)]
pub struct TrialStart {
    /// Which run it is, from 1.
    pub run: u32,
    /// The state of the files, in words.
    pub what: String,
    /// A change without which the tests passed once, as `path:line`.
    pub likely: Option<String>,
}

/// A command that failed, as a search begins with it.
pub struct RedRun {
    /// The line.
    pub line: String,
    /// What it failed with.
    pub diagnosis: Diagnosis,
    /// What it wrote, without escapes and secrets.
    pub log: String,
    /// Its exit code.
    pub exit_code: Option<i32>,
}

/// Runs the failing tests with other states of files in an isolated copy.
pub struct Trials<'a> {
    setup: TrialSetup<'a>,
    red: RedRun,
    /// The failures, each with its outcomes.
    pub failures: Failures,
    /// The smallest set of changes without which the tests passed once.
    pub likely: Option<Vec<String>>,
    // The line that runs the failing tests alone, and how many it names.
    selection: Option<(String, usize)>,
    selections: u32,
    is_counted: bool,
    trace_plan: Option<WithOthers>,
    traced: Traced,
    next_trace: Option<WithOthers>,
    failed_here: bool,
    tried: Vec<WhyTrial>,
    runs: u32,
    whole_runs: u32,
    longest: Duration,
    ended: Option<WhyReason>,
}

/// What trials leave for a document.
pub struct TrialLog {
    /// The failing tests that were asked about.
    pub tests: Vec<String>,
    /// Those that failed at the base in the same way.
    pub failed_before: Vec<String>,
    /// In order.
    pub trials: Vec<WhyTrial>,
    /// Runs of the failing tests.
    pub runs: u32,
    /// Runs of the whole command.
    pub whole_runs: u32,
}

impl<'a> Trials<'a> {
    /// Starts from a red run.
    #[must_use]
    pub fn start(setup: TrialSetup<'a>, red: RedRun) -> Self {
        let mut trials = Self {
            failures: Failures::default(),
            likely: None,
            selection: None,
            selections: 0,
            is_counted: false,
            trace_plan: None,
            traced: Traced::default(),
            next_trace: None,
            failed_here: false,
            tried: Vec::new(),
            runs: 0,
            whole_runs: 0,
            longest: Duration::ZERO,
            ended: None,
            setup,
            red,
        };
        trials.select();
        trials
    }

    /// Runs the whole command first; `None` where it passes or nothing more can be run.
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn with_red_run(setup: TrialSetup<'a>, line: &str) -> Result<(Self, bool), RepairError> {
        let unknown = RedRun {
            line: line.to_owned(),
            diagnosis: crate::diagnose::diagnose("", &crate::diagnose::LogFacts::default(), None),
            log: String::new(),
            exit_code: None,
        };
        let mut trials = Self::start(setup, unknown);
        trials.selection = None;
        let Some(ran) = trials.run(&States::new(), "the command as it is")? else {
            return Ok((trials, false));
        };
        if ran.observed.passed {
            return Ok((trials, false));
        }
        trials.red.exit_code = ran.observed.test_result.exit;
        trials.red.diagnosis = ran.diagnosis;
        trials.red.log = ran.log;
        trials.select();
        trials.failed_here = trials.selection.is_none();
        Ok((trials, true))
    }

    // Finds out how the failing tests are run alone.
    fn select(&mut self) {
        let setup = &self.setup;
        let (source, prefix) = (setup.workspace.source.as_ref(), &setup.workspace.prefix);
        let (line, tests) = (&self.red.line, &self.red.diagnosis.tests);
        let files = CommandFiles::find(std::slice::from_ref(line), prefix, source);
        let is_path = |word: &str| is_path(source, prefix, word);
        let own = own_place(line, &files, tests);
        self.failures = Failures::collect(&self.red.diagnosis, &self.red.log);
        if setup.commands.lines.len() != 1 {
            return;
        }
        self.selection = chosen(&own.line, own.runner, &own.tests, &is_path);
        if let Some((_, count)) = self.selection {
            self.failures.truncate(count);
        }
        if setup.trace {
            let plan = with_others(&own.line, own.runner, &own.tests, &is_path);
            self.trace_plan = Some(plan.unwrap_or_else(|| WithOthers {
                line: line.clone(),
                first: Vec::new(),
                others: None,
            }));
        }
        self.end_without_selection();
    }

    /// The red run.
    #[must_use]
    pub fn red(&self) -> &RedRun {
        &self.red
    }

    /// Why the command never began.
    #[must_use]
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

    /// The lines that ran in the failing tests.
    #[must_use]
    pub fn traced(&self) -> &Traced {
        &self.traced
    }

    /// Takes the trace of an earlier run on the same files.
    pub fn take_trace(&mut self, traced: Traced) {
        self.traced = traced;
    }

    /// Whether the tests were seen to fail in the isolated copy, as they are run there now.
    #[must_use]
    pub fn failed_here(&self) -> bool {
        self.failed_here
    }

    /// Counts how often the way to run the tests was given up; observations of another way do not hold.
    #[must_use]
    pub fn selections(&self) -> u32 {
        self.selections
    }

    /// Why nothing more can be run.
    #[must_use]
    pub fn ended(&self) -> Option<WhyReason> {
        self.ended
    }

    /// Ends the trials.
    #[must_use]
    pub fn into_log(self) -> (TrialLog, RedRun) {
        let log = TrialLog {
            tests: self.failures.tests(),
            failed_before: self.failures.failed_before(),
            trials: self.tried,
            runs: self.runs,
            whole_runs: self.whole_runs,
        };
        (log, self.red)
    }

    /// Runs the failing tests once more as they are, and sees which lines run. `None` where that is known.
    ///
    /// # Errors
    /// When they cannot be run.
    pub fn trace(&mut self, states: &States) -> Result<Option<WhyOutcome>, RepairError> {
        if self.traced.failing > 0 || self.failed_here && self.trace_plan.is_none() {
            return Ok(None);
        }
        self.next_trace.clone_from(&self.trace_plan);
        // Tests that cannot be run alone can be looked at all the same.
        let ended = self.ended.take();
        let seen = self.try_states(states, None, &[])?;
        self.ended = self.ended.or(ended);
        self.next_trace = None;
        let outcome = seen.map(|seen| self.failures.outcome(&seen));
        if outcome.is_some_and(|outcome| outcome != WhyOutcome::Fails) {
            self.traced = Traced::default();
        }
        Ok(outcome)
    }

    /// Runs the failing tests with some files in another state. `reverted` names the changes that are,
    /// `commit` whose files were laid in. `None` when nothing more can be run.
    ///
    /// # Errors
    /// When they cannot be run.
    pub fn try_states(
        &mut self,
        states: &States,
        commit: Option<&str>,
        reverted: &[String],
    ) -> Result<Option<Observation>, RepairError> {
        let what = match (commit, reverted) {
            (Some(commit), []) => format!("at {}", commit.get(..9).unwrap_or(commit)),
            (_, []) => "as it is".to_owned(),
            (_, [one]) => format!("without {one}"),
            (_, several) => format!("without {} changes", several.len()),
        };
        let is_as_it_is = states.is_empty();
        let Some(mut ran) = self.run(states, &what)? else {
            return Ok(None);
        };
        if self.selection.is_some() && !self.failed_here && ran_nothing(&ran) {
            self.drop_selection();
            let Some(whole) = self.run(states, &what)? else {
                return Ok(None);
            };
            ran = whole;
        }
        let mut seen = self.observe(&ran);
        if self.failures.outcome(&seen) == WhyOutcome::Other && self.count_anew(&ran)? {
            seen = self.observe(&ran);
        }
        // Tests that do not fail alone as they did among the others are run with them from then on.
        if is_as_it_is
            && self.selection.is_some()
            && self.failures.outcome(&seen) != WhyOutcome::Fails
        {
            self.drop_selection();
            let Some(ran) = self.run(states, &what)? else {
                return Ok(None);
            };
            seen = self.observe(&ran);
        }
        let outcome = self.failures.outcome(&seen);
        self.failed_here |= is_as_it_is && outcome == WhyOutcome::Fails;
        if outcome == WhyOutcome::Passes {
            self.failures.drop_skipped(&seen);
            let is_less = |old: &Vec<String>| reverted.len() < old.len();
            if !reverted.is_empty() && self.likely.as_ref().is_none_or(is_less) {
                self.likely = Some(reverted.to_vec());
            }
        }
        self.tried.push(WhyTrial {
            commit: commit.map(str::to_owned),
            count: reverted.len() as u64,
            without: reverted.iter().take(MAX_NAMED).cloned().collect(),
            outcome,
        });
        Ok(Some(seen))
    }

    fn observe(&self, ran: &CommandsRun) -> Observation {
        let named = self.selection.as_ref().map_or(1, |it| it.1);
        self.failures.observe(ran, named)
    }

    fn drop_selection(&mut self) {
        self.selection = None;
        self.selections += 1;
        self.failed_here = false;
        self.failures = Failures::collect(&self.red.diagnosis, &self.red.log);
        self.likely = None;
        self.end_without_selection();
    }

    fn end_without_selection(&mut self) {
        if self.selection.is_none() && !self.setup.limits.whole {
            self.ended = Some(WhyReason::Budget);
        }
    }

    // Whether the selection reaches fewer tests than it names, as where a name is empty: then those that fail
    // with it as things are, are asked about.
    fn count_anew(&mut self, ran: &CommandsRun) -> Result<bool, RepairError> {
        let green = ran.observed.passed && passed(ran) > Some(0);
        let Some(named) = self.selection.as_ref().map(|it| it.1).filter(|_| green) else {
            return Ok(false);
        };
        if std::mem::replace(&mut self.is_counted, true) {
            return Ok(false);
        }
        let Some(as_is) = self.run(&States::new(), "as it is")? else {
            return Ok(false);
        };
        let seen = self.observe(&as_is);
        self.failed_here |= self.failures.outcome(&seen) == WhyOutcome::Fails;
        let reached = self.failures.keep_failing(&seen);
        let fewer = (1..named).contains(&reached);
        if let Some((_, count)) = self.selection.as_mut().filter(|_| fewer) {
            *count = reached;
        } else {
            self.failures.unsplit();
        }
        Ok(fewer)
    }

    fn run(&mut self, states: &States, what: &str) -> Result<Option<CommandsRun>, RepairError> {
        let limits = self.setup.limits;
        let left = limits
            .until
            .map(|until| until.saturating_duration_since(Instant::now()));
        let is_spent = self.runs + self.whole_runs >= limits.max_runs.max(1)
            || left.is_some_and(|left| left.is_zero());
        if is_spent && self.ended.is_none() {
            self.ended = Some(WhyReason::Budget);
        }
        if self.ended.is_some() {
            return Ok(None);
        }
        (self.setup.watch)(&TrialStart {
            run: self.runs + self.whole_runs + 1,
            what: what.to_owned(),
            likely: self.likely.as_ref().map(|changes| changes.join(", ")),
        });
        self.lay_in(states)?;
        let selected = self.selection.as_ref();
        let commands = Commands {
            lines: match selected {
                Some((line, _)) => vec![line.clone()],
                None => self.setup.commands.lines.clone(),
            },
            ..self.setup.commands.clone()
        };
        let each = self.setup.commands.timeout.unwrap_or(LONGEST);
        let each = match limits.each {
            Some(most) => each.min(most),
            None if self.longest.is_zero() => each,
            None => each.min((self.longest * 5).max(LEAST)),
        };
        let began = Instant::now();
        let how = TraceRun {
            commands: &commands,
            place: &self.setup.place,
            prefix: &self.setup.workspace.prefix,
            redactor: self.setup.redactor,
            source: self.setup.workspace.source.as_ref(),
            limit: RunLimit { each, all: left },
        };
        let ran = if let Some(plan) = self.next_trace.take() {
            let (ran, traced) = run_traced(&how, &plan, self.setup.stop)?;
            self.traced = traced;
            ran
        } else {
            let ran = how.run(self.setup.stop)?;
            self.longest = self.longest.max(began.elapsed());
            ran
        };
        if selected.is_some() {
            self.runs += 1;
        } else {
            self.whole_runs += 1;
        }
        if ran.interrupted || ran.cut_short {
            self.ended = Some(if ran.interrupted {
                WhyReason::Interrupted
            } else {
                WhyReason::Budget
            });
            return Ok(None);
        }
        Ok(Some(ran))
    }

    // Makes the files of the copy what they are to be.
    fn lay_in(&mut self, states: &States) -> Result<(), RepairError> {
        let source = self.setup.workspace.source.as_ref();
        let changes = states.iter().filter_map(|(path, state)| {
            let before = FileState::of(source, path);
            (before != *state).then(|| Change::between(path.clone(), before, state.clone()))
        });
        let changes: Vec<Change> = changes.collect();
        let place = &mut self.setup.place;
        place.reset()?;
        place.write(&changes)?;
        Ok(())
    }
}

// Whether the runner ran no test at all, as where its words reached nothing.
fn ran_nothing(ran: &CommandsRun) -> bool {
    let accounts = ran.evidence.iter().flat_map(|it| &it.accounts);
    let counts: Vec<u64> = accounts
        .map(|it| it.counts.total() + it.counts.errors)
        .collect();
    ran.diagnosis.failing_tests.is_empty()
        && counts.iter().all(|count| *count == 0)
        && (ran.observed.passed || !counts.is_empty())
}

/// Changes of a trial that its document names.
const MAX_NAMED: usize = 20;
const LONGEST: Duration = Duration::from_mins(30);
const LEAST: Duration = Duration::from_secs(30);
