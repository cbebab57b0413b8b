use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::RepairError;
use super::journal::{digest, in_utc, read_json};
use super::run::Session;
use super::setup::{Agent, Setup};
use crate::git::Repository;
use crate::model::{AttemptResult, BlobId, RunResult, SCHEMA_VERSION};
use crate::patch::Change;
use crate::source::{EntryKind, Source};

/// `run.json`: what a run was started on and with; a run is resumed only on the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunKey {
    schema_version: u32,
    run_id: String,
    /// SHA-256 over paths, modes and blob ids of all files.
    base: String,
    /// The same with the patch of a run that was fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) repaired: Option<String>,
    commands: Vec<String>,
    agent: Option<String>,
    /// The name of the worktree's folder, and the commit that was checked out.
    #[serde(default)]
    repository: String,
    #[serde(default)]
    commit: Option<String>,
    /// When it began first, in UTC.
    #[serde(default)]
    pub(super) started_at: Option<String>,
}

impl RunKey {
    pub(super) fn new(setup: &Setup<'_>) -> Self {
        let mask = |line: &str| setup.redactor.redact(line).text.into_owned();
        let name = |path: &std::path::Path| {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        let now = || in_utc(jiff::Timestamp::now());
        let started_at = Self::before(setup).and_then(|key| key.started_at);
        Self {
            schema_version: SCHEMA_VERSION,
            run_id: name(setup.folder),
            base: files_digest(setup.source, &[]),
            repaired: None,
            commands: setup.commands.lines.iter().map(|line| mask(line)).collect(),
            repository: name(setup.root),
            commit: setup.git.and_then(Repository::head),
            started_at: started_at.or_else(|| Some(now())),
            agent: match setup.agent {
                Agent::Command(agent) => Some(mask(agent.command)),
                Agent::Function(_) => Some("(stand-in)".to_owned()),
                Agent::None => None,
            },
        }
    }

    fn before(setup: &Setup<'_>) -> Option<Self> {
        read_json(&setup.folder.join("run.json")).filter(|_| setup.resume)
    }

    /// Returns how long the run that goes on took so far. One that was fixed asks no agent, and its patch may stand in
    /// the files.
    pub(super) fn check(&self, setup: &Setup<'_>, fixed: bool) -> Result<Duration, RepairError> {
        if !setup.resume {
            return Ok(Duration::ZERO);
        }
        let Some(before) = Self::before(setup) else {
            let message = format!("`{}` is no run", setup.folder.display());
            return Err(RepairError::Resume(message));
        };
        let other_files = before.base != self.base && before.repaired.as_ref() != Some(&self.base);
        let what = if other_files {
            "the files"
        } else if before.commands != self.commands {
            "the test commands"
        } else if !fixed && before.agent != self.agent {
            "the agent"
        } else {
            let events = std::fs::read_to_string(setup.folder.join("events.jsonl"));
            let events = events.unwrap_or_default();
            let mut events = events.lines().rev();
            let at = |line: &str| {
                let event: serde_json::Value = serde_json::from_str(line).ok()?;
                event["at"].as_f64()
            };
            let seconds = events.find_map(at).unwrap_or_default();
            return Ok(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        };
        let message = format!("{what} differ from those it was started with");
        Err(RepairError::Resume(message))
    }
}

/// Returns the result of a run that is to go on and has nothing more to do: it was fixed, and its patch stands in the
/// files or is not wanted there.
pub(super) fn already_fixed(setup: &Setup<'_>, key: &RunKey) -> Option<RunResult> {
    let before = RunKey::before(setup)?;
    let result: RunResult = read_json(&setup.folder.join("result.json"))?;
    let is_applied = before.repaired.as_ref() == Some(&key.base);
    (result.status.is_success() && (is_applied || !setup.apply)).then_some(RunResult {
        applied: is_applied,
        ..result
    })
}

/// Returns a SHA-256 over paths, modes and blob ids of all files, as they are with the changes.
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
    let lines = lines
        .iter()
        .map(|(path, state)| format!("{path} {state}\n"));
    digest(lines.collect::<String>().as_bytes())
}

impl Session<'_> {
    /// Returns an attempt that an interrupted run finished: its change is made again, its cost is not.
    pub(super) fn resume_attempt(
        &mut self,
        folder: &str,
    ) -> Result<Option<AttemptResult>, RepairError> {
        let written = self
            .stage
            .journal
            .document(&format!("{folder}/result.json"));
        let Some(result): Option<AttemptResult> = written else {
            return Ok(None);
        };
        let old_log = self.seen.log.clone();
        if result.kept {
            self.make_again(folder, &result)?;
            let why = "again with what was kept before the interruption";
            let ran = self.stage.run(None, why)?;
            self.seen.evidence.push(ran.evidence.clone());
            self.set_baseline(&ran);
        }
        let journal = &self.stage.journal;
        self.seen.remember_reply(&result, journal, folder, &old_log);
        self.seen.attempts.push(result.clone());
        Ok(Some(result))
    }

    fn make_again(&mut self, folder: &str, result: &AttemptResult) -> Result<(), RepairError> {
        let path = self.stage.journal.path(&format!("{folder}/patch.diff"));
        let patch = std::fs::read(&path).map_err(|error| RepairError::write(&path, &error))?;
        if result.patch_digest != Some(digest(&patch)) {
            return Err(RepairError::Resume(format!(
                "a secret stands in the change of `{folder}`, and what is kept of it is masked"
            )));
        }
        let judged = self.judge_patch(&patch, false)?;
        if !judged.verdict.verdict.applies() {
            let message = format!("the change of `{folder}` no longer applies");
            return Err(RepairError::Resume(message));
        }
        let states = self.states_before(&judged.changes)?;
        self.stage.place.write(&judged.changes)?;
        self.keep(states)
    }
}
