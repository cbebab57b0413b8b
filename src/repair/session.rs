use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ask::millis;
use super::commands::{CommandsRun, diagnose_again, run_commands};
use super::error::RepairError;
use super::history::History;
use super::journal::Journal;
use super::limits::{RunLimit, first_limit, later_limit};
use super::observe::observe_log;
use super::plan::{Policy, RunEnd, Step, next};
use super::setup::{Commands, Setup};
use super::task::Task;
use crate::diagnose::{LogFacts, diagnose_in};
use crate::exec::{SandboxState, Stop};
use crate::fixes::{Candidate, Judging, Question, find_fixes};
use crate::graph::Graph;
use crate::hint::lacked;
use crate::model::{
    AttemptResult, Code, CommandRun, Diagnosis, DiagnosisDocument, Event, FailedTest, FailureKind,
    FailurePacket, Level, NotConfined, Observed, PartResult, PreviousAttempt, Refused, RepoPath,
    SandboxMode, Traced,
};
use crate::patch::{FileState, Objects};
use crate::policy::Needs;
use crate::proof::{Evidence, hidden_failure};
use crate::workplace::{Plan, Workplace};

/// One run while it goes on.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a thing that was seen so far"
)]
pub(super) struct Session<'s> {
    pub(super) setup: &'s Setup<'s>,
    pub(super) stop: &'s Stop,
    pub(super) watch: &'s mut dyn FnMut(&Event),
    pub(super) journal: Journal<'s>,
    pub(super) place: Workplace<'s>,
    /// Every attempt, those of parts included.
    pub(super) all: Vec<AttemptResult>,
    /// What the files were before the first change that was kept.
    pub(super) base: BTreeMap<RepoPath, Option<FileState>>,
    /// Of those the tests in which no failure lay: what was kept of them proves nothing.
    pub(super) tests: BTreeMap<RepoPath, Option<FileState>>,
    /// The output of the commands on the state that later attempts stand on.
    pub(super) log: String,
    /// What that output says.
    pub(super) diagnosis: Option<Diagnosis>,
    pub(super) heals: Vec<Candidate>,
    pub(super) tried: Vec<Candidate>,
    pub(super) previous: Option<PreviousAttempt>,
    /// What the runners said without a change, and on each state that was kept since.
    pub(super) evidence: Vec<Evidence>,
    /// Runs without a change that failed.
    pub(super) red_runs: u32,
    /// Whether those did not end alike.
    pub(super) unstable: bool,
    /// Files that are known to be what runs.
    pub(super) seen: BTreeSet<RepoPath>,
    pub(super) interrupted: bool,
    /// What somebody changed in the worktree that showed in what was run, in words.
    pub(super) moved: Option<String>,
    /// What the sandbox refused to be written, each said once.
    pub(super) refused: BTreeSet<Refused>,
    /// What of the sandbox was in force when the commands ran first.
    pub(super) sandbox: Option<SandboxState>,
    /// Walls of it that could not be had then.
    pub(super) not_confined: Vec<NotConfined>,
    /// The parts of all splits, those of a part behind it.
    pub(super) parts: Vec<PartResult>,
    /// The number of the part that runs; empty for the whole.
    pub(super) part: String,
    pub(super) first: Option<Observed>,
    /// Each test that failed without a change, or on a state that was kept since.
    pub(super) failed: Vec<FailedTest>,
    /// What of kept changes is suspicious.
    pub(super) suspected: Vec<(Needs, String)>,
    /// The packet of the question that is being asked.
    pub(super) packet: Option<FailurePacket>,
    /// For one run of a command.
    pub(super) limit: Duration,
    /// The command that runs the failing tests alone, of the state that later attempts stand on.
    pub(super) alone: Option<String>,
    /// Whether they were seen to end otherwise alone than among the others.
    pub(super) never_alone: bool,
    /// Whether all that failed was counted as passed in a run of them alone with the change on trial.
    pub(super) pass_alone: bool,
    /// Whether the setup command has run.
    pub(super) is_set_up: bool,
    /// What the next run of the commands is for.
    pub(super) purpose: Option<String>,
    /// What the failing tests ran, where that was seen.
    pub(super) traced: Option<Traced>,
    pub(super) runs: Vec<CommandRun>,
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

impl<'s> Session<'s> {
    pub(super) fn open(
        setup: &'s Setup<'s>,
        stop: &'s Stop,
        watch: &'s mut dyn FnMut(&Event),
        before: Duration,
    ) -> Result<Self, RepairError> {
        let mut journal = Journal::open(setup.folder, setup.copy, setup.redactor, before)?;
        let closed = [setup.state, setup.folder].map(Path::to_owned).to_vec();
        let plan = Plan {
            choice: setup.workplace,
            slot: setup.slot,
            source: setup.source,
            root: setup.root,
            git: setup.git,
            shared: setup.shared.clone(),
            commands: &setup.commands.lines,
            closed,
        };
        let place = open_place(&plan, &mut journal, watch)?;
        Ok(Self {
            setup,
            stop,
            watch,
            journal,
            place,
            all: Vec::new(),
            base: BTreeMap::new(),
            tests: BTreeMap::new(),
            log: String::new(),
            diagnosis: None,
            heals: Vec::new(),
            tried: Vec::new(),
            previous: None,
            evidence: Vec::new(),
            red_runs: 0,
            unstable: false,
            seen: BTreeSet::new(),
            interrupted: false,
            moved: None,
            refused: BTreeSet::new(),
            sandbox: None,
            not_confined: Vec::new(),
            parts: Vec::new(),
            part: String::new(),
            first: None,
            failed: Vec::new(),
            suspected: Vec::new(),
            packet: None,
            limit: setup
                .commands
                .timeout
                .unwrap_or_else(|| first_limit(setup.policy.max_seconds)),
            alone: None,
            never_alone: false,
            pass_alone: false,
            is_set_up: false,
            purpose: None,
            traced: setup.request.traced.clone(),
            runs: Vec::new(),
        })
    }

    /// Does what the plan says until it says stop.
    pub(super) fn drive(
        &mut self,
        policy: &Policy,
        history: &mut History,
        task: Option<&Task>,
        focus: &[String],
    ) -> Result<RunEnd, RepairError> {
        let since = self.journal.seconds() - history.seconds;
        loop {
            history.seconds = self.journal.seconds() - since;
            history.interrupted = self.interrupted || self.stop.requested();
            history.moved.clone_from(&self.moved);
            match next(history, policy) {
                Step::RunBaseline => {
                    self.set_up()?;
                    // What the last run told is told better by this one.
                    history.heals = history.heals.filter(|_| history.last.is_none());
                    let ran = self.baseline("baseline", "to see what fails", false)?;
                    self.measure(&ran.observed);
                    history.hidden = self.evidence.first().and_then(hidden_failure);
                    history.reported = self.reported()?;
                    let document = DiagnosisDocument::new(&ran.diagnosis);
                    self.journal.json("diagnosis.json", &document)?;
                    self.stand_on(&ran);
                    self.first = Some(ran.observed.clone());
                    self.red_runs = u32::from(!ran.observed.passed);
                    self.unstable = ran.observed.test_result.timed_out;
                    history.baseline = Some(ran.observed);
                }
                Step::RepeatBaseline => {
                    let first = history.baseline.clone().unwrap_or_default();
                    let ran = self.repeat_baseline(&first)?;
                    let again = ran.observed;
                    self.red_runs += u32::from(!again.passed && !ran.cut_short);
                    self.unstable |= first.signature != again.signature;
                    history.repeated = Some(again);
                }
                Step::LookForHeals => {
                    self.look_for_heals()?;
                    history.heals = Some(self.heals.len());
                }
                Step::TryHeal => {
                    let Some(heal) = (!self.heals.is_empty()).then(|| self.heals.remove(0)) else {
                        history.heals = Some(0);
                        continue;
                    };
                    let result = self.try_heal(&heal, history)?;
                    // What was kept may have made room for the next.
                    history.heals = (!result.kept).then_some(self.heals.len());
                    self.tried.push(heal);
                    history.attempts.push(result);
                }
                Step::Ask {
                    level,
                    requested,
                    timeout,
                    pause,
                } => {
                    if self.paused(pause)? {
                        continue;
                    }
                    let ask = Ask {
                        level,
                        requested,
                        timeout,
                        task,
                        focus,
                        attempts_left: policy.max_attempts.saturating_sub(history.replies()),
                        seconds_left: policy.max_seconds.map(|limit| limit - history.seconds),
                    };
                    let result = self.ask(&ask, history)?;
                    history.attempts.push(result);
                }
                Step::Split { reason } => {
                    let end = self.split(reason, policy, history, task, focus)?;
                    history.split = Some(end);
                }
                Step::Stop(end) => return Ok(end),
            }
        }
    }

    // Waits before a call that was not answered yet; true when someone asked to stop.
    fn paused(&mut self, seconds: f64) -> Result<bool, RepairError> {
        let number = self.all.len() + 1;
        let folder = self.journal.path(&format!("attempts/{number:02}"));
        if seconds <= 0.0 || folder.exists() {
            return Ok(false);
        }
        self.event("warning", "agent_pause", json!({ "seconds": seconds }))?;
        let until = Instant::now() + Duration::try_from_secs_f64(seconds).unwrap_or_default();
        while Instant::now() < until {
            if self.stop.requested() {
                return Ok(true);
            }
            let left = until.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(PAUSE_STEP));
        }
        Ok(false)
    }

    /// Writes an event down and shows it.
    pub(super) fn event(
        &mut self,
        level: &str,
        name: &str,
        fields: Value,
    ) -> Result<(), RepairError> {
        tracing::debug!(%fields, "{name}");
        let event = self.journal.event(level, name, fields)?;
        (self.watch)(&event);
        Ok(())
    }

    /// For one run of the commands, now.
    pub(super) fn run_limit(&self) -> RunLimit {
        let all = self.setup.policy.max_seconds;
        let left = all.map(|all| (all - self.journal.seconds()).max(0.0));
        RunLimit {
            each: self.limit,
            all: left.and_then(|left| Duration::try_from_secs_f64(left).ok()),
        }
    }

    /// Runs the commands on the scratch copy as it is now.
    pub(super) fn run_commands(&mut self) -> Result<CommandsRun, RepairError> {
        self.run_lines(Vec::new())
    }

    /// Runs these lines in the place of the commands; the commands themselves where there are none.
    pub(super) fn run_lines(&mut self, alone: Vec<String>) -> Result<CommandsRun, RepairError> {
        let source = self.place.source()?;
        let started = self.journal.seconds();
        let whole = alone.is_empty();
        let commands = Commands {
            lines: if whole {
                self.setup.commands.lines.clone()
            } else {
                alone
            },
            ..self.setup.commands.clone()
        };
        let ran = run_commands(
            &commands,
            &self.place,
            self.setup.prefix,
            self.setup.redactor,
            &source,
            self.run_limit(),
            self.stop,
        )?;
        let why = self.purpose.take().unwrap_or_else(|| CHECKED.to_owned());
        self.runs.push(CommandRun {
            why: why + if whole { "" } else { ALONE },
            whole,
            seconds: millis(self.journal.seconds() - started),
        });
        self.interrupted |= ran.interrupted;
        drop(source);
        self.say_refused(&ran.refused, false)?;
        if self.sandbox.replace(ran.sandbox).is_none() {
            self.not_confined.clone_from(&ran.not_confined);
            self.say_what_is_open(ran.sandbox)?;
        }
        Ok(ran)
    }

    /// Whether somebody changed what shows through, so that no run can be told from its patch.
    pub(super) fn has_moved(&mut self) -> Result<bool, RepairError> {
        if self.moved.is_none()
            && let Some(path) = self.place.moved()?
        {
            self.moved = Some(format!(
                "`{path}` was changed in the worktree while this ran, and shows in what ran: start again, \
                 or with `--workplace copy`, which holds what it began with"
            ));
        }
        Ok(self.moved.is_some())
    }

    /// Says what the sandbox refused.
    pub(super) fn say_refused(
        &mut self,
        paths: &[PathBuf],
        agent: bool,
    ) -> Result<(), RepairError> {
        for path in paths {
            let path = path.to_string_lossy();
            let path = self.setup.redactor.redact(&path).text.into_owned();
            let message = json!({ "path": path, "agent": agent });
            if self.refused.insert(Refused { path, agent }) {
                self.event("warning", "sandbox_refused", message)?;
            }
        }
        Ok(())
    }

    // Code R211: once a run, for whoever reads along and for whoever reads the events.
    fn say_what_is_open(&mut self, state: SandboxState) -> Result<(), RepairError> {
        let requested = self.setup.commands.sandbox != SandboxMode::Off;
        if !requested || state == SandboxState::Enforced {
            return Ok(());
        }
        let missing = &self.not_confined;
        let message = json!({ "code": Code::R211, "sandbox": state, "not_confined": missing });
        self.event("warning", "sandbox", message)
    }

    /// Takes a run of the commands as what later attempts stand on.
    pub(super) fn stand_on(&mut self, ran: &CommandsRun) {
        self.log.clone_from(&ran.log);
        self.note_failed(&ran.diagnosis);
        self.diagnosis = Some(ran.diagnosis.clone());
        self.choose_alone(&ran.diagnosis, &ran.evidence);
    }

    // Once more without a change: the failing tests alone. Where these are others then, the whole
    // command says whether that is chance.
    fn repeat_baseline(&mut self, first: &Observed) -> Result<CommandsRun, RepairError> {
        if self.alone.is_some() {
            let ran = self.baseline("baseline-alone", AGAIN, true)?;
            let same = ran.observed.failing_tests == first.failing_tests && !ran.observed.passed;
            if same || ran.cut_short || ran.interrupted {
                return Ok(ran);
            }
            self.never_alone = true;
            self.alone = None;
        }
        self.baseline("baseline-again", AGAIN, false)
    }

    /// Remembers which tests failed.
    pub(super) fn note_failed(&mut self, diagnosis: &Diagnosis) {
        for test in &diagnosis.tests {
            if self.failed.iter().all(|it| it.id != test.id) {
                self.failed.push(test.clone());
            }
        }
    }

    // A run that is written down already is not repeated.
    fn baseline(&mut self, name: &str, why: &str, alone: bool) -> Result<CommandsRun, RepairError> {
        let (document, log) = (format!("{name}.json"), format!("{name}.log"));
        let evidence = format!("{name}-evidence.json");
        let written: Option<Observed> = self.journal.document(&document);
        if let Some((observed, log)) = written.zip(self.journal.read(&log)) {
            let source = self.place.source()?;
            let command = self.setup.commands.lines.first();
            let command = command.map_or("", String::as_str);
            if !alone {
                self.hold_to_known(&evidence);
            }
            return Ok(CommandsRun {
                evidence: Evidence::new(),
                diagnosis: diagnose_again(
                    &log,
                    command,
                    &observed,
                    &self.setup.commands.rules,
                    &source,
                ),
                observed,
                log,
                cut_short: false,
                interrupted: false,
                refused: Vec::new(),
                sandbox: SandboxState::Enforced,
                not_confined: Vec::new(),
            });
        }
        let (limit, _) = self.run_limit().after(Duration::ZERO);
        let starts = json!({ "what": name, "why": why, "limit": millis(limit.as_secs_f64()) });
        self.event("info", "command_started", starts)?;
        self.purpose = Some(why.to_owned());
        let ran = if alone {
            self.run_alone()?
        } else {
            self.run_commands()?
        };
        self.place.reset()?;
        if !ran.interrupted && !self.has_moved()? {
            self.journal.text(&log, &ran.log)?;
            self.journal.json(&document, &ran.observed)?;
            if !alone {
                self.hold_to(&evidence, &ran.evidence)?;
            }
        }
        let fields = json!({
            "what": name,
            "passed": ran.observed.passed,
            "kind": ran.observed.kind,
            "end": ran.observed.test_result.message,
        });
        self.event("info", "command_ended", fields)?;
        Ok(ran)
    }

    // Nobody set a limit: the first run says how long the others may take.
    fn measure(&mut self, first: &Observed) {
        if self.setup.commands.timeout.is_none() {
            let took = self.runs.last().map_or(0.0, |run| run.seconds);
            let took = took.max(first.test_result.duration_seconds);
            self.limit = later_limit(first, took, self.limit);
        }
    }

    // What the log says that came with the run; nothing when it tells of no failure.
    fn reported(&mut self) -> Result<Option<Observed>, RepairError> {
        let Some(log) = &self.setup.reported else {
            return Ok(None);
        };
        let facts = LogFacts {
            exit_code: None,
            command: self.setup.commands.lines.first().cloned(),
            timed_out: false,
            rules: self.setup.commands.rules.clone(),
        };
        let source = self.place.source()?;
        let reported = observe_log(&diagnose_in(log, &facts, &source), log);
        drop(source);
        let message = json!({
            "kind": reported.kind,
            "failingTests": reported.failing_tests,
        });
        self.event("info", "reported_failure", message)?;
        let is_failure = !matches!(reported.kind, FailureKind::None | FailureKind::Unknown);
        Ok(Some(reported).filter(|it| is_failure || !it.failing_tests.is_empty()))
    }

    fn look_for_heals(&mut self) -> Result<(), RepairError> {
        let source = self.place.source()?;
        let Some(diagnosis) = &self.diagnosis else {
            return Ok(());
        };
        let read = self.setup.read;
        let may_read = |path: &RepoPath| read.refuse(path).is_none();
        let ask = crate::hint::Ask {
            known: &self.setup.request.known_names,
            installed: &self.setup.request.installed,
            may_read: &may_read,
        };
        let objects = self.place.objects();
        let lines = self.setup.commands.all();
        let question = Question {
            wanted: &lacked(&source, diagnosis),
            logs: &[(diagnosis.clone(), self.log.as_str())],
            graph: &Graph::new(&source),
            ask: self.setup.policy.heal_imports.then_some(&ask),
            judging: Judging {
                lines: &lines,
                prefix: self.setup.prefix,
                allowed: &self.setup.allowed,
                objects: objects.as_ref().map(|it| it as &dyn Objects),
            },
        };
        let found = find_fixes(&question).edits.into_iter();
        self.heals = found.filter(|it| !self.tried.contains(it)).collect();
        let count = self.heals.len();
        self.event("info", "heals_found", json!({ "count": count }))
    }
}

// How soon a stop is heard.
const PAUSE_STEP: Duration = Duration::from_millis(100);
const AGAIN: &str = "once more without a change, since a failure of this kind may pass by itself";
const ALONE: &str = " (the failing tests alone)";
const CHECKED: &str = "to see whether what it said holds";

// A copy that takes long is heard of.
fn open_place<'s>(
    plan: &Plan<'s>,
    journal: &mut Journal,
    watch: &mut dyn FnMut(&Event),
) -> Result<Workplace<'s>, RepairError> {
    let progress = RefCell::new((journal, watch, Instant::now()));
    let place = Workplace::open(plan, &|done, of| {
        let (journal, watch, last) = &mut *progress.borrow_mut();
        if last.elapsed() < TOLD_EVERY {
            return;
        }
        *last = Instant::now();
        let message = json!({ "files": done, "of": of });
        // The copy goes on whether or not it can be told.
        if let Ok(event) = journal.event("info", "workplace_copying", message) {
            watch(&event);
        }
    })?;
    Ok(place)
}

const TOLD_EVERY: Duration = Duration::from_secs(2);
