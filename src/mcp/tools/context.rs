use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::open::{file, policy, redactor, workspace};
use crate::context::{
    CapOverrides, LevelChoice, Request, add_history, base_request, build, expand_target,
    failure_packet, nearest_paths,
};
use crate::mcp::error::ToolError;
use crate::mcp::place::Place;
use crate::mcp::progress::Progress;
use crate::mcp::tool::{Given, arguments};
use crate::model::{Code, Level, PacketBudget, PreviousAttempt, RepoPath, StopReason};
use crate::report::context_markdown;
use crate::workspace::Workspace;

/// What `build_context` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[derive(Default)]
pub(super) struct Arguments {
    /// The output of the failing command; it says which files matter when no target is given.
    log: Option<String>,
    /// Files the failure is about; a directory means its files.
    targets: Vec<String>,
    /// Commands that show the failure; they are not run.
    test_commands: Vec<String>,
    /// Rung of the ladder, 0 to 3; chosen from the failure when missing.
    #[schemars(range(min = 0, max = 3))]
    level: Option<u8>,
    /// The rung of the attempt before.
    #[schemars(range(min = 0, max = 3))]
    previous_level: Option<u8>,
    /// How the attempt before ended.
    stop_reason: Option<StopReason>,
    /// More files to show.
    requested_files: Vec<String>,
    /// Files beyond targets and manifests.
    max_files: Option<u64>,
    /// Bytes of one file.
    max_file_bytes: Option<u64>,
    /// Bytes of all files.
    max_total_bytes: Option<u64>,
    /// Estimated tokens of all files.
    max_tokens: Option<u64>,
    /// A commit to read instead of the worktree.
    rev: Option<String>,
}

pub(super) fn call(
    place: &Place,
    given: JsonObject,
    progress: &Progress,
) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    if !progress.step("listing the repository") {
        return Err(ToolError::new(Code::U301, "cancelled"));
    }
    let workspace = workspace(place, given.rev.as_deref())?;
    let request = request(place, &given, &workspace)?;
    let policy = policy(place, request.profile)?;
    let redactor = redactor();
    if !progress.step("choosing files") {
        return Err(ToolError::new(Code::U301, "cancelled"));
    }
    let built = build(workspace.source.as_ref(), &policy, &redactor, &request)
        .map_err(|error| ToolError::new(error.code(), error.to_string()))?;
    let previous = given.stop_reason.map(|stop_reason| PreviousAttempt {
        stop_reason,
        patch_digest: None,
        preflight: None,
        message: None,
        patch: None,
        failure: None,
    });
    let packet = failure_packet(
        &built,
        &redactor,
        &given.test_commands,
        &[],
        previous,
        PacketBudget::default(),
    );
    Given::new(context_markdown(&built.context, &packet), &built.context)
}

fn request(place: &Place, given: &Arguments, workspace: &Workspace) -> Result<Request, ToolError> {
    let base = base_request(&place.settings, workspace.git.as_ref());
    let mut request = Request {
        log: given.log.clone().map(String::into_bytes),
        requested: given.requested_files.clone(),
        test_commands: given.test_commands.clone(),
        level: match given.level {
            Some(number) => LevelChoice::Exactly(level(number)?),
            None => LevelChoice::Auto,
        },
        caps: CapOverrides {
            max_files: given.max_files.or(base.caps.max_files),
            max_file_bytes: given.max_file_bytes.or(base.caps.max_file_bytes),
            max_total_bytes: given.max_total_bytes.or(base.caps.max_total_bytes),
            max_tokens: given.max_tokens.or(base.caps.max_tokens),
        },
        ..base
    };
    request.retry.level = given.previous_level.map(level).transpose()?;
    request.retry.stop_reason = given.stop_reason;
    for typed in &given.targets {
        request.targets.extend(targets(workspace, typed)?);
    }
    let revision = given.rev.as_deref().unwrap_or("HEAD");
    add_history(&mut request, workspace.git.as_ref(), revision);
    Ok(request)
}

// The whole repository without caps is never given to an agent.
fn level(number: u8) -> Result<Level, ToolError> {
    Level::from_number(number)
        .filter(|level| *level != Level::Bundle)
        .ok_or_else(|| ToolError {
            code: None,
            message: format!("{number} is no level from 0 to 3"),
        })
}

fn targets(workspace: &Workspace, typed: &str) -> Result<Vec<RepoPath>, ToolError> {
    let path = file(workspace, typed)?;
    let listing = workspace.source.listing();
    expand_target(listing, &path).ok_or_else(|| {
        let near = nearest_paths(listing, path.as_str(), 3);
        let near: Vec<String> = near.iter().map(|path| format!("`{path}`")).collect();
        let hint = if near.is_empty() {
            "none is near"
        } else {
            "near are"
        };
        let said = format!(
            "target `{typed}` does not exist; {hint} {}",
            near.join(", ")
        );
        ToolError::new(Code::C311, said.trim_end().to_owned())
    })
}
