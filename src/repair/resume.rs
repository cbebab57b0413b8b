//! Resumes a run. Files, commands and agent must be the same, since kept results would not hold
//! otherwise.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::RepairError;
use super::journal::{digest, in_utc, read_json};
use super::run::Session;
use super::setup::{Agent, Setup};
use crate::git::Repository;
use crate::model::{AtPath as _, AttemptResult, SCHEMA_VERSION};
use crate::source::Source;

/// `run.json`: what a run was started on and with; a run is resumed only on the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunKey {
    schema_version: u32,
    run_id: String,
    /// SHA-256 over paths, modes and blob ids of all files.
    base: String,
    commands: Vec<String>,
    agent: Option<String>,
    /// The name of the worktree's folder, and the commit that was checked out.
    #[serde(default)]
    repository: String,
    commit: Option<String>,
    /// When it began first, in UTC.
    pub(super) started_at: Option<String>,
}

impl RunKey {
    pub(super) fn new(setup: &Setup<'_>) -> Self {
        let started_at = Self::read_before(setup).and_then(|key| key.started_at);
        Self {
            schema_version: SCHEMA_VERSION,
            run_id: last_part(setup.folder),
            base: files_digest(setup.source),
            commands: setup.commands.lines.iter().map(|line| setup.redactor.mask(line)).collect(),
            repository: last_part(setup.root),
            commit: setup.git.and_then(Repository::head),
            started_at: started_at.or_else(|| Some(in_utc(jiff::Timestamp::now()))),
            agent: match setup.agent {
                Agent::Command(agent) => Some(setup.redactor.mask(&agent.command)),
                Agent::Function(_) => Some("(stand-in)".to_owned()),
                Agent::None => None,
            },
        }
    }

    fn read_before(setup: &Setup<'_>) -> Option<Self> {
        read_json(&setup.folder.join("run.json")).filter(|_| setup.resume)
    }

    /// Returns how long the run that goes on took so far.
    pub(super) fn check_same(&self, setup: &Setup<'_>) -> Result<Duration, RepairError> {
        if !setup.resume {
            return Ok(Duration::ZERO);
        }
        let Some(before) = Self::read_before(setup) else {
            let message = format!("`{}` is not a run", setup.folder.display());
            return Err(RepairError::Resume(message));
        };
        let differs = [
            (before.base != self.base, "the files"),
            (before.commands != self.commands, "the test commands"),
            (before.agent != self.agent, "the agent"),
        ];
        if let Some((_, what)) = differs.iter().find(|(differs, _)| *differs) {
            let message = format!("{what} differ from those it started with");
            return Err(RepairError::Resume(message));
        }
        let events = std::fs::read_to_string(setup.folder.join("events.jsonl")).unwrap_or_default();
        let mut lines = events.lines().rev();
        let last = lines
            .find_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?["at"].as_f64());
        Ok(Duration::try_from_secs_f64(last.unwrap_or_default()).unwrap_or_default())
    }
}

fn last_part(path: &std::path::Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns a SHA-256 over paths, modes and blob ids of all files.
pub fn files_digest(source: &dyn Source) -> String {
    let mut lines: Vec<String> = Vec::new();
    for entry in source.listing().entries() {
        let id = source.blob_id(&entry.path);
        let id = id.map_or_else(|| entry.bytes.to_string(), |id| id.to_string());
        lines.push(format!("{} {:?} {id}\n", entry.path, entry.kind));
    }
    lines.sort();
    digest(lines.concat().as_bytes())
}

impl Session<'_> {
    /// Returns an attempt that an interrupted run finished: its change is made again, its cost is not.
    pub(super) fn resume_attempt(
        &mut self,
        folder: &str,
    ) -> Result<Option<AttemptResult>, RepairError> {
        let path = self.stage.journal.path(&format!("{folder}/result.json"));
        let Some(result): Option<AttemptResult> = read_json(&path) else {
            return Ok(None);
        };
        let old_log = self.seen.log.clone();
        if result.kept {
            self.make_again(folder, &result)?;
            let why = "again, with the changes kept before the interruption";
            let ran = self.stage.run(None, why)?;
            self.seen.evidence.push(ran.evidence.clone());
            self.set_baseline(&ran);
        }
        let journal = &self.stage.journal;
        self.seen.remember_attempt(&result, journal, folder, &old_log);
        Ok(Some(result))
    }

    fn make_again(&mut self, folder: &str, result: &AttemptResult) -> Result<(), RepairError> {
        let path = self.stage.journal.path(&format!("{folder}/patch.diff"));
        let patch = std::fs::read(&path).at(&path)?;
        if result.patch_digest != Some(digest(&patch)) {
            return Err(RepairError::Resume(format!(
                "the change of `{folder}` contains a secret, so its stored copy is redacted"
            )));
        }
        let judged = self.judge_patch(&patch, false)?;
        if !judged.verdict.verdict.applies() {
            let message = format!("the change of `{folder}` no longer applies");
            return Err(RepairError::Resume(message));
        }
        let states = self.states_before(&judged.changes)?;
        self.stage.place.write(&judged.changes)?;
        self.keep_states(states)
    }
}
