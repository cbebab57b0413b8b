use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::known_cause::known_cause;
use super::traced::known_trace;
use super::{App, AppError};
use crate::context::{LevelChoice, Request, Retry, base_request, expand_target, nearest_paths};
use crate::diagnose::Log;
use crate::junit::Report;
use crate::model::{Code, Level, PreviousAttempt, RepoPath, StopReason, UnchangedFile};
use crate::workspace::Workspace;

/// Build the packet of a failure; caps, profile and what may be read are settings.
#[derive(Debug, Clone, Default)]
pub struct ContextRequest {
    /// Files the failure is about, as a caller names them; a folder means its files.
    pub targets: Vec<String>,
    /// What the failing command wrote.
    pub log: Option<Log>,
    /// The text of an issue or a task, in place of a log.
    pub issue: Option<String>,
    /// Reports of its tests, in the form of `JUnit`.
    pub reports: Vec<Report>,
    /// A failure packet to take log, targets and commands from, where they are not given.
    pub failure: Option<Named>,
    /// Commands that show the failure; they are not run.
    pub test_commands: Vec<String>,
    /// The rung of the ladder; chosen from the failure when missing.
    pub level: Option<Level>,
    /// Whether level 4 is permitted.
    pub include_bundle: bool,
    /// The rung of the attempt before.
    pub previous_level: Option<Level>,
    /// How the attempt before ended.
    pub stop_reason: Option<StopReason>,
    /// The context or result of the attempt before, which says both.
    pub previous: Option<Named>,
    /// An earlier packet: files it held are named and not repeated.
    pub since: Option<Named>,
    /// Paths that an agent asked for.
    pub requested: Vec<String>,
    /// The same, as a document with `requestedFiles`.
    pub request: Option<Named>,
    /// A commit to read instead of the worktree.
    pub rev: Option<String>,
    /// The base of the change under test.
    pub diff: Option<String>,
    /// Where the packet is written to; nowhere when missing.
    pub out: Option<PathBuf>,
    /// Whether it is written below `.mendit` of the worktree when no folder is named.
    pub shown: bool,
    /// Whether the cache of parsed files is left alone.
    pub no_cache: bool,
}

/// A JSON document and the name that messages give it.
#[derive(Debug, Clone)]
pub struct Named {
    /// Its file, or `-`.
    pub name: String,
    /// What stands in it.
    pub document: Value,
}

/// What the request, the settings and the documents ask for.
pub(super) fn request(
    asked: &ContextRequest,
    app: &App,
    workspace: &Workspace,
) -> Result<Request, AppError> {
    let plain = base_request(app.settings(), workspace.git.as_ref());
    let mut commands = asked.test_commands.iter().filter(|_| asked.rev.is_none());
    let mut request = Request {
        log: asked.log.clone(),
        issue: asked.issue.clone(),
        reports: asked.reports.clone(),
        directory: workspace.prefix.clone(),
        rules: app.rules(),
        level: asked.level.map_or(LevelChoice::Auto, LevelChoice::Exactly),
        include_bundle: asked.include_bundle,
        test_commands: asked.test_commands.clone(),
        requested: asked.requested.clone(),
        cause: commands
            .clone()
            .find_map(|line| known_cause(app, workspace, line)),
        traced: commands.find_map(|line| known_trace(app, workspace, line)),
        ..plain
    };
    for typed in &asked.targets {
        let path = workspace.repo_path(typed);
        request.targets.extend(targets(workspace, typed, path)?);
    }
    if let Some(failure) = &asked.failure {
        take_failure(&failure.document, &mut request, workspace)?;
    }
    if let Some(since) = &asked.since {
        request.since = files_of(since)?;
    }
    if let Some(Named { name, document }) = &asked.request {
        if !document["requestedFiles"].is_array() {
            let said = format!("`{name}` has no list `requestedFiles`");
            return Err(AppError::usage(said));
        }
        request
            .requested
            .extend(strings(&document["requestedFiles"]));
    }
    Ok(request)
}

/// What is said of the attempt before.
pub(super) fn previous(
    asked: &ContextRequest,
    request: &mut Request,
) -> Result<Option<PreviousAttempt>, AppError> {
    request.retry.level = asked.previous_level;
    let mut patch_digest = None;
    if let Some(Named { name, document }) = &asked.previous {
        let level = document["level"]
            .as_u64()
            .and_then(|level| u8::try_from(level).ok());
        request.retry.level = level.and_then(Level::from_number);
        if request.retry.level.is_none() {
            let said = format!("`{name}` has no `level` from 0 to 4");
            return Err(AppError::usage(said));
        }
        request.retry.stop_reason = document["stopReason"]
            .as_str()
            .and_then(|reason| reason.parse().ok())
            .or(Some(StopReason::TestsFailed));
        patch_digest = document["patchDigest"].as_str().map(str::to_owned);
        let changed = strings(&document["filesModified"]);
        request.touched = changed
            .iter()
            .filter_map(|it| RepoPath::new(it).ok())
            .collect();
    }
    if asked.stop_reason.is_some() {
        request.retry = Retry {
            stop_reason: asked.stop_reason,
            ..request.retry
        };
    }
    let before = request.retry.stop_reason;
    Ok(before.map(|stop_reason| PreviousAttempt {
        stop_reason,
        patch_digest,
        preflight: None,
        message: None,
        patch: None,
        failure: None,
        kept: false,
        outputs: None,
    }))
}

fn targets(
    workspace: &Workspace,
    typed: &str,
    path: Option<RepoPath>,
) -> Result<Vec<RepoPath>, AppError> {
    let listing = workspace.source.listing();
    let Some(path) = path else {
        let here = [".", "./", ""].contains(&typed) && workspace.prefix.is_empty();
        if here {
            return Ok(listing.entries().iter().map(|it| it.path.clone()).collect());
        }
        return Err(AppError::new(
            Code::C311,
            format!("target `{typed}` is outside the repository"),
        )
        .hint("targets are files or directories below the repository's root"));
    };
    expand_target(listing, &path).ok_or_else(|| {
        let error = AppError::new(Code::C311, format!("target `{typed}` does not exist"));
        let on_disk = workspace
            .root
            .as_ref()
            .is_some_and(|root| root.join(path.as_str()).symlink_metadata().is_ok());
        if on_disk {
            return error
                .hint("the file is there, but git ignores it; `git add -f` makes it known");
        }
        nearest_paths(listing, path.as_str(), 3)
            .into_iter()
            .fold(error, |error, near| {
                error.hint(format!("did you mean `{near}`?"))
            })
    })
}

// Log, targets and commands of a failure packet; what the request says itself is kept.
fn take_failure(
    document: &Value,
    request: &mut Request,
    workspace: &Workspace,
) -> Result<(), AppError> {
    let text = document["logs"]["text"]
        .as_str()
        .ok_or_else(|| AppError::usage("the failure packet has no `logs.text`"))?;
    request.log = Some(Log::from(text.to_owned()));
    if request.targets.is_empty() {
        for target in strings(&document["targets"]) {
            let path = RepoPath::new(&target).ok();
            request.targets.extend(targets(workspace, &target, path)?);
        }
    }
    if request.test_commands.is_empty() {
        request.test_commands = strings(&document["testCommands"]);
    }
    Ok(())
}

// What a context document holds, and what it says that one before it held.
fn files_of(since: &Named) -> Result<Vec<UnchangedFile>, AppError> {
    let rows = |key: &str| Vec::<UnchangedFile>::deserialize(&since.document[key]);
    let mut files = rows("files")
        .map_err(|_| AppError::usage(format!("`{}` is not a context document", since.name)))?;
    files.extend(rows("unchanged").unwrap_or_default());
    Ok(files)
}

fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    items
        .iter()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}
