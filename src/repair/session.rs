use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ask::millis;
use super::commands::{Ran, diagnose_again, run_commands};
use super::error::RepairError;
use super::heal::Heal;
use super::heals::heals;
use super::history::{History, SplitEnd, standing};
use super::journal::{Journal, read_json};
use super::limits::{first_limit, later_limit};
use super::observe::observe_log;
use super::plan::{End, Policy, Step, next};
use super::setup::Setup;
use super::split::{Part, SplitInput, split};
use super::task::{Estimate, Task};
use crate::diagnose::{LogFacts, diagnose_in};
use crate::exec::{SandboxMode, SandboxState, Stop};
use crate::model::{
    AttemptResult, Code, CommandRun, Diagnosis, DiagnosisDocument, Event, FailureKind,
    FailurePacket, Level, MentionedFile, Observed, PreviousAttempt, RepoPath, StopReason,
};
use crate::patch::FileState;
use crate::proof::Evidence;
use crate::workplace::{Plan, Workplace};

/// One run while it goes on.
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
    pub(super) heals: Vec<Heal>,
    pub(super) tried: Vec<Heal>,
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
    /// What the sandbox refused to be written, each said once.
    pub(super) refused: BTreeSet<PathBuf>,
    /// What of the sandbox was in force when the commands ran first.
    pub(super) sandbox: Option<SandboxState>,
    /// Titles of the parts of a split, in the order they ran.
    pub(super) parts: Vec<String>,
    pub(super) first: Option<Observed>,
    /// The packet of the question that is being asked.
    pub(super) packet: Option<FailurePacket>,
    /// For one run of a command.
    pub(super) limit: Duration,
    /// What the next run of the commands is for.
    pub(super) purpose: Option<String>,
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
            refused: BTreeSet::new(),
            sandbox: None,
            parts: Vec::new(),
            first: None,
            packet: None,
            limit: setup
                .commands
                .timeout
                .unwrap_or_else(|| first_limit(setup.policy.max_seconds)),
            purpose: None,
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
    ) -> Result<End, RepairError> {
        let since = self.journal.seconds() - history.seconds;
        loop {
            history.seconds = self.journal.seconds() - since;
            history.interrupted = self.interrupted || self.stop.requested();
            match next(history, policy) {
                Step::RunBaseline => {
                    let ran = self.baseline("baseline", "to see what fails")?;
                    self.measure(&ran.observed);
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
                    let again = self.baseline("baseline-again", AGAIN)?.observed;
                    self.red_runs += u32::from(!again.passed);
                    let first = history.baseline.as_ref();
                    self.unstable |= first.is_some_and(|it| it.signature != again.signature);
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
                } => {
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

    /// Writes an event down and shows it.
    pub(super) fn event(
        &mut self,
        level: &str,
        name: &str,
        fields: Value,
    ) -> Result<(), RepairError> {
        let event = self.journal.event(level, name, fields)?;
        (self.watch)(&event);
        Ok(())
    }

    /// Runs the commands on the scratch copy as it is now.
    pub(super) fn run_commands(&mut self) -> Result<Ran, RepairError> {
        let source = self.place.source()?;
        let started = self.journal.seconds();
        let ran = run_commands(
            &self.setup.commands,
            &self.place,
            self.setup.prefix,
            self.setup.redactor,
            &source,
            self.limit,
            self.stop,
        )?;
        self.runs.push(CommandRun {
            why: self.purpose.take().unwrap_or_else(|| CHECKED.to_owned()),
            seconds: millis(self.journal.seconds() - started),
        });
        self.interrupted |= ran.interrupted;
        drop(source);
        for path in &ran.refused {
            if self.refused.insert(path.clone()) {
                let said = json!({ "path": path.display().to_string() });
                self.event("warning", "sandbox_refused", said)?;
            }
        }
        if self.sandbox.replace(ran.sandbox).is_none() {
            self.say_what_is_open(ran.sandbox)?;
        }
        Ok(ran)
    }

    // R211: once a run, for whoever reads along and for whoever reads the events.
    fn say_what_is_open(&mut self, state: SandboxState) -> Result<(), RepairError> {
        let asked = self.setup.commands.sandbox != SandboxMode::Off;
        if !asked || state == SandboxState::Enforced {
            return Ok(());
        }
        let said = json!({ "code": Code::R211, "sandbox": state });
        self.event("warning", "sandbox", said)
    }

    /// Takes a run of the commands as what later attempts stand on.
    pub(super) fn stand_on(&mut self, ran: &Ran) {
        self.log.clone_from(&ran.log);
        self.diagnosis = Some(ran.diagnosis.clone());
    }

    // A run that is written down already is not repeated.
    fn baseline(&mut self, name: &str, why: &str) -> Result<Ran, RepairError> {
        let (document, log) = (format!("{name}.json"), format!("{name}.log"));
        let said = format!("{name}-evidence.json");
        let known: Option<Observed> = read_json(&self.journal, &document);
        let text = std::fs::read_to_string(self.journal.path(&log));
        if let Some((observed, log)) = known.zip(text.ok()) {
            let source = self.place.source()?;
            let command = self.setup.commands.lines.first();
            let command = command.map_or("", String::as_str);
            self.hold_to_known(&said);
            return Ok(Ran {
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
                interrupted: false,
                refused: Vec::new(),
                sandbox: SandboxState::Enforced,
            });
        }
        let starts = json!({ "what": name, "why": why, "limit": self.limit.as_secs_f64() });
        self.event("info", "command_started", starts)?;
        self.purpose = Some(why.to_owned());
        let ran = self.run_commands()?;
        self.place.reset()?;
        if !ran.interrupted {
            self.journal.text(&log, &ran.log)?;
            self.journal.json(&document, &ran.observed)?;
            self.hold_to(&said, &ran.evidence)?;
        }
        let said = json!({
            "what": name,
            "passed": ran.observed.passed,
            "kind": ran.observed.kind,
            "end": ran.observed.test_result.message,
        });
        self.event("info", "command_ended", said)?;
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
        let said = json!({
            "kind": reported.kind,
            "failingTests": reported.failing_tests,
        });
        self.event("info", "reported_failure", said)?;
        let tells = !matches!(reported.kind, FailureKind::None | FailureKind::Unknown);
        Ok(Some(reported).filter(|it| tells || !it.failing_tests.is_empty()))
    }

    fn look_for_heals(&mut self) -> Result<(), RepairError> {
        let source = self.place.source()?;
        let Some(diagnosis) = &self.diagnosis else {
            return Ok(());
        };
        let read = self.setup.read;
        let may_read = |path: &RepoPath| read.refuse(path).is_none();
        let earlier = |path: &RepoPath| {
            let git = self.setup.git;
            git.map_or_else(Vec::new, |git| {
                git.earlier("HEAD", path, crate::hint::MAX_VERSIONS)
            })
        };
        let ask = crate::hint::Ask {
            known: &self.setup.request.known_names,
            installed: &self.setup.request.installed,
            may_read: &may_read,
            earlier: &earlier,
        };
        let found = heals(diagnosis, &self.log, &source, &ask);
        self.heals = found
            .into_iter()
            .filter(|heal| !self.tried.contains(heal))
            .collect();
        let count = self.heals.len();
        self.event("info", "heals_found", json!({ "count": count }))
    }

    // R42, R43: the parts run one after the other on one state, with shares of what is left.
    fn split(
        &mut self,
        reason: &'static str,
        policy: &Policy,
        history: &mut History,
        task: Option<&Task>,
        focus: &[String],
    ) -> Result<SplitEnd, RepairError> {
        let timed_out = reason == "timeout_auto_split";
        if timed_out {
            let mut said = json!({ "timeout_seconds": policy.agent_timeout });
            self.name_task(&mut said);
            self.event("warning", "coder_timeout_detected", said)?;
        }
        let mut said = json!({ "reason": reason });
        self.name_task(&mut said);
        self.event("info", "timeout_auto_split_started", said)?;
        let none = Task::default();
        let task = task.unwrap_or(&none);
        let estimate = if timed_out {
            Estimate::after_timeout()
        } else {
            task.estimate()
        };
        let failure = standing(history).or(history.baseline.as_ref()).cloned();
        // A part is only split by what is its own.
        let whole = policy.depth == 0;
        let failing = failure.as_ref().map_or(&[][..], |it| &it.failing_tests);
        let tests: Vec<String> = failing
            .iter()
            .filter(|test| whole || focus.contains(test))
            .cloned()
            .collect();
        let targets: Vec<RepoPath> = self
            .diagnosis
            .iter()
            .filter(|_| whole)
            .flat_map(|diagnosis| diagnosis.files.iter().filter_map(MentionedFile::repo_path))
            .collect();
        let input = SplitInput {
            task,
            tests: &tests,
            targets: &targets,
            commands: &self.setup.commands.lines,
        };
        let plan = split(&input, &self.place.source()?, estimate);
        self.journal.json("split.json", &plan)?;
        if plan.parts.is_empty() {
            let mut said = json!({ "error": plan.reason });
            self.name_task(&mut said);
            self.event("error", "timeout_auto_split_failed", said)?;
            return Ok(SplitEnd::Failed(plan.reason));
        }
        let mut said = json!({ "sub_issues_count": plan.parts.len() });
        self.name_task(&mut said);
        self.event("info", "timeout_auto_split_success", said)?;
        let count = u32::try_from(plan.parts.len()).unwrap_or(u32::MAX);
        let mut reasons = BTreeMap::new();
        for part in &plan.parts {
            let said = json!({
                "part": part.number,
                "title": part.title,
                "tests": part.tests,
                "criteria": part.criteria,
            });
            self.event("info", "part_started", said)?;
            self.parts.push(part.title.clone());
            let left = policy.max_attempts.saturating_sub(history.replies());
            let share = Policy {
                heal: false,
                max_attempts: (left / count).max(1),
                max_seconds: policy
                    .max_seconds
                    .map(|limit| (limit - history.seconds).max(0.0) / f64::from(count)),
                agent_timeout: (policy.agent_timeout / f64::from(count))
                    .max(MIN_PART_SECONDS.min(policy.agent_timeout)),
                depth: policy.depth + 1,
                estimated_turns: None,
                ..policy.clone()
            };
            let mut own = History {
                baseline: self.standing(history),
                repeated: self.standing(history),
                heals: Some(0),
                ..History::default()
            };
            let end = self.drive(&share, &mut own, Some(&task_of(part, task)), &part.tests)?;
            reasons.insert(end.reason.to_string(), end.reason);
            let said = json!({ "part": part.number, "status": end.status, "why": end.message });
            self.event("info", "part_ended", said)?;
            if self
                .all
                .iter()
                .any(|it| it.proof.as_ref().is_some_and(|it| it.proven))
            {
                return Ok(SplitEnd::Ran {
                    passed: true,
                    parts: plan.parts.len(),
                    reason: StopReason::Fixed,
                });
            }
            if self.interrupted || self.stop.requested() {
                break;
            }
        }
        let alike = reasons.pop_first().filter(|_| reasons.is_empty());
        Ok(SplitEnd::Ran {
            passed: false,
            parts: plan.parts.len(),
            reason: alike.map_or(StopReason::TestsFailed, |(_, reason)| reason),
        })
    }

    /// Adds what the task is called where it came from (R43).
    pub(super) fn name_task(&self, said: &mut Value) {
        let task = self.setup.task.as_ref();
        for (name, id) in [
            ("feature_id", task.and_then(|it| it.id.as_ref())),
            ("issue_number", task.and_then(|it| it.issue.as_ref())),
        ] {
            if let Some(id) = id {
                said[name] = json!(self.setup.redactor.redact(id).text);
            }
        }
    }

    // What fails now: the last change that was kept says so, whichever part made it.
    fn standing(&self, history: &History) -> Option<Observed> {
        self.all
            .iter()
            .rev()
            .find(|it| it.kept)
            .and_then(|it| it.observed.clone())
            .or_else(|| history.baseline.clone())
    }
}

const AGAIN: &str = "once more without a change, since a failure of this kind may pass by itself";
const CHECKED: &str = "to see whether what it said holds";

/// A part's call of the agent gets at least this, unless the whole task got less.
const MIN_PART_SECONDS: f64 = 30.0;

fn task_of(part: &Part, whole: &Task) -> Task {
    Task {
        id: whole.id.clone(),
        issue: whole.issue.clone(),
        title: part.title.clone(),
        description: whole.description.clone(),
        whole: whole.whole.clone().or_else(|| Some(whole.title.clone())),
        criteria: part.criteria.clone(),
        methods: Vec::new(),
        targets: part.targets.iter().map(ToString::to_string).collect(),
        tests: part.tests.clone(),
    }
}

// A copy that takes long is heard of.
fn open_place<'s>(
    plan: &Plan<'s>,
    journal: &mut Journal,
    watch: &mut dyn FnMut(&Event),
) -> Result<Workplace<'s>, RepairError> {
    let told = RefCell::new((journal, watch, Instant::now()));
    let place = Workplace::open(plan, &|done, of| {
        let (journal, watch, last) = &mut *told.borrow_mut();
        if last.elapsed() < TOLD_EVERY {
            return;
        }
        *last = Instant::now();
        let said = json!({ "files": done, "of": of });
        // The copy goes on whether or not it can be told.
        if let Ok(event) = journal.event("info", "workplace_copying", said) {
            watch(&event);
        }
    })?;
    Ok(place)
}

const TOLD_EVERY: Duration = Duration::from_secs(2);
