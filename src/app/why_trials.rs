use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::last_run::{last_command, last_log};
use super::remedy::around;
use super::remedy::missing_program;
use super::run_verdict::not_started;
use super::{App, AppError, Progress};
use crate::diagnose::{LogFacts, diagnose_in};
use crate::exec::Stop;
use crate::model::{
    Diagnosis, FailureKind, Remedy, RepoPath, TestEnd, Traced, WhyOutcome, WhyReason, WhyTrial,
};
use crate::patch::{Change, FileState};
use crate::policy::CommandFiles;
use crate::repair::{
    Commands, CommandsRun, RunLimit, TraceRun, files_digest, is_path, own_place, run_traced,
};
use crate::runners::{WithOthers, chosen, with_others};
use crate::workplace::Workplace;
use crate::workspace::Workspace;

/// Files with the content they are to have; `None` for one that is to be gone.
pub(super) type States = BTreeMap<RepoPath, Option<FileState>>;

/// What trials stand on.
pub(super) struct TrialsSetup<'a> {
    pub(super) app: &'a App,
    pub(super) workspace: &'a Workspace,
    pub(super) place: Workplace<'a>,
    pub(super) commands: &'a Commands,
    pub(super) stop: &'a Stop,
    pub(super) progress: &'a dyn Progress,
    pub(super) until: Option<Instant>,
    pub(super) max_runs: u32,
    /// Whether the failing tests alone are run, and nothing where that cannot be had.
    pub(super) alone_only: bool,
}

/// Runs the failing tests with other states of files in a workplace.
pub(super) struct Trials<'a> {
    setup: TrialsSetup<'a>,
    /// What failed, and the diagnosis that says so.
    diagnosis: Option<Diagnosis>,
    tests: BTreeSet<String>,
    errors: BTreeSet<String>,
    // Those of them that a state in which the others pass skips.
    skipped: BTreeSet<String>,
    // Whether it was counted how many of them are run alone.
    is_counted: bool,
    // The line that runs the failing tests alone, and how many it names.
    alone: Option<(String, usize)>,
    // How they are run for a look at what they run.
    plan: Option<WithOthers>,
    tried: Vec<WhyTrial>,
    // What of functions ran in the failing tests, and how that is seen in the next run.
    ran: Traced,
    look: Option<WithOthers>,
    // The commit whose files were laid in then.
    ran_at: Option<String>,
    // Whether they were seen to fail in the workplace, and not only where they were run before.
    failed_here: bool,
    // What the command wrote when it failed, and why it never began.
    log: String,
    not_run: Option<WhyReason>,
    runs: u32,
    whole_runs: u32,
    took: Duration,
    /// Why no more can be run.
    ended: Option<WhyReason>,
}

/// What a search leaves for its document.
pub(super) struct TrialLog {
    pub(super) tests: Vec<String>,
    pub(super) trials: Vec<WhyTrial>,
    pub(super) runs: u32,
    pub(super) whole_runs: u32,
}

impl<'a> Trials<'a> {
    pub(super) fn open(setup: TrialsSetup<'a>) -> Self {
        Self {
            setup,
            diagnosis: None,
            tests: BTreeSet::new(),
            errors: BTreeSet::new(),
            skipped: BTreeSet::new(),
            is_counted: false,
            alone: None,
            plan: None,
            tried: Vec::new(),
            ran: Traced::default(),
            look: None,
            ran_at: None,
            failed_here: false,
            log: String::new(),
            not_run: None,
            runs: 0,
            whole_runs: 0,
            took: Duration::ZERO,
            ended: None,
        }
    }

    pub(super) fn diagnosis(&self) -> Option<&Diagnosis> {
        self.diagnosis.as_ref()
    }

    /// What lies outside the changes and may have made it fail.
    pub(super) fn around(&self, line: &str) -> Vec<Remedy> {
        let of = |it| around(self.setup.workspace, (it, &self.log), line);
        let mut found = self.diagnosis.as_ref().map(of).unwrap_or_default();
        if let (Some(reason), []) = (self.not_run, found.as_slice()) {
            let message = not_started(line, reason == WhyReason::NotExecutable);
            let program = self.log.lines().find_map(missing_program);
            let program = program.or_else(|| line.split_whitespace().next());
            let program = program.unwrap_or_default();
            found.push(Remedy::new(format!("`{program}`: {message}"), None));
        }
        found
    }

    /// Why the command never began.
    pub(super) fn not_run(&self) -> Option<WhyReason> {
        self.not_run
    }

    /// Lines that ran in the failing tests, of the state that was seen first.
    pub(super) fn ran(&self) -> &Traced {
        &self.ran
    }

    /// Whether the tests were seen to fail in the workplace.
    pub(super) fn failed_here(&self) -> bool {
        self.failed_here
    }

    /// Takes what a run of the same tests on the same files showed.
    pub(super) fn knows(&mut self, traced: Traced) {
        self.failed_here = true;
        self.ran = traced;
    }

    /// Runs the failing tests once more as they are, before the others of their files, and looks which lines
    /// run. Where they do not fail so, the whole command is asked from then on.
    /// `None` where that was not needed: they were seen to fail here.
    pub(super) fn trace(
        &mut self,
        states: &States,
        commit: Option<&str>,
    ) -> Result<Option<WhyOutcome>, AppError> {
        let is_known = self.ran.failing > 0 && self.ran_at.as_deref() == commit;
        if self.failed_here && (self.plan.is_none() || is_known) {
            return Ok(None);
        }
        self.ran_at = commit.map(str::to_owned);
        self.look = self.plan.clone();
        // That they cannot be run alone hinders trials, and not a look.
        let ended = self.ended.take();
        let outcome = self.try_states(states, commit, Vec::new())?;
        self.ended = self.ended.or(ended);
        self.look = None;
        self.failed_here |= outcome == Some(WhyOutcome::Fails);
        if outcome.is_some_and(|it| it != WhyOutcome::Fails) {
            self.ran = Traced::default();
        }
        Ok(outcome)
    }

    /// Why nothing more can be run.
    pub(super) fn ended(&self) -> Option<WhyReason> {
        self.ended
    }

    pub(super) fn into_log(self) -> TrialLog {
        TrialLog {
            tests: self.tests.difference(&self.skipped).cloned().collect(),
            trials: self.tried,
            runs: self.runs,
            whole_runs: self.whole_runs,
        }
    }

    /// Finds out what fails: from the last run where it was on these very files, else by a run. Whether
    /// anything does.
    pub(super) fn baseline(&mut self, line: &str) -> Result<bool, AppError> {
        let diagnosis = match self.last_diagnosis(line)? {
            Some(diagnosis) => diagnosis,
            None if self.setup.alone_only => {
                self.ended = Some(WhyReason::Budget);
                return Ok(false);
            }
            None => match self.run(&States::new(), true)? {
                Some(ran) if !ran.observed.passed => {
                    self.failed_here = true;
                    self.not_run = not_run(&ran.diagnosis, ran.observed.test_result.exit);
                    self.log = ran.log;
                    ran.diagnosis
                }
                _ => return Ok(false),
            },
        };
        Ok(self.begin(line, diagnosis))
    }

    /// The same where what fails is known.
    pub(super) fn begin(&mut self, line: &str, diagnosis: Diagnosis) -> bool {
        self.tests = diagnosis.failing_tests.iter().cloned().collect();
        self.errors = errors(&diagnosis);
        let source = self.setup.workspace.source.as_ref();
        let prefix = &self.setup.workspace.prefix;
        let files = CommandFiles::find(&[line.to_owned()], prefix, source);
        let is_path = |word: &str| is_path(source, prefix, word);
        let own = own_place(line, &files, &diagnosis.tests, (source, prefix));
        self.alone = chosen(&own.line, own.runner, &own.tests, &is_path)
            .filter(|_| self.setup.commands.lines.len() == 1);
        let whole = || WithOthers {
            line: line.to_owned(),
            first: Vec::new(),
            others: None,
        };
        let plan =
            || with_others(&own.line, own.runner, &own.tests, &is_path).unwrap_or_else(whole);
        let traced = self.setup.app.settings().context.trace;
        self.plan = (traced && self.setup.commands.lines.len() == 1).then(plan);
        if let Some((_, count)) = self.alone {
            let tests = diagnosis.tests.iter().take(count);
            self.tests = tests.map(|test| test.id.clone()).collect();
        }
        self.diagnosis = Some(diagnosis);
        self.whole_instead();
        true
    }

    // From now on the whole command is run, where that is wanted.
    fn whole_instead(&mut self) {
        if self.alone.is_none() && self.setup.alone_only {
            self.ended = Some(WhyReason::Budget);
        }
    }

    fn last_diagnosis(&mut self, line: &str) -> Result<Option<Diagnosis>, AppError> {
        let (app, workspace) = (self.setup.app, self.setup.workspace);
        let Some(last) = last_command(app)?.filter(|it| !it.passed) else {
            return Ok(None);
        };
        let source = workspace.source.as_ref();
        let same = last.again.line().as_deref() == Some(line)
            && last.again.prefix == workspace.prefix
            && last.again.files.as_deref() == Some(&files_digest(source, &[]));
        let Some(log) = last_log(app)?.filter(|_| same) else {
            return Ok(None);
        };
        let facts = LogFacts {
            exit_code: log.exit_code,
            timed_out: log.timed_out,
            command: Some(line.to_owned()),
            rules: app.rules(),
        };
        let diagnosis = diagnose_in(log.log.text(), &facts, source);
        self.not_run = not_run(&diagnosis, log.exit_code);
        log.log.text().clone_into(&mut self.log);
        Ok(Some(diagnosis))
    }

    /// Runs the failing tests with some files in another state. `without` says which changes are taken
    /// back, `commit` whose files were laid in. `None` when nothing more can be run.
    pub(super) fn try_states(
        &mut self,
        states: &States,
        commit: Option<&str>,
        without: Vec<String>,
    ) -> Result<Option<WhyOutcome>, AppError> {
        let what = match (commit, without.as_slice()) {
            (Some(commit), []) => format!("at {}", commit.get(..9).unwrap_or(commit)),
            (_, []) => "as it is".to_owned(),
            (_, [one]) => format!("without {one}"),
            (_, several) => format!("without {} changes", several.len()),
        };
        self.setup.progress.step(&format!("trying {what}"));
        let Some(ran) = self.run(states, false)? else {
            return Ok(None);
        };
        let mut outcome = self.outcome(&ran);
        if outcome == WhyOutcome::Other && self.counts_anew(&ran)? {
            outcome = self.outcome(&ran);
        }
        // Where the tests that are chosen do not fail alone as they did among the others, the whole
        // command is asked from then on.
        if self.alone.is_some() && states.is_empty() && outcome != WhyOutcome::Fails {
            self.alone = None;
            self.whole_instead();
            let Some(ran) = self.run(states, false)? else {
                return Ok(None);
            };
            outcome = self.outcome(&ran);
        }
        tracing::debug!(?outcome, "tried {what}");
        self.tried.push(WhyTrial {
            commit: commit.map(str::to_owned),
            count: without.len() as u64,
            without: without.into_iter().take(MAX_NAMED).collect(),
            outcome,
        });
        Ok(Some(outcome))
    }

    fn run(&mut self, states: &States, whole: bool) -> Result<Option<CommandsRun>, AppError> {
        if self.ended.is_some() {
            return Ok(None);
        }
        if self.runs + self.whole_runs >= self.setup.max_runs.max(1) {
            self.ended = Some(WhyReason::Budget);
            return Ok(None);
        }
        let left = self
            .setup
            .until
            .map(|it| it.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            self.ended = Some(WhyReason::Budget);
            return Ok(None);
        }
        let source = self.setup.workspace.source.as_ref();
        let changes: Vec<Change> = states
            .iter()
            .filter_map(|(path, state)| {
                let before = FileState::of(source, path);
                (before != *state).then(|| Change::between(path.clone(), before, state.clone()))
            })
            .collect();
        let place = &mut self.setup.place;
        let refused = crate::repair::RepairError::from;
        place.reset().map_err(refused)?;
        place.write(&changes).map_err(refused)?;
        let alone = self.alone.as_ref().filter(|_| !whole);
        let commands = Commands {
            lines: match alone {
                Some((line, _)) => vec![line.clone()],
                None => self.setup.commands.lines.clone(),
            },
            ..self.setup.commands.clone()
        };
        let each = self.setup.commands.timeout.unwrap_or(LONGEST);
        let each = if self.took.is_zero() {
            each
        } else {
            each.min((self.took * 5).max(LEAST))
        };
        let began = Instant::now();
        let how = TraceRun {
            commands: &commands,
            place,
            prefix: &self.setup.workspace.prefix,
            redactor: self.setup.app.redactor(),
            source,
            limit: RunLimit { each, all: left },
        };
        let look = self.look.take().filter(|_| !whole);
        let traced = look.map(|plan| run_traced(&how, &plan, self.setup.stop));
        let ran = if let Some((ran, traced)) = traced.transpose()? {
            self.ran = traced;
            ran
        } else {
            let ran = how.run(self.setup.stop)?;
            self.took = self.took.max(began.elapsed());
            ran
        };
        if alone.is_some() {
            self.runs += 1;
        } else {
            self.whole_runs += 1;
        }
        if ran.interrupted || ran.cut_short {
            let reason = if ran.interrupted {
                WhyReason::Interrupted
            } else {
                WhyReason::Budget
            };
            self.ended = Some(reason);
            return Ok(None);
        }
        Ok(Some(ran))
    }

    // What the tests that failed do now. A pass of a runner that is known is one that it counts.
    fn outcome(&mut self, ran: &CommandsRun) -> WhyOutcome {
        let failing = &ran.diagnosis.failing_tests;
        if self.tests.is_empty() {
            let now = errors(&ran.diagnosis);
            return if ran.observed.passed {
                WhyOutcome::Passes
            } else if self.errors.is_empty() || now.iter().any(|it| self.errors.contains(it)) {
                WhyOutcome::Fails
            } else {
                WhyOutcome::Other
            };
        }
        if failing.iter().any(|test| self.tests.contains(test)) {
            return WhyOutcome::Fails;
        }
        let passed = passed(ran);
        // Those that such a state skips tell nothing of it.
        let skipped = self.skipped_in(ran);
        let counted =
            passed.is_none_or(|passed| passed > 0 && passed + skipped.len() as u64 >= self.count());
        let others = !failing.is_empty() && passed.is_some();
        if counted && (ran.observed.passed || others) {
            self.skipped.extend(skipped);
            WhyOutcome::Passes
        } else {
            WhyOutcome::Other
        }
    }

    // Whether the line that runs the failing tests alone reaches fewer of them than it names, as where a name is
    // empty: then those that fail with it as things are, are asked for.
    fn counts_anew(&mut self, ran: &CommandsRun) -> Result<bool, AppError> {
        let green = ran.observed.passed && passed(ran) > Some(0);
        let Some(named) = self.alone.as_ref().map(|it| it.1).filter(|_| green) else {
            return Ok(false);
        };
        if self.is_counted {
            return Ok(false);
        }
        self.is_counted = true;
        let Some(as_is) = self.run(&States::new(), false)? else {
            return Ok(false);
        };
        let failing = as_is.diagnosis.failing_tests.into_iter();
        let reached: BTreeSet<String> = failing.filter(|it| self.tests.contains(it)).collect();
        let fewer = (1..named).contains(&reached.len());
        if let Some((_, count)) = self.alone.as_mut().filter(|_| fewer) {
            *count = reached.len();
            self.tests = reached;
        }
        Ok(fewer)
    }

    fn skipped_in(&self, ran: &CommandsRun) -> Vec<String> {
        let accounts: Vec<_> = ran.evidence.iter().flat_map(|it| &it.accounts).collect();
        let is_skipped = |test: &&String| {
            accounts
                .iter()
                .any(|it| it.end_of(test) == TestEnd::Skipped)
        };
        self.tests.iter().filter(is_skipped).cloned().collect()
    }

    fn count(&self) -> u64 {
        match &self.alone {
            // A file that could not be loaded counts as one.
            Some((_, count)) => *count as u64,
            None => 1,
        }
    }
}

// What all runners of a run count as passed; `None` where none counts.
fn passed(ran: &CommandsRun) -> Option<u64> {
    let accounts = ran.evidence.iter().flat_map(|it| &it.accounts);
    accounts
        .map(|account| account.counts.passed)
        .reduce(|all, one| all + one)
}

/// Changes of a trial that its document names.
const MAX_NAMED: usize = 20;
const LONGEST: Duration = Duration::from_mins(30);
const LEAST: Duration = Duration::from_secs(30);

// Whether nothing ran, since a program is not there or may not be executed.
fn not_run(diagnosis: &Diagnosis, code: Option<i32>) -> Option<WhyReason> {
    match diagnosis.kind {
        _ if !diagnosis.failing_tests.is_empty() => None,
        FailureKind::CommandNotFound => Some(WhyReason::CommandNotFound),
        FailureKind::PermissionDenied if code.is_none_or(|it| it == 126) => {
            Some(WhyReason::NotExecutable)
        }
        _ => None,
    }
}

// The lines that say what failed, without what differs from run to run.
fn errors(diagnosis: &Diagnosis) -> BTreeSet<String> {
    if diagnosis.kind == FailureKind::None {
        return BTreeSet::new();
    }
    let folded = |text: &str| {
        let digits = |it: char| if it.is_ascii_digit() { '0' } else { it };
        text.trim().chars().map(digits).collect::<String>()
    };
    diagnosis
        .evidence
        .iter()
        .map(|it| folded(&it.text))
        .collect()
}
