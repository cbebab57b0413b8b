use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::files::{to_json, write_file};
use super::why::{Search, last_red_run, limits_after_run, red_run, search_cause};
use super::{App, AppError, Progress, runs};
use crate::config::Settings;
use crate::exec::Limits;
use crate::model::{
    Code, Diagnosis, FailureKind, KnownCause, SandboxMode, WhyChange, WhyDocument, WhyVerdict,
    WorkplaceMode,
};
use crate::repair::{Commands, files_digest, read_json};
use crate::why::TrialLimits;
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

/// A patch that reverts the change that made the command fail, and what trials showed of it.
#[derive(Debug, Clone)]
pub struct Undo {
    /// The patch.
    pub patch: String,
    /// The answer of `mendit why` in one line.
    pub message: String,
    /// The places that it reverts.
    pub places: String,
}

/// Keeps what was shown; an answer without a cause leaves nothing behind.
pub(super) fn keep_cause(app: &App, workspace: &Workspace, line: &str, document: &WhyDocument) {
    let Some(cause) = cause_of(document) else {
        return;
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
            "the change that made the tests fail is not known for the files as they are",
        )
        .hint("`mendit why` finds it"));
    };
    let message = kept.cause.message;
    let Some(patch) = kept.undo else {
        let why = "no patch reverts the change: it was found in an older state of the files";
        return Err(AppError::new(Code::U309, why).hint(message));
    };
    let place = |change: &WhyChange| match change.line {
        Some(line) => format!("{}:{line}", change.path),
        None => change.path.clone(),
    };
    let places: Vec<String> = kept.cause.changes.iter().map(place).collect();
    Ok(Undo {
        patch,
        message,
        places: places.join(", "),
    })
}

/// A command that has just failed.
pub(super) struct JustFailed<'a> {
    pub(super) line: &'a str,
    pub(super) diagnosis: &'a Diagnosis,
    pub(super) log: &'a str,
    pub(super) exit_code: Option<i32>,
    pub(super) took: Duration,
}

impl JustFailed<'_> {
    /// A search that begins with it, in an overlay.
    pub(super) fn search<'s>(
        &'s self,
        workspace: &Workspace,
        commands: &'s Commands,
        limits: TrialLimits,
    ) -> Search<'s> {
        let diagnosis = self.diagnosis.clone();
        Search {
            line: self.line,
            commands,
            workplace: WorkplaceMode::Overlay,
            since: None,
            red: Some(red_run(
                workspace,
                self.line,
                diagnosis,
                self.log,
                self.exit_code,
            )),
            near_only: true,
            limits,
        }
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

/// Searches for the change that made a run fail: among the uncommitted changes, or, without any, since a commit
/// that is likely to pass. `None` where changes cannot explain it, or no overlay can be had.
pub(super) fn cause_of_run(
    app: &App,
    workspace: &Workspace,
    failed: &JustFailed<'_>,
    progress: &dyn Progress,
) -> Option<WhyDocument> {
    let settings = app.settings();
    let diagnosis = failed.diagnosis;
    let is_of_code = !diagnosis.requires_user_action && !diagnosis.kind.is_around_code();
    let is_wanted = settings.test.why && runs_in_place(settings) && is_of_code;
    workspace.git.as_ref()?.head()?;
    if !is_wanted || diagnosis.kind == FailureKind::Timeout {
        return None;
    }
    let commands = commands_of_run(app, failed.line);
    let search = failed.search(workspace, &commands, limits_after_run(failed.took));
    let document = search_cause(app, workspace, search, progress);
    document
        .inspect_err(|error| {
            progress.step(&error.message);
        })
        .ok()
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
    let Ok(Some(red)) = last_red_run(app, &workspace, line) else {
        return;
    };
    let search = Search {
        line,
        commands: &super::repair::commands(app),
        workplace,
        since: None,
        red: Some(red),
        near_only: true,
        limits: TrialLimits {
            until: Some(Instant::now() + BEFORE_AN_AGENT),
            whole: false,
            ..limits_after_run(BEFORE_AN_AGENT)
        },
    };
    // What is found is kept; what hinders it hinders the repair as well, and is said there.
    let _ = search_cause(app, &workspace, search, progress);
}

/// The cause that a document names.
pub(super) fn cause_of(document: &WhyDocument) -> Option<KnownCause> {
    (document.verdict == WhyVerdict::Caused).then(|| KnownCause {
        message: document.message.clone(),
        changes: document.cause.clone(),
    })
}

const BEFORE_AN_AGENT: Duration = Duration::from_secs(30);
