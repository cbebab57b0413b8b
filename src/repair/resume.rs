use std::time::Duration;

use serde::de::DeserializeOwned;

use super::error::RepairError;
use super::journal::Journal;
use super::setup::Setup;
use crate::model::{RunResult, RunStatus, Verdict};
use crate::patch::{JudgeOptions, judge, write_worktree};

/// A run that is to go on and had been fixed already: what may be left is the worktree. `None`
/// when there is more to do.
pub(super) fn already_fixed(setup: &Setup<'_>) -> Result<Option<RunResult>, RepairError> {
    let read = |name: &str| std::fs::read(setup.folder.join(name)).ok();
    let Some(mut result) = read("result.json").and_then(|bytes| json::<RunResult>(&bytes)) else {
        return Ok(None);
    };
    if !setup.resume || result.status != RunStatus::Fixed {
        return Ok(None);
    }
    let Some(patch) = read("final.patch").filter(|_| !result.applied && setup.apply) else {
        return Ok(Some(result));
    };
    let options = JudgeOptions {
        allowed: setup.allowed.clone(),
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

fn json<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}
