use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ask::millis;
use super::commands::run_setup;
use super::error::RepairError;
use super::failure::child_failure;
use super::history::History;
use super::journal::{Journal, read_json};
use super::observe::observe_log;
use super::plan::RunEnd;
use super::session::Session;
use super::setup::{Agent, Setup};
use super::trial::digest;
use crate::context::definitions;
use crate::diagnose::{LogFacts, diagnose_in};
use crate::exec::{Outcome, SandboxState, Stop};
use crate::git::Repository;
use crate::languages::words;
use crate::model::{
    AttemptResult, BlobId, Category, DiagnosisDocument, Event, FileChange, Level, Observed, Proof,
    RepoPath, RunResult, RunStatus, SCHEMA_VERSION, StopReason, TestResult, Usage, Verdict,
    WorkplaceUsed,
};
use crate::patch::{Change, FileState, JudgeOptions, Objects, canonical, judge, write_worktree};
use crate::policy::is_test;
use crate::report::failure_text;
use crate::source::{Entry, EntryKind, Source};
use crate::workplace::Kind;

/// Runs the loop: baseline, heals, agent, judge, test, until the plan says stop. Everything that
/// happens is written into the run's folder before the next thing happens.
///
/// # Errors
/// [`RepairError`] when the run cannot go on: a disk that refuses, a command that cannot be
/// started, a folder that does not fit with [`Setup::resume`]. Not being able to repair is no
/// error but a [`RunResult`].
pub fn repair(
    setup: &Setup<'_>,
    stop: &Stop,
    watch: &mut dyn FnMut(&Event),
) -> Result<RunResult, RepairError> {
    let key = RunKey::of(setup);
    let fixed = fixed_before(setup);
    let before = key.check(setup, fixed.is_some())?;
    if let Some(result) = fixed
        && let Some(result) = already_fixed(setup, result)?
    {
        return Ok(result);
    }
    let mut session = Session::open(setup, stop, watch, before)?;
    session.journal.json("run.json", &key)?;
    session.event("info", "run_started", json!({ "commands": key.commands }))?;
    let message = json!({ "kind": session.place.kind(), "why": session.place.why() });
    session.event("info", "workplace", message)?;
    let mut history = History {
        seconds: session.journal.seconds(),
        failed_before: setup.before.flaky.clone(),
        last: session.tell_last()?,
        ..History::default()
    };
    let end = session.drive(&setup.policy, &mut history, setup.task.as_ref(), &[])?;
    session.conclude(&end, key)
}

impl Session<'_> {
    /// Prepares the workplace for the commands, once.
    pub(super) fn set_up(&mut self) -> Result<(), RepairError> {
        let setup = self.setup;
        let Some(line) = setup.commands.setup.as_ref().filter(|_| !self.is_set_up) else {
            return Ok(());
        };
        let limit = self.run_limit().after(Duration::ZERO).0;
        let outcome = run_setup(
            &setup.commands,
            line,
            &self.place,
            setup.prefix,
            limit,
            self.stop,
        )?;
        self.journal.text("setup.log", &outcome.output.text())?;
        if !outcome.passed() {
            return Err(RepairError::SetUp {
                end: outcome.end.to_string(),
                output: setup
                    .redactor
                    .redact(&last_lines(&outcome))
                    .text
                    .into_owned(),
            });
        }
        self.is_set_up = true;
        Ok(self.place.settle()?)
    }

    // What the last run told, to answer from it where nobody is there to be asked.
    fn tell_last(&mut self) -> Result<Option<Observed>, RepairError> {
        let setup = self.setup;
        let Some(last) = setup.before.run.as_ref().filter(|_| !setup.policy.agent) else {
            return Ok(None);
        };
        let command = setup.commands.lines.first().map_or("", String::as_str);
        let facts = LogFacts {
            exit_code: Some(last.exit_code),
            command: Some(command.to_owned()),
            timed_out: false,
            rules: setup.commands.rules.clone(),
        };
        let diagnosis = diagnose_in(&last.log, &facts, setup.source);
        let mut observed = observe_log(&diagnosis, &last.log);
        observed.test_result.exit = Some(last.exit_code);
        observed.test_result.message = format!("exit code {}", last.exit_code);
        let document = DiagnosisDocument::new(&diagnosis);
        self.journal.json("diagnosis.json", &document)?;
        self.log.clone_from(&last.log);
        self.diagnosis = Some(diagnosis);
        self.first = Some(observed.clone());
        Ok(Some(observed))
    }
}

fn last_lines(outcome: &Outcome) -> String {
    let text = outcome.output.text();
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let from = lines.len().saturating_sub(SETUP_LINES);
    lines.get(from..).unwrap_or_default().join("\n")
}

/// Lines of a failed set-up's output that are shown.
const SETUP_LINES: usize = 20;

/// `run.json`: what a run was started on and with; a run is resumed only on the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunKey {
    schema_version: u32,
    run_id: String,
    /// SHA-256 over paths, modes and blob ids of all files.
    base: String,
    /// The same with the patch of a run that was fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repaired: Option<String>,
    commands: Vec<String>,
    agent: Option<String>,
    /// The name of the worktree's folder, for who reads a report.
    #[serde(default)]
    repository: String,
    /// The commit that was checked out.
    #[serde(default)]
    commit: Option<String>,
    /// When it began, in UTC; a run that goes on began when it began first.
    #[serde(default)]
    started_at: Option<String>,
}

// Of the run that is resumed.
fn key_before(setup: &Setup<'_>) -> Option<RunKey> {
    read_json(&setup.folder.join("run.json")).filter(|_| setup.resume)
}

/// A moment as documents tell it.
#[must_use]
pub fn in_utc(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

fn now() -> String {
    in_utc(jiff::Timestamp::now())
}

impl RunKey {
    fn of(setup: &Setup<'_>) -> Self {
        let mask = |line: &String| setup.redactor.redact(line).text.into_owned();
        let name = setup.folder.file_name().unwrap_or_default();
        Self {
            schema_version: SCHEMA_VERSION,
            run_id: name.to_string_lossy().into_owned(),
            base: files_digest(setup.source, &[]),
            repaired: None,
            commands: setup.commands.lines.iter().map(mask).collect(),
            repository: setup
                .root
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            commit: setup.git.and_then(Repository::head),
            started_at: key_before(setup)
                .and_then(|it| it.started_at)
                .or_else(|| Some(now())),
            agent: match setup.agent {
                Agent::Command { command, .. } => Some(mask(&command.to_owned())),
                Agent::Function(_) => Some("(stand-in)".to_owned()),
                Agent::None => None,
            },
        }
    }

    // How long the run that goes on took so far. One that was fixed asks no agent, and its patch may
    // stand in the files.
    fn check(&self, setup: &Setup<'_>, fixed: bool) -> Result<Duration, RepairError> {
        if !setup.resume {
            return Ok(Duration::ZERO);
        }
        let before = key_before(setup).ok_or_else(|| {
            RepairError::Resume(format!("`{}` is no run", setup.folder.display()))
        })?;
        let differs = [
            (
                "the files",
                before.base != self.base && before.repaired.as_ref() != Some(&self.base),
            ),
            ("the test commands", before.commands != self.commands),
            ("the agent", !fixed && before.agent != self.agent),
        ];
        if let Some((what, _)) = differs.iter().find(|(_, differs)| *differs) {
            let message = format!("{what} differ from those it was started with");
            return Err(RepairError::Resume(message));
        }
        let events = std::fs::read_to_string(setup.folder.join("events.jsonl")).unwrap_or_default();
        let last = events
            .lines()
            .rev()
            .find_map(|line| serde_json::from_str::<Event>(line).ok());
        let seconds = last.map_or(0.0, |event| event.at);
        Ok(Duration::try_from_secs_f64(seconds).unwrap_or_default())
    }
}

// The result of a run that is to go on and had been fixed already. `None` when there is more to do.
fn fixed_before(setup: &Setup<'_>) -> Option<RunResult> {
    let result: RunResult = read_json(&setup.folder.join("result.json"))?;
    (setup.resume && result.status == RunStatus::Fixed).then_some(result)
}

// What may be left of a run that had been fixed is the worktree. `None` when there is more to do.
fn already_fixed(
    setup: &Setup<'_>,
    mut result: RunResult,
) -> Result<Option<RunResult>, RepairError> {
    let patch = std::fs::read(setup.folder.join("final.patch")).ok();
    let Some(patch) = patch.filter(|_| !result.applied && setup.apply) else {
        return Ok(Some(result));
    };
    // One with a secret in it was kept masked: it is made again.
    if result.patch_digest != Some(digest(&patch)) {
        return Ok(None);
    }
    let objects = setup.git.map(|git| git.objects(None));
    let options = JudgeOptions {
        allowed: setup.allowed.clone(),
        objects: objects.as_ref().map(|it| it as &dyn Objects),
        ..JudgeOptions::default()
    };
    let judged = judge(&patch, setup.source, &options);
    match judged.verdict.verdict {
        Verdict::AlreadyApplied => {}
        Verdict::Applies => write_worktree(setup.root, setup.state, &judged.changes)?,
        _ => return Ok(None),
    }
    result.applied = true;
    let journal = Journal::open(setup.folder, setup.copy, setup.redactor, Duration::ZERO)?;
    journal.json("result.json", &result)?;
    Ok(Some(result))
}

/// SHA-256 over paths, modes and blob ids of all files, as they are with the changes.
pub fn files_digest(source: &dyn Source, changes: &[Change]) -> String {
    let mut lines = BTreeMap::new();
    for entry in source.listing().entries() {
        let id = source.blob_id(&entry.path);
        let id = id.map_or_else(|| entry.bytes.to_string(), |id| id.to_string());
        lines.insert(&entry.path, format!("{:?} {id}", entry.kind));
    }
    for change in changes {
        match &change.after {
            None => lines.remove(&change.path),
            Some(state) => {
                let executable = state.mode == 0o100_755;
                let kind = EntryKind::File { executable };
                let id = BlobId::from_content(&state.bytes);
                lines.insert(&change.path, format!("{kind:?} {id}"))
            }
        };
    }
    let text: String = lines
        .iter()
        .map(|(path, state)| format!("{path} {state}\n"))
        .collect();
    digest(text.as_bytes())
}

impl Session<'_> {
    // Writes what a run leaves: the patch, the result, the report.
    fn conclude(mut self, end: &RunEnd, key: RunKey) -> Result<RunResult, RepairError> {
        let changes = self.final_changes()?;
        let patch = canonical(&changes);
        let mut result = self.result(end, &changes, &patch);
        result.started_at.clone_from(&key.started_at);
        if !changes.is_empty() {
            self.journal.masked("final.patch", &patch)?;
        }
        if end.status == RunStatus::Fixed {
            let key = RunKey {
                repaired: Some(files_digest(self.setup.source, &changes)),
                ..key
            };
            self.journal.json("run.json", &key)?;
            // Before the worktree is touched: a run that is cut off here is resumed from its result.
            if self.setup.apply {
                self.journal.json("result.json", &result)?;
            }
        }
        let in_place = self.place.kind() == Kind::InPlace;
        if in_place && end.status == RunStatus::Fixed {
            result.applied = !changes.is_empty();
        } else if in_place {
            let base = std::mem::take(&mut self.base);
            self.place.put_back(&base)?;
        } else if self.setup.apply && end.status == RunStatus::Fixed && !changes.is_empty() {
            match write_worktree(self.setup.root, self.setup.state, &changes) {
                Ok(()) => result.applied = true,
                Err(error) => {
                    result.message = format!("{}; not applied: {error}", result.message);
                    self.event("error", "apply_failed", json!({ "why": error.to_string() }))?;
                }
            }
        }
        if end.status != RunStatus::Fixed {
            let remedies = self.diagnosis.as_ref().map(self.setup.remedies);
            let remedies = remedies.unwrap_or_default();
            let failure = child_failure(&result, &self.all, &remedies, self.setup.redactor);
            result
                .suggested_actions
                .clone_from(&failure.suggested_actions);
            self.journal.text("report.txt", &failure_text(&failure))?;
            self.journal.json("report.json", &failure)?;
        }
        self.journal.json("result.json", &result)?;
        let fields = json!({ "status": result.status, "stopReason": result.stop_reason, "why": result.message });
        self.event("info", "run_ended", fields)?;
        Ok(result)
    }

    fn file_changes(&self, changes: &[Change]) -> Vec<FileChange> {
        let source = self.place.source().ok();
        let one = |change: &Change| {
            let (added, removed) = change.line_counts();
            let new = change.before.is_none() && !is_test(change.path.as_str());
            let source = source.as_deref().filter(|_| new);
            FileChange {
                path: change.path.to_string(),
                added: added as u64,
                removed: removed as u64,
                unnamed: source.is_some_and(|source| !is_named(source, &change.path)),
            }
        };
        changes.iter().map(one).collect()
    }

    // Of what made the commands pass; else of the last that seemed to.
    fn proof(&self) -> Option<Proof> {
        let proofs = || self.all.iter().rev().filter_map(|it| it.proof.as_ref());
        proofs().find(|it| it.proven).or(proofs().next()).cloned()
    }

    fn final_changes(&self) -> Result<Vec<Change>, RepairError> {
        let source = self.place.source()?;
        Ok(self
            .base
            .iter()
            .map(|(path, before)| {
                Change::between(path.clone(), before.clone(), FileState::of(&source, path))
            })
            .filter(|change| change.before != change.after)
            .collect())
    }

    fn result(&self, end: &RunEnd, changes: &[Change], patch: &[u8]) -> RunResult {
        let last = self.all.iter().rev().find_map(|it| it.test_result.clone());
        let first: Option<&Observed> = self.first.as_ref().filter(|it| !it.passed);
        let test_result: Option<TestResult> =
            last.or_else(|| self.first.as_ref().map(|it| it.test_result.clone()));
        let usage = self.all.iter().filter_map(|it| it.usage);
        let standing = self.all.iter().rev().find(|it| it.kept);
        let remaining = standing
            .and_then(|it| it.observed.clone())
            .filter(|it| !it.passed);
        let task = self.setup.task.as_ref();
        let named =
            |id: Option<&String>| id.map(|id| self.setup.redactor.redact(id).text.into_owned());
        let name = self.setup.folder.file_name().unwrap_or_default();
        RunResult {
            schema_version: SCHEMA_VERSION,
            document: "result".to_owned(),
            run_id: name.to_string_lossy().into_owned(),
            status: end.status,
            stop_reason: end.reason,
            category: (end.status != RunStatus::Fixed).then(|| category(end, first, &self.all)),
            level: self
                .all
                .iter()
                .map(|it| it.level)
                .max()
                .unwrap_or(Level::Targets),
            started_at: None,
            ended_at: Some(now()),
            attempts: u32::try_from(self.all.len()).unwrap_or(u32::MAX),
            agent_calls: self.calls(),
            duration_seconds: millis(self.journal.seconds()),
            patch_digest: (!changes.is_empty()).then(|| digest(patch)),
            test_result,
            proof: self.proof(),
            workplace: WorkplaceUsed {
                kind: self.place.kind().as_str().to_owned(),
                why: self.place.why().to_owned(),
                sandbox: self.sandbox.map_or("", SandboxState::as_str).to_owned(),
                not_confined: self.not_confined.clone(),
                refused: self.refused.iter().cloned().collect(),
            },
            failure: first.cloned(),
            cause: (self.setup.request.cause.as_ref()).map(|it| it.message.clone()),
            trace: (self.traced.as_ref()).map(|it| definitions(it, self.setup.source)),
            message: self.setup.redactor.redact(&end.message).text.into_owned(),
            suggested_actions: Vec::new(),
            files_modified: changes.iter().map(|it| it.path.to_string()).collect(),
            file_changes: self.file_changes(changes),
            certain: !changes.is_empty() && self.all.iter().all(|it| it.certain || !it.kept),
            applied: false,
            children: self.parts.iter().map(|it| it.title.clone()).collect(),
            parts: self.parts.clone(),
            usage: usage.reduce(Usage::plus),
            recovery_hint: self.recovery_hint(remaining.as_ref().or(first)),
            remaining,
            whole_runs: self.runs.iter().filter(|it| it.whole).count() as u64,
            chosen_runs: self.runs.iter().filter(|it| !it.whole).count() as u64,
            command_runs: self.runs.clone(),
            agent_trouble: self
                .all
                .last()
                .filter(|_| end.reason == StopReason::AgentError)
                .and_then(|it| it.agent_trouble.clone()),
            task_id: named(task.and_then(|it| it.id.as_ref())),
            issue: named(task.and_then(|it| it.issue.as_ref())),
        }
    }
}

/// Whether any other file has the name of this one, as an import of it would; a module of a package is
// loaded with it.
pub(super) fn is_named(source: &dyn Source, path: &RepoPath) -> bool {
    let name = match path.stem() {
        "__init__" | "index" | "mod" => path.directory().rsplit('/').next().unwrap_or_default(),
        stem => stem,
    };
    if name.is_empty() || name == "conftest" {
        return true;
    }
    let others = source.listing().files().filter(|it| it.path != *path);
    let names = |entry: &Entry| {
        let text = source.read(&entry.path).unwrap_or_default();
        words(&text, name).next().is_some()
    };
    others.into_iter().any(names)
}

impl Session<'_> {
    // What was told of imports for names that still have none.
    fn recovery_hint(&self, failure: Option<&Observed>) -> Option<String> {
        failure.filter(|it| !it.undefined_names.is_empty())?;
        let recovery = self.packet.as_ref()?.recovery_context.as_ref()?;
        Some(recovery.recovery_hint.clone())
    }
}

// From layers 1 and 2 of the taxonomy; a budget that ran out takes the word of the last attempt.
fn category(end: &RunEnd, first: Option<&Observed>, all: &[AttemptResult]) -> Category {
    // What a person has to mend is the environment.
    if end.status == RunStatus::UserActionRequired && end.reason != StopReason::AgentError {
        return Category::ToolError;
    }
    if all.iter().any(|it| it.kept) {
        return Category::Partial;
    }
    let kind = first.map_or(crate::model::FailureKind::Unknown, |it| it.kind);
    let reason = match end.reason {
        StopReason::BudgetExhausted | StopReason::NoProgress => {
            all.last().map_or(end.reason, |it| it.stop_reason)
        }
        reason => reason,
    };
    crate::diagnose::category(kind, Some(reason))
}
