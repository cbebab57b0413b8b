use serde::Deserialize;

use super::CliError;
use super::context_args::Args;
use super::input::{read_json, read_log};
use super::workspace::Workspace;
use crate::config::Settings;
use crate::context::{Request, Retry, base_request, expand_target, nearest_paths};
use crate::model::{Code, Level, PreviousAttempt, RepoPath, StopReason, UnchangedFile};

/// What the flags, the settings and the files they name ask for.
pub(super) fn request(
    args: &Args,
    settings: &Settings,
    workspace: &Workspace,
) -> Result<Request, CliError> {
    let plain = base_request(settings, workspace.git.as_ref());
    let mut request = Request {
        level: args.level,
        include_bundle: args.include_repo_bundle,
        test_commands: args.test_commands.clone(),
        ..plain
    };
    if let Some(log) = &args.log {
        request.log = Some(read_log(log)?);
    }
    for typed in args.targets.iter().chain(&args.more_targets) {
        let path = workspace.repo_path(typed);
        request.targets.extend(targets(workspace, typed, path)?);
    }
    if let Some(failure) = &args.failure {
        take_failure(&read_json(failure)?, &mut request, workspace)?;
    }
    if let Some(since) = &args.since {
        request.since = files_of(since)?;
    }
    request.requested.extend(args.request_paths.iter().cloned());
    if let Some(asked) = &args.request {
        let document = read_json(asked)?;
        let paths = strings(&document["requestedFiles"]);
        if !document["requestedFiles"].is_array() {
            return Err(CliError::usage(format!(
                "`{asked}` has no list `requestedFiles`"
            )));
        }
        request.requested.extend(paths);
    }
    Ok(request)
}

fn targets(
    workspace: &Workspace,
    typed: &str,
    path: Option<RepoPath>,
) -> Result<Vec<RepoPath>, CliError> {
    let listing = workspace.source.listing();
    let Some(path) = path else {
        let here = [".", "./", ""].contains(&typed) && workspace.prefix.is_empty();
        if here {
            return Ok(listing.entries().iter().map(|it| it.path.clone()).collect());
        }
        return Err(CliError::new(
            Code::C311,
            format!("target `{typed}` is outside the repository"),
        )
        .hint("targets are files or directories below the repository's root"));
    };
    expand_target(listing, &path).ok_or_else(|| {
        let error = CliError::new(Code::C311, format!("target `{typed}` does not exist"));
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

// Log, targets and commands of a failure packet; what the flags say is kept.
fn take_failure(
    document: &serde_json::Value,
    request: &mut Request,
    workspace: &Workspace,
) -> Result<(), CliError> {
    let text = document["logs"]["text"]
        .as_str()
        .ok_or_else(|| CliError::usage("the failure packet has no `logs.text`"))?;
    request.log = Some(text.as_bytes().to_vec());
    if request.targets.is_empty() {
        for target in strings(&document["targets"]) {
            request
                .targets
                .extend(targets(workspace, &target, RepoPath::new(&target).ok())?);
        }
    }
    if request.test_commands.is_empty() {
        request.test_commands = strings(&document["testCommands"]);
    }
    Ok(())
}

// What a context document holds, and what it says that one before it held.
fn files_of(since: &str) -> Result<Vec<UnchangedFile>, CliError> {
    let document = read_json(since)?;
    let rows = |key: &str| Vec::<UnchangedFile>::deserialize(&document[key]);
    let mut files = rows("files")
        .map_err(|_| CliError::usage(format!("`{since}` is not a context document")))?;
    files.extend(rows("unchanged").unwrap_or_default());
    Ok(files)
}

/// What `--previous` and `--stop-reason` say of the attempt before.
pub(super) fn read_previous(
    args: &Args,
    request: &mut Request,
) -> Result<Option<PreviousAttempt>, CliError> {
    let mut patch_digest = None;
    if let Some(previous) = &args.previous {
        let document = read_json(previous)?;
        let level = document["level"]
            .as_u64()
            .and_then(|level| u8::try_from(level).ok());
        request.retry.level = level.and_then(Level::from_number);
        if request.retry.level.is_none() {
            return Err(CliError::usage(format!(
                "`{previous}` has no `level` from 0 to 4"
            )));
        }
        request.retry.stop_reason = document["stopReason"]
            .as_str()
            .and_then(|reason| reason.parse().ok())
            .or(Some(StopReason::TestsFailed));
        patch_digest = document["patchDigest"].as_str().map(str::to_owned);
    }
    if args.stop_reason.is_some() {
        request.retry = Retry {
            stop_reason: args.stop_reason,
            ..request.retry
        };
    }
    Ok(request
        .retry
        .stop_reason
        .map(|stop_reason| PreviousAttempt {
            stop_reason,
            patch_digest,
            preflight: None,
            message: None,
            patch: None,
            failure: None,
        }))
}

fn strings(value: &serde_json::Value) -> Vec<String> {
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    items
        .iter()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}
