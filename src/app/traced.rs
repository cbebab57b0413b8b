use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::files::{to_json, write_file};
use super::known_cause::{JustFailed, commands_of_run};
use super::why::{Search, WhyRequest, with_trials};
use super::why_trials::States;
use super::{App, Progress, runs};
use crate::model::{Traced, WorkplaceMode};
use crate::repair::{files_digest, read_json};
use crate::workspace::Workspace;

/// What failing tests ran on the files as they were. It stands in the registry alone, out of reach of what is
/// run.
#[derive(Serialize, Deserialize)]
struct Kept {
    command: String,
    prefix: String,
    /// The digest of all files.
    files: String,
    traced: Traced,
}

/// Keeps what was seen, for what is asked of the same files later.
pub(super) fn keep_trace(app: &App, workspace: &Workspace, line: &str, traced: &Traced) {
    let kept = Kept {
        command: line.to_owned(),
        prefix: workspace.prefix.clone(),
        files: files_digest(workspace.source.as_ref(), &[]),
        traced: traced.clone(),
    };
    // A secret in the command keeps it from being written; what cannot be kept is seen again.
    let plain = app.redactor().redact(line).findings.is_empty();
    if let (true, Ok(state)) = (plain && traced.failing > 0, runs::state(app, workspace)) {
        let _ = to_json(&kept).and_then(|text| write_file(&file(state.directory()), text));
    }
}

/// What the failing tests of this command ran on these very files, where that was seen and is wanted.
pub(super) fn known_trace(app: &App, workspace: &Workspace, line: &str) -> Option<Traced> {
    let state = runs::state(app, workspace).ok()?;
    let wanted = app.settings().context.trace;
    let kept: Kept = wanted.then(|| read_json(&file(state.directory())))??;
    let same = kept.command == line
        && kept.prefix == workspace.prefix
        && kept.files == files_digest(workspace.source.as_ref(), &[]);
    same.then_some(kept.traced)
}

fn file(state: &Path) -> PathBuf {
    state.join("trace.json")
}

/// What it takes until tests begin that are found, loaded and looked at.
const TO_BEGIN: Duration = Duration::from_secs(5);

/// What the failing tests of a run run, by running them once more in an overlay; `None` where they cannot be
/// run alone or no overlay can be had.
pub(super) fn trace_of_run(
    app: &App,
    workspace: &Workspace,
    failed: &JustFailed<'_>,
    progress: &dyn Progress,
) -> Option<Traced> {
    let settings = app.settings();
    let in_place = settings.run.workplace == WorkplaceMode::InPlace;
    if !settings.context.trace || !in_place || failed.diagnosis.tests.is_empty() {
        return None;
    }
    if let Some(known) = known_trace(app, workspace, failed.line) {
        return Some(known);
    }
    let search = Search {
        line: failed.line,
        commands: &commands_of_run(app, failed.line),
        workplace: WorkplaceMode::Overlay,
        request: &WhyRequest::default(),
        until: Some(Instant::now() + failed.trials_may_take() * 2 + TO_BEGIN),
        failed: Some(failed.diagnosis),
        alone_only: true,
    };
    let traced = with_trials(app, workspace, &search, progress, |mut trials| {
        trials.begin(failed.line, failed.diagnosis.clone());
        trials.trace(&States::new(), None)?;
        Ok(trials.ran().clone())
    });
    let traced = traced.ok().filter(|it| it.failing > 0)?;
    keep_trace(app, workspace, failed.line, &traced);
    Some(traced)
}
