use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::files::{to_json, write_file};
use super::last_run::passed_at;
use super::suspects::suspects;
use super::why::{Search, WhyRequest, search_cause};
use super::{App, AppError, Progress, runs};
use crate::config::Settings;
use crate::exec::Limits;
use crate::model::{
    Code, Diagnosis, KnownCause, SandboxMode, WhyDocument, WhyVerdict, WorkplaceMode,
};
use crate::repair::{Commands, files_digest, read_json};
use crate::workspace::{At, Workspace};

/// What trials showed of a command on the files as they were. It stands in the registry alone, out of reach
/// of what is run.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Kept<T> {
    command: String,
    prefix: String,
    /// The digest of all files.
    files: String,
    // Not flattened: numbers that are keys of a map would not be read back.
    pub(super) shown: T,
}

impl<T: Serialize + DeserializeOwned> Kept<T> {
    /// Keeps it in the file of this name. A secret in the command keeps it from being written; what cannot be
    /// kept is found out again.
    pub(super) fn keep(app: &App, workspace: &Workspace, line: &str, name: &str, shown: T) {
        let kept = Self {
            command: line.to_owned(),
            prefix: workspace.prefix.clone(),
            files: files_digest(workspace.source.as_ref(), &[]),
            shown,
        };
        let plain = app.redactor().redact(line).findings.is_empty();
        if let (true, Ok(state)) = (plain, runs::state(app, workspace)) {
            let file = state.directory().join(name);
            let _ = to_json(&kept).and_then(|text| write_file(&file, text));
        }
    }

    /// What is kept of these very files; with a command, of that one.
    pub(super) fn find(
        app: &App,
        workspace: &Workspace,
        line: Option<&str>,
        name: &str,
    ) -> Option<T> {
        let state = runs::state(app, workspace).ok()?;
        let kept: Self = read_json(&state.directory().join(name))?;
        let same = line.is_none_or(|line| kept.command == line)
            && kept.prefix == workspace.prefix
            && kept.files == files_digest(&*workspace.source, &[]);
        same.then_some(kept.shown)
    }
}

// The file, and what stands in it.
const CAUSE: &str = "cause.json";

#[derive(Serialize, Deserialize)]
struct Shown {
    cause: KnownCause,
    undo: Option<String>,
}

/// A patch that takes back what made the command fail, and what was seen with it.
#[derive(Debug, Clone)]
pub struct Undo {
    /// The patch.
    pub patch: String,
    /// The answer of `mendit why` in one line.
    pub message: String,
}

/// Keeps what was shown; an answer without a cause leaves nothing behind.
pub(super) fn keep_cause(app: &App, workspace: &Workspace, line: &str, document: &WhyDocument) {
    if document.verdict != WhyVerdict::Caused {
        return;
    }
    let cause = KnownCause {
        message: document.message.clone(),
        changes: document.cause.clone(),
    };
    let undo = document.undo.clone();
    Kept::keep(app, workspace, line, CAUSE, Shown { cause, undo });
}

/// What trials showed of this command on these very files.
pub(super) fn known_cause(app: &App, workspace: &Workspace, line: &str) -> Option<KnownCause> {
    Kept::find(app, workspace, Some(line), CAUSE).map(|it: Shown| it.cause)
}

/// Whether one patch takes back what trials showed of this command on these very files.
pub(super) fn can_undo(app: &App, workspace: &Workspace, line: &str) -> bool {
    Kept::find(app, workspace, Some(line), CAUSE).is_some_and(|it: Shown| it.undo.is_some())
}

/// The undo of the cause that was found last, when the files are still as they were.
///
/// # Errors
/// When no cause is known of these files, or none that one patch takes back.
pub fn known_undo(app: &App, progress: &dyn Progress) -> Result<Undo, AppError> {
    let workspace = app.workspace(At::Worktree, progress)?;
    let Some(kept) = Kept::<Shown>::find(app, &workspace, None, CAUSE) else {
        return Err(AppError::new(
            Code::U309,
            "which change made it fail is not known of these files",
        )
        .hint("`mendit why` finds out"));
    };
    let message = kept.cause.message;
    let Some(patch) = kept.undo else {
        let why = "the change cannot be taken back by one patch: what was tried is not the files as they are now";
        return Err(AppError::new(Code::U309, why).hint(message));
    };
    Ok(Undo { patch, message })
}

/// A command that has just failed.
pub(super) struct JustFailed<'a> {
    pub(super) line: &'a str,
    pub(super) diagnosis: &'a Diagnosis,
    pub(super) took: Duration,
}

impl JustFailed<'_> {
    /// What trials may take after a run: as long as it took, within bounds.
    pub(super) fn trials_may_take(&self) -> Duration {
        self.took.clamp(LEAST, MOST)
    }
}

/// Whether `run` works in the worktree itself, as it does unless told otherwise.
pub(super) fn runs_in_place(settings: &Settings) -> bool {
    let place = settings.sandbox.workplace;
    place.is_none_or(|it| it == WorkplaceMode::InPlace)
}

/// How the command of a run is run once more.
pub(super) fn commands_of_run(app: &App, line: &str) -> Commands {
    let settings = app.settings();
    let (limits, sandbox) = (&settings.limits, &settings.sandbox);
    Commands {
        lines: vec![line.to_owned()],
        setup: None,
        timeout: limits.timeout.map(|it| it.0),
        grace: Limits::default().grace,
        max_output: limits.max_output.0,
        environment: settings.test.env.clone(),
        writable: sandbox.allow_write.clone(),
        sandbox: match sandbox.mode {
            SandboxMode::Off => SandboxMode::Auto,
            other => other,
        },
        no_network: sandbox.no_net,
        rules: app.rules(),
    }
}

/// The change that made a run fail: the one that is known of these files, else what its failing tests alone
/// show in about the time that the run took. `None` where nothing that changed reaches them, they cannot be
/// run alone or no overlay can be had.
pub(super) fn cause_of_run(
    app: &App,
    workspace: &Workspace,
    failed: &JustFailed<'_>,
    progress: &dyn Progress,
) -> Option<KnownCause> {
    if let Some(cached) = known_cause(app, workspace, failed.line) {
        return Some(cached);
    }
    let settings = app.settings();
    let wanted = settings.test.why && runs_in_place(settings) && !failed.diagnosis.tests.is_empty();
    let head = workspace.git.as_ref()?.head()?;
    let passed = || {
        passed_at(app, failed.line, &workspace.prefix)
            .ok()
            .flatten()
    };
    let differs = || {
        !suspects(failed.diagnosis, workspace).is_empty() || passed().is_some_and(|it| it != head)
    };
    if !wanted || !differs() {
        return None;
    }
    let search = Search {
        line: failed.line,
        commands: &commands_of_run(app, failed.line),
        workplace: WorkplaceMode::Overlay,
        request: &WhyRequest::default(),
        until: Some(Instant::now() + failed.trials_may_take()),
        failed: Some(failed.diagnosis),
        alone_only: true,
    };
    let document = search_cause(app, workspace, &search, progress).ok()?;
    known_of(document)
}

/// The same before an agent is asked, of the last run: the agent is then told of it first.
pub(super) fn look_for_cause(app: &App, line: &str, progress: &dyn Progress) {
    let workplace = app.settings().sandbox.workplace.unwrap_or_default();
    let Ok(workspace) = app.workspace(At::Worktree, progress) else {
        return;
    };
    if workplace == WorkplaceMode::InPlace || known_cause(app, &workspace, line).is_some() {
        return;
    }
    let search = Search {
        line,
        commands: &super::repair::commands(app),
        workplace,
        request: &WhyRequest::default(),
        until: Some(Instant::now() + MOST),
        failed: None,
        alone_only: true,
    };
    // What is found is kept; what hinders it hinders the repair as well, and is said there.
    let _ = search_cause(app, &workspace, &search, progress);
}

fn known_of(document: WhyDocument) -> Option<KnownCause> {
    (document.verdict == WhyVerdict::Caused).then_some(KnownCause {
        message: document.message,
        changes: document.cause,
    })
}

const LEAST: Duration = Duration::from_secs(3);
const MOST: Duration = Duration::from_secs(30);
