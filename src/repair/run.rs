//! The fix loop: asks [`super::plan`] for a step, performs it, records it.

use std::time::Duration;

use super::alone::alone_line;
use super::attempt::{Ask, Proposer};
use super::commands::CommandsRun;
use super::error::RepairError;
use super::findings::Findings;
use super::history::History;
use super::journal::round_millis;
use super::limits::later_limit;
use super::plan::{Policy, RunEnd, Step, next};
use super::resume::RunKey;
use super::setup::Setup;
use super::stage::Stage;
use super::task::Task;
use crate::exec::Stop;
use crate::fixes::{Candidate, Judging, Question, find_fixes, fixing_line};
use crate::graph::Graph;
use crate::hint::lacked_names;
use crate::model::{DiagnosisDocument, Event, EventKind, RepoPath, RunResult};
use crate::policy::is_test;
use crate::proof::hidden_failure;

/// Runs the loop: baseline, fixes that need no LLM, agent, validation, tests, until the plan says stop. Whatever
/// happens is written into the run's folder before the next thing happens.
///
/// # Errors
/// [`RepairError`] when the run cannot be resumed: a disk that refuses, a command that cannot be started, a folder that
/// does not fit with [`Setup::resume`]. A failure that is not fixed is a [`RunResult`].
pub fn repair(
    setup: &Setup<'_>,
    stop: &Stop,
    watch: &mut dyn FnMut(&Event),
) -> Result<RunResult, RepairError> {
    let key = RunKey::new(setup);
    let before = key.check_same(setup)?;
    let mut session = Session {
        asked: setup,
        stage: Stage::open(setup, stop, watch, before)?,
        seen: Findings {
            traced: setup.request.traced.clone(),
            ..Findings::default()
        },
    };
    session.stage.journal.write_json("run.json", &key)?;
    let place = &session.stage.place;
    session.stage.event(EventKind::Workplace {
        kind: place.kind().to_owned(),
        why: place.why().to_owned(),
    })?;
    let mut history = History {
        seconds: session.stage.journal.seconds(),
        ..History::default()
    };
    let end = session.drive_loop(&setup.policy, &mut history, setup.task.as_ref(), &[])?;
    session.conclude_run(&end, key.started_at)
}

/// A run while it goes on: what was asked, where it happens, what was seen.
pub(super) struct Session<'s> {
    pub(super) asked: &'s Setup<'s>,
    pub(super) stage: Stage<'s>,
    pub(super) seen: Findings,
}

const AGAIN: &str = "a failure of this kind can be flaky";

impl Session<'_> {
    /// Does what the plan says until it says stop.
    pub(super) fn drive_loop(
        &mut self,
        policy: &Policy,
        history: &mut History,
        task: Option<&Task>,
        focus: &[String],
    ) -> Result<RunEnd, RepairError> {
        let since = self.stage.journal.seconds() - history.seconds;
        let mut heals: Vec<Candidate> = Vec::new();
        let mut tried: Vec<Candidate> = Vec::new();
        loop {
            history.seconds = self.stage.journal.seconds() - since;
            history.interrupted = self.stage.interrupted || self.stage.stop.requested();
            history.moved.clone_from(&self.stage.moved);
            match next(history, policy) {
                Step::RunBaseline => self.run_baseline(history)?,
                Step::RepeatBaseline => self.repeat_baseline(history)?,
                Step::LookForHeals => {
                    heals = self.find_heals(&tried)?;
                    history.heals = Some(heals.len());
                }
                Step::TryHeal => {
                    if heals.is_empty() {
                        history.heals = Some(0);
                        continue;
                    }
                    let heal = heals.remove(0);
                    let result = self.attempt(&Proposer::Heal(&heal), history)?;
                    // What was kept may have made room for the next.
                    history.heals = (!result.kept).then_some(heals.len());
                    tried.push(heal);
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
                    let result = self.attempt(&Proposer::Agent(&ask), history)?;
                    history.attempts.push(result);
                }
                Step::Split { timed_out } => {
                    let end = self.split(timed_out, policy, history, task)?;
                    history.split = Some(end);
                }
                Step::Stop(end) => return Ok(end),
            }
        }
    }

    fn run_baseline(&mut self, history: &mut History) -> Result<(), RepairError> {
        self.set_up()?;
        let ran = self.run_unchanged("baseline", "to see what fails", false)?;
        let first = ran.observed.clone();
        if self.asked.commands.timeout.is_none() {
            let took = self.stage.runs.last().map_or(0.0, |run| run.seconds);
            let took = took.max(first.test_result.duration_seconds);
            self.stage.limit = later_limit(&first, took, self.stage.limit);
        }
        history.hidden = self.seen.evidence.first().and_then(hidden_failure);
        let document = DiagnosisDocument::new(&ran.diagnosis);
        self.stage.journal.write_json("diagnosis.json", &document)?;
        self.set_baseline(&ran);
        self.seen.red_runs = u32::from(!first.passed);
        self.seen.unstable = first.test_result.timed_out;
        self.seen.first = Some(first.clone());
        let seen = self.asked.red.iter().flat_map(|red| &red.failing_tests);
        let seen = seen.collect::<std::collections::BTreeSet<_>>();
        // The run that a person saw is the first of two.
        if !seen.is_empty() && seen == first.failing_tests.iter().collect() {
            self.seen.red_runs += 1;
            history.repeated = Some(first.clone());
        }
        history.baseline = Some(first);
        Ok(())
    }

    // The failing tests alone; where these are others then, the whole command says whether that is chance.
    fn repeat_baseline(&mut self, history: &mut History) -> Result<(), RepairError> {
        let first = history.baseline.clone().unwrap_or_default();
        let mut again = None;
        if self.seen.alone.is_some() {
            let ran = self.run_unchanged("baseline-alone", AGAIN, true)?;
            let same = ran.observed.failing_tests == first.failing_tests && !ran.observed.passed;
            if same || ran.cut_short || ran.interrupted {
                again = Some(ran);
            } else {
                self.seen.never_alone = true;
                self.seen.alone = None;
            }
        }
        let again = match again {
            Some(again) => again,
            None => self.run_unchanged("baseline-again", AGAIN, false)?,
        };
        self.seen.red_runs += u32::from(!again.observed.passed && !again.cut_short);
        self.seen.unstable |= first.signature != again.observed.signature;
        history.repeated = Some(again.observed);
        Ok(())
    }

    /// Takes a run as the state that later attempts build on.
    pub(super) fn set_baseline(&mut self, ran: &CommandsRun) {
        self.seen.log.clone_from(&ran.log);
        self.seen.note_failed(&ran.diagnosis);
        self.seen.alone = if self.seen.never_alone {
            None
        } else {
            alone_line(self.asked, &ran.diagnosis, &ran.evidence)
        };
        self.seen.diagnosis = Some(ran.diagnosis.clone());
    }

    fn run_unchanged(
        &mut self,
        name: &str,
        why: &str,
        alone: bool,
    ) -> Result<CommandsRun, RepairError> {
        let (limit, _) = self.stage.run_limit().after(Duration::ZERO);
        self.stage.event(EventKind::CommandStarted {
            what: name.to_owned(),
            why: why.to_owned(),
            limit: round_millis(limit.as_secs_f64()),
        })?;
        let line = self.seen.alone.clone().filter(|_| alone);
        let ran = self.stage.run(line.as_deref(), why)?;
        self.stage.place.reset()?;
        self.stage.journal.write_text(&format!("{name}.log"), &ran.log)?;
        self.stage.has_moved()?;
        if !alone {
            self.seen.evidence.push(ran.evidence.clone());
        }
        self.stage.event(EventKind::CommandEnded {
            what: name.to_owned(),
            passed: ran.observed.passed,
            kind: ran.observed.kind,
            end: ran.observed.test_result.message.clone(),
        })?;
        Ok(ran)
    }

    fn set_up(&mut self) -> Result<(), RepairError> {
        let setup = self.asked;
        let Some(line) = &setup.commands.setup else {
            return Ok(());
        };
        let how = self.stage.commands_at(&setup.commands, setup.source);
        let outcome = how.run_plain(line, self.stage.stop)?;
        let output = outcome.output.text();
        self.stage.journal.write_text("setup.log", &output)?;
        if outcome.passed() {
            return Ok(self.stage.place.settle()?);
        }
        let lines: Vec<&str> = output.trim_end().lines().collect();
        // Only the last lines of a failed setup are shown.
        let last = lines.get(lines.len().saturating_sub(20)..).unwrap_or_default().join("\n");
        let output = setup.redactor.mask(&last);
        Err(RepairError::SetUp(outcome.end.to_string(), output))
    }

    fn find_heals(&mut self, tried: &[Candidate]) -> Result<Vec<Candidate>, RepairError> {
        let source = self.stage.place.source()?;
        let Some(diagnosis) = &self.seen.diagnosis else {
            return Ok(Vec::new());
        };
        let setup = self.asked;
        let ask = crate::hint::Ask {
            installed: &setup.request.installed,
            may_read: &|path: &RepoPath| setup.read.refuse(path).is_none(),
        };
        let lines = setup.commands.all();
        let question = Question {
            wanted: &lacked_names(&source, diagnosis),
            logs: &[(diagnosis.clone(), self.seen.log.as_str())],
            graph: &Graph::new(&source),
            git: setup.git,
            ask: &ask,
            judging: Judging {
                lines: &lines,
                prefix: setup.prefix,
                allowed: &setup.allowed,
            },
        };
        let mut heals = find_fixes(&question).edits;
        heals.extend(self.run_own_fix()?);
        heals.retain(|heal| !tried.contains(heal) && !self.seen.puts_back(heal));
        Ok(heals)
    }

    // What the failing tool itself would change; its new files are its caches.
    fn run_own_fix(&mut self) -> Result<Option<Candidate>, RepairError> {
        let log = &self.seen.log;
        let mut lines = self.asked.commands.lines.iter();
        let Some(line) = lines.find_map(|line| fixing_line(line, log)) else {
            return Ok(None);
        };
        self.stage.run(Some(&line), "to see what the tool fixes")?;
        let mut changes = self.stage.place.changes()?;
        self.stage.place.reset()?;
        changes.retain(|change| change.before.is_some() && !is_test(change.path.as_str()));
        Ok(Candidate::from_changes(
            &format!("what `{line}` changes"),
            changes,
        ))
    }
}
