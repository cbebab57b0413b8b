use std::path::PathBuf;

use serde_json::Value;

use super::flags::{level, profile, request, stop_reason};
use super::input::{last, reports};
use super::why::{known_cause, known_trace};
use super::{App, AppError, Input, Progress};
use crate::config::Bytes;
use crate::context::{LevelChoice, Request, Retry, base_request, expand_target, nearest_paths};
use crate::diagnose::Log;
use crate::model::{Code, Level, PreviousAttempt, Profile, RepoPath, StopReason};
use crate::workspace::Workspace;

request! {
/// Build the packet of a failure.
#[derive(Default)]
ContextRequest {
    /// Files the failure is about; a directory means its files
    #[arg(value_name = "TARGET")] targets: Vec<String>;
    /// The same as TARGET
    #[arg(hide_short_help = true, long = "target", value_name = "PATH")] more_targets: Vec<String>;
    /// Log of the failing command; `-` is standard input. Without it and without a target, the last
    /// run
    #[arg(long, value_name = "FILE")] log: Option<Input>;
    /// Text of an issue or a task instead of a log; `-` is standard input
    #[arg(long, visible_alias = "task", value_name = "FILE", conflicts_with_all = ["log", "failure"])]
    issue: Option<Input>;
    /// A `JUnit` report in addition to the log; repeatable
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "log")] junit: Vec<Input>;
    /// A failure packet to take log, targets and commands from
    #[arg(hide_short_help = true, long, value_name = "FILE", conflicts_with = "log")] failure: Option<Input>;
    /// The command that shows the failure (it is not run)
    #[arg(hide_short_help = true, long = "test-command", value_name = "CMD")] test_commands: Vec<String>;
    /// Context level: auto, or 0 to 4
    #[arg(long, value_name = "LEVEL", default_value = "auto", value_parser = level)]
    level: LevelChoice;
    /// The rung of the attempt before.
    #[arg(skip)] previous_level: Option<Level>;
    /// How the previous attempt ended, such as `tests_failed`
    #[arg(hide_short_help = true, long, value_name = "REASON", value_parser = stop_reason, help_heading = AFTER)]
    stop_reason: Option<StopReason>;
    /// context.json or result.json of the previous attempt
    #[arg(long, value_name = "FILE", help_heading = AFTER)] previous: Option<Input>;
    /// JSON with the `requestedFiles` of an agent; `-` is standard input
    #[arg(hide_short_help = true, long, value_name = "FILE", help_heading = AFTER)] request: Option<Input>;
    /// A request of an agent: PATH, PATH:120-200 (lines) or PATH#NAME (a definition)
    #[arg(long = "request-path", value_name = "PATH", help_heading = AFTER)] requested: Vec<String>;
    /// Permit level 4: the whole repository, without caps
    #[arg(hide_short_help = true, long, help_heading = WHAT)] include_repo_bundle: bool;
    /// Read this commit instead of the worktree
    #[arg(long, value_name = "REV")] rev: Option<String>;
    /// Base of the change under test: its diff is shown, its files rank high
    #[arg(long, value_name = "BASE", help_heading = WHAT)] diff: Option<String>;
    /// How files are chosen [default: ranked] [setting: context.profile]
    #[arg(hide_short_help = true, long, value_name = "PROFILE", value_parser = profile, help_heading = WHAT)]
    profile: Option<Profile> => set context.profile;
    /// Files beyond targets and manifests [setting: context.max-files]
    #[arg(hide_short_help = true, long, value_name = "N", help_heading = WHAT)] max_files: Option<u64> => set context.max_files;
    /// Bytes of one file [setting: context.max-file-bytes]
    #[arg(hide_short_help = true, long, value_name = "N", help_heading = WHAT)] max_file_bytes: Option<Bytes> => set context.max_file_bytes;
    /// Bytes of all files [setting: context.max-total-bytes]
    #[arg(hide_short_help = true, long, value_name = "N", help_heading = WHAT)] max_total_bytes: Option<Bytes> => set context.max_total_bytes;
    /// Estimated tokens of all files and the log (two for every seven bytes); 0 is no limit [setting: context.max-tokens]
    #[arg(long, value_name = "N", help_heading = WHAT)] max_tokens: Option<u64> => set context.max_tokens;
    /// Do not use the trace of the failing tests [setting: context.trace]
    #[arg(hide_short_help = true, long, help_heading = WHAT)] no_trace: bool => off context.trace;
    /// Bytes of the log; the middle is left out.
    #[arg(skip)] max_log_bytes: Option<Bytes>;
    /// Read only files that match; repeatable [setting: context.allow]
    #[arg(long, value_name = "GLOB", help_heading = WHAT)] allow: Vec<String> => list context.allow;
    /// Never read files that match; repeatable [setting: context.deny]
    #[arg(long, value_name = "GLOB", help_heading = WHAT)] deny: Vec<String> => add context.deny;
    /// Write context.json and failure-packet.json here
    #[arg(long, value_name = "DIR", help_heading = "Result")] out: Option<PathBuf>;
    /// Whether it is written below `.mendit` of the worktree when no folder is named.
    #[arg(skip)] shown: bool;
    /// Neither use nor fill the cache of parsed files
    #[arg(hide_short_help = true, long)] no_cache: bool;
}
}

/// More rounds than are ever answered.
const MAX_ROUNDS: u64 = 8;

const AFTER: &str = "After an attempt";
const WHAT: &str = "What goes in";

impl ContextRequest {
    // Whether nothing says what the packet is for, so that it is for the last run.
    fn takes_last_run(&self) -> bool {
        let paths = [&self.targets, &self.more_targets, &self.requested];
        let inputs = [&self.log, &self.failure, &self.issue, &self.request];
        paths.iter().all(|it| it.is_empty())
            && inputs.iter().all(|it| it.is_none())
            && self.rev.is_none()
    }
}

/// What the request, the settings and the documents ask for.
pub(super) fn to_request(
    query: &ContextRequest,
    app: &App,
    workspace: &Workspace,
    progress: &dyn Progress,
) -> Result<Request, AppError> {
    let plain = base_request(app.settings(), workspace.git.as_ref());
    let last = query.takes_last_run().then(|| last(app, progress));
    let last = last.transpose()?.flatten();
    let mut test_commands = query.test_commands.clone();
    if test_commands.is_empty() {
        test_commands.extend(last.as_ref().and_then(|it| it.command.clone()));
    }
    let log = query.log.as_ref().map(|it| it.log(progress));
    let mut commands = test_commands.iter().filter(|_| query.rev.is_none());
    let mut request = Request {
        log: log.transpose()?.or(last.map(|it| it.log)),
        issue: query.issue.as_ref().map(Input::words).transpose()?,
        reports: reports(&query.junit, progress)?,
        directory: workspace.prefix.clone(),
        level: query.level,
        include_bundle: query.include_repo_bundle,
        cause: commands
            .clone()
            .find_map(|line| known_cause(app, workspace, line)),
        traced: commands.find_map(|line| known_trace(app, workspace, line)),
        test_commands,
        max_log_bytes: query.max_log_bytes.map_or(plain.max_log_bytes, |it| it.0),
        ..plain
    };
    for typed in query.targets.iter().chain(&query.more_targets) {
        let path = workspace.repo_path(typed);
        request.targets.extend(targets(workspace, typed, path)?);
    }
    if let Some(failure) = &query.failure {
        take_failure(&failure.json()?, &mut request, workspace)?;
    }
    let mut requested = query.requested.clone();
    if let Some(input) = &query.request {
        let document = input.json()?;
        if !document["requestedFiles"].is_array() {
            let message = format!("`{}` has no list `requestedFiles`", input.name());
            return Err(AppError::usage(message));
        }
        requested.extend(strings(&document["requestedFiles"]));
    }
    if !requested.is_empty() {
        request.requests.push(requested);
    }
    Ok(request)
}

/// What is said of the attempt before.
pub(super) fn previous(
    query: &ContextRequest,
    request: &mut Request,
) -> Result<Option<PreviousAttempt>, AppError> {
    request.retry.level = query.previous_level;
    let mut patch_digest = None;
    if let Some(input) = &query.previous {
        let document = input.json()?;
        let level = document["level"]
            .as_u64()
            .and_then(|level| u8::try_from(level).ok());
        request.retry.level = level.and_then(Level::from_number);
        if request.retry.level.is_none() {
            let message = format!("`{}` has no `level` from 0 to 4", input.name());
            return Err(AppError::usage(message));
        }
        request.retry.stop_reason = document["stopReason"]
            .as_str()
            .and_then(|reason| reason.parse().ok())
            .or(Some(StopReason::TestsFailed));
        // Requests that earlier packets answered; their files are not served again.
        let rounds = document["requestRounds"]
            .as_u64()
            .unwrap_or(0)
            .min(MAX_ROUNDS);
        for _ in 0..rounds {
            request.requests.insert(0, Vec::new());
        }
        patch_digest = document["patchDigest"].as_str().map(str::to_owned);
    }
    if query.stop_reason.is_some() {
        request.retry = Retry {
            stop_reason: query.stop_reason,
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

fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    items
        .iter()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}
