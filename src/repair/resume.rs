use std::time::Duration;

use super::error::RepairError;
use super::journal::Journal;
use super::setup::Setup;
use crate::model::{RunResult, RunStatus, Verdict};
use crate::patch::{JudgeOptions, judge, write_worktree};

/// The result of a run that is to go on and had been fixed already. `None` when there is more to do.
pub(super) fn fixed_before(setup: &Setup<'_>) -> Option<RunResult> {
    let bytes = std::fs::read(setup.folder.join("result.json")).ok()?;
    let result: RunResult = serde_json::from_slice(&bytes).ok()?;
    (setup.resume && result.status == RunStatus::Fixed).then_some(result)
}

/// What may be left of a run that had been fixed is the worktree. `None` when there is more to do.
pub(super) fn already_fixed(
    setup: &Setup<'_>,
    mut result: RunResult,
) -> Result<Option<RunResult>, RepairError> {
    let patch = std::fs::read(setup.folder.join("final.patch")).ok();
    let Some(patch) = patch.filter(|_| !result.applied && setup.apply) else {
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
