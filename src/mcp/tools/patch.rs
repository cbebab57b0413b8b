use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use serde_json::Value;

use super::super::tool::ToolError;
use crate::app::{App, Judged, PatchRequest, Target, apply_patch, check_patch, with_canonical};
use crate::mcp::tool::{Caller, Given, arguments};
use crate::report::patch_text;

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
}

pub(super) fn check(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let (app, request) = request(caller, given)?;
    let judged = check_patch(&app, &request, caller.progress)?;
    report(&app, &request, judged, "mendit check PATCH")
}

pub(super) fn apply(caller: &Caller<'_>, given: JsonObject) -> Result<Given, ToolError> {
    let (app, request) = request(caller, given)?;
    let (judged, _) = apply_patch(&app, &request, &Target::Worktree, caller.progress)?;
    report(&app, &request, judged, "mendit apply PATCH")
}

fn request(caller: &Caller<'_>, given: JsonObject) -> Result<(App, PatchRequest), ToolError> {
    let given: Arguments = arguments(given)?;
    let request = PatchRequest {
        patch: given.patch.into_bytes(),
        strict: given.strict,
        ..PatchRequest::default()
    };
    Ok(((caller.open)(&request)?, request))
}

fn report(
    app: &App,
    request: &PatchRequest,
    judged: Judged,
    command: &str,
) -> Result<Given, ToolError> {
    let mask = |text: &str| app.redactor().redact(text).text.into_owned();
    let verdict = with_canonical(judged);
    let text = mask(&patch_text(&verdict, "patch", &request.patch, false));
    let mut given = Given::new(text, &verdict, command)?;
    if let Some(document) = &mut given.document {
        // It has lines of the file around the change, and one that is masked would not apply.
        let is_kept = |it: &str| it.len() <= MOST_PATCH && mask(it) == it;
        if !document["canonicalPatch"].as_str().is_some_and(is_kept) {
            document["canonicalPatch"] = Value::Null;
        }
        mask_strings(document, &mask);
    }
    Ok(given)
}

// A longer canonical patch is not sent back to who sent the patch.
const MOST_PATCH: usize = 32_768;

// A verdict quotes lines of files.
fn mask_strings(value: &mut Value, mask: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = mask(text),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_strings(item, mask)),
        Value::Object(fields) => {
            fields
                .values_mut()
                .for_each(|field| mask_strings(field, mask));
        }
        _ => {}
    }
}
