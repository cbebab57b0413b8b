use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::open::{redactor, workspace};
use crate::git::Repository;
use crate::mcp::error::ToolError;
use crate::mcp::place::Place;
use crate::mcp::progress::Progress;
use crate::mcp::tool::{Given, arguments};
use crate::model::Code;
use crate::patch::{JudgeOptions, Judged, Objects, judge, write_worktree};
use crate::policy::{Allowed, Redactor};
use crate::report::patch_text;
use crate::workspace::Workspace;

/// What `check_patch` and `apply_patch` take.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// The patch: a git or unified diff, SEARCH/REPLACE blocks, a `*** Begin Patch` envelope, or
    /// JSON with edits or whole files.
    patch: String,
    /// Mend nothing.
    #[serde(default)]
    strict: bool,
    /// Refuse a patch after which a file no longer parses or a new import leads nowhere.
    #[serde(default)]
    strict_after: bool,
    /// Merge with what the files have become, when the blobs the patch was made for are known.
    #[serde(default)]
    three_way: bool,
}

pub(super) fn check(
    place: &Place,
    given: JsonObject,
    progress: &Progress,
) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let (_, judged) = judged(place, &given, progress)?;
    report(&given, judged)
}

pub(super) fn apply(
    place: &Place,
    given: JsonObject,
    progress: &Progress,
) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    let (workspace, judged) = judged(place, &given, progress)?;
    if judged.verdict.verdict.applies() {
        // The last moment at which a cancelled call changes nothing.
        if !progress.step("writing") {
            return Err(ToolError::new(Code::U301, "cancelled"));
        }
        write(&workspace, &judged)?;
    }
    report(&given, judged)
}

fn judged(
    place: &Place,
    given: &Arguments,
    progress: &Progress,
) -> Result<(Workspace, Judged), ToolError> {
    progress.step("listing the repository");
    let workspace = workspace(place, None)?;
    let objects = workspace.git.as_ref().map(Repository::objects);
    let allowed =
        Allowed::of(&place.settings.patch).map_err(|error| ToolError::new(Code::U101, error))?;
    let judging = JudgeOptions {
        strict: given.strict || place.settings.patch.strict,
        after: true,
        strict_after: given.strict_after || place.settings.patch.strict_after,
        three_way: given.three_way,
        allowed,
        objects: objects.as_ref().map(|objects| objects as &dyn Objects),
        ..JudgeOptions::default()
    };
    progress.step("judging");
    let judged = judge(given.patch.as_bytes(), workspace.source.as_ref(), &judging);
    drop(judging);
    drop(objects);
    Ok((workspace, judged))
}

fn write(workspace: &Workspace, judged: &Judged) -> Result<(), ToolError> {
    let state = workspace.state_directory().map_err(|(state, error)| {
        let said = format!("cannot write `{}`: {}", state.display(), error.kind());
        ToolError::new(Code::U303, said)
    })?;
    let (Some(root), Some(state)) = (&workspace.root, state) else {
        let said = "this repository is bare: it has no worktree";
        return Err(ToolError::new(Code::U202, said));
    };
    write_worktree(root, &state, &judged.changes)
        .map_err(|error| ToolError::new(error.code(), error.to_string()))
}

fn report(given: &Arguments, mut judged: Judged) -> Result<Given, ToolError> {
    if judged.verdict.verdict.applies() {
        judged.verdict.canonical_patch = String::from_utf8(judged.canonical_patch()).ok();
    }
    let redactor = redactor();
    let text = patch_text(&judged.verdict, "patch", given.patch.as_bytes(), false);
    let text = redactor.redact(&text).text.into_owned();
    let mut given = Given::new(text, &judged.verdict)?;
    mask(&mut given.document, &redactor);
    Ok(given)
}

// A verdict quotes lines of files. The canonical patch holds no line that the patch did not.
fn mask(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => {
            let masked = redactor.redact(text);
            if !masked.findings.is_empty() {
                *text = masked.text.into_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask(item, redactor)),
        Value::Object(fields) => {
            let fields = fields
                .iter_mut()
                .filter(|(name, _)| *name != "canonicalPatch");
            fields.for_each(|(_, field)| mask(field, redactor));
        }
        _ => {}
    }
}
