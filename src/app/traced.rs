use serde::{Deserialize, Serialize};

use super::known_cause::{JustFailed, Kept, commands_of_run, runs_in_place};
use super::why::{limits_after_run, with_trials};
use super::{App, Progress};
use crate::model::Traced;
use crate::why::States;
use crate::workspace::Workspace;

// The file, and what stands in it.
const TRACE: &str = "trace.json";

#[derive(Serialize, Deserialize)]
struct Shown {
    traced: Traced,
}

/// What the failing tests of this command ran on these very files, where that was seen and is wanted.
pub(super) fn known_trace(app: &App, workspace: &Workspace, line: &str) -> Option<Traced> {
    let wanted = app.settings().context.trace;
    let find = || Kept::find(app, workspace, Some(line), TRACE);
    wanted.then(find)?.map(|it: Shown| it.traced)
}

/// Sees which lines the failing tests of a run run, by running them once more in an overlay; `None` where no
/// overlay can be had.
pub(super) fn trace_of_run(
    app: &App,
    workspace: &Workspace,
    failed: &JustFailed<'_>,
    progress: &dyn Progress,
) -> Option<Traced> {
    let settings = app.settings();
    let in_place = runs_in_place(settings);
    if !settings.context.trace || !in_place || failed.diagnosis.tests.is_empty() {
        tracing::info!(
            wanted = settings.context.trace,
            in_place,
            tests = failed.diagnosis.tests.len(),
            "no trace"
        );
        return None;
    }
    if let Some(cached) = known_trace(app, workspace, failed.line) {
        return Some(cached);
    }
    let commands = commands_of_run(app, failed.line);
    let search = failed.search(workspace, &commands, limits_after_run(failed.took));
    let traced = with_trials(app, workspace, search, progress, |trials| {
        let (mut trials, _) = trials?;
        trials.trace(&States::new())?;
        Ok(trials.traced().clone())
    });
    let traced = traced
        .inspect_err(|error| tracing::warn!("no trace: {error}"))
        .ok()?;
    if traced.failing == 0 {
        tracing::warn!("no trace: no failing test ran under the tracer");
        return None;
    }
    let shown = Shown {
        traced: traced.clone(),
    };
    Kept::keep(app, workspace, failed.line, TRACE, shown);
    Some(traced)
}
