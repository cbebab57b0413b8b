//! The MCP tools that only read.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::tool::{Answer, Caller, MAX_TOKENS, parse_arguments};
use crate::app::settings::{Bytes, Settings};
use crate::app::{
    self, App, AppError, ContextRequest, DiagnoseRequest, Flags, HintRequest, ImportsRequest,
    Judged, PatchRequest, Target, with_canonical,
};
use crate::model::DiagnosisDocument;
use crate::report::{context_markdown, diagnosis_text, imports_paths, imports_text, patch_text};

pub(super) fn diagnose(caller: &Caller<'_>, given: JsonObject) -> Result<Answer, AppError> {
    let request: DiagnoseRequest = parse_arguments(given)?;
    let diagnosis = app::diagnose_log(&(caller.open)(&())?, &request)?.diagnosis;
    let text = diagnosis_text(&diagnosis, false);
    Answer::new(text, &DiagnosisDocument::new(&diagnosis), "mendit diagnose")
}

pub(super) fn context(caller: &Caller<'_>, given: JsonObject) -> Result<Answer, AppError> {
    let mut request: ContextRequest = parse_arguments(given)?;
    request.max_log_bytes = request.max_tokens.is_none().then_some(Bytes(12_288));
    let app = (caller.open)(&WithinAnswer(&request))?;
    let mut packed = app::build_context(&app, &request)?;
    if request.log.is_some() {
        // The caller has it.
        packed.packet.logs.text.clear();
    }
    // Files are counted, and what is said about them is about as much again.
    let limit = request.max_tokens.map(|tokens| tokens.saturating_mul(2));
    Ok(Answer {
        text: context_markdown(&packed.context, &packed.packet),
        document: None,
        limit: limit.map_or(MAX_TOKENS, |limit| {
            if limit == 0 { u64::MAX / 7 } else { limit.max(MAX_TOKENS) }
        }),
        command: "mendit context --format markdown".to_owned(),
    })
}

// The request, by default within the size that every client accepts.
struct WithinAnswer<'a>(&'a ContextRequest);

impl Flags for WithinAnswer<'_> {
    fn merge(&self, settings: &mut Settings) {
        self.0.merge(settings);
        // Tokens of files that leave room for the rest of an answer.
        settings.context.max_tokens.get_or_insert(11_000);
    }
}

pub(super) fn find_import(caller: &Caller<'_>, given: JsonObject) -> Result<Answer, AppError> {
    let request: HintRequest = parse_arguments(given)?;
    let hinted = app::find_imports(&(caller.open)(&())?, &request)?;
    Answer::new(hinted.lines(), &hinted.document, "mendit hint")
}

pub(super) fn imports(caller: &Caller<'_>, given: JsonObject) -> Result<Answer, AppError> {
    let request: ImportsRequest = parse_arguments(given)?;
    let document = app::list_imports(&(caller.open)(&())?, &request)?;
    let text = if request.tests {
        imports_paths(&document)
    } else {
        imports_text(&document)
    };
    Answer::new(text, &document, "mendit imports")
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchArguments {
    /// The patch: a git or unified diff, SEARCH/REPLACE blocks, a `*** Begin Patch` envelope, or
    /// JSON with edits or whole files.
    patch: String,
    /// Apply git's rules alone.
    #[serde(default)]
    strict: bool,
}

pub(super) fn check_patch(caller: &Caller<'_>, given: JsonObject) -> Result<Answer, AppError> {
    let (app, request) = patch_request(caller, given)?;
    let judged = app::check_patch(&app, &request)?;
    answer_verdict(&app, &request, judged, "mendit check PATCH")
}

pub(super) fn apply_patch(caller: &Caller<'_>, given: JsonObject) -> Result<Answer, AppError> {
    let (app, request) = patch_request(caller, given)?;
    let judged = app::apply_patch(&app, &request, Target::Worktree)?;
    answer_verdict(&app, &request, judged, "mendit apply PATCH")
}

fn patch_request<'a>(
    caller: &Caller<'a>,
    given: JsonObject,
) -> Result<(App<'a>, PatchRequest), AppError> {
    let given: PatchArguments = parse_arguments(given)?;
    let request = PatchRequest {
        patch: given.patch.into_bytes(),
        strict: given.strict,
        ..PatchRequest::default()
    };
    Ok(((caller.open)(&request)?, request))
}

fn answer_verdict(
    app: &App,
    request: &PatchRequest,
    judged: Judged,
    command: &str,
) -> Result<Answer, AppError> {
    let mask = |text: &str| app.redactor().mask(text);
    let verdict = with_canonical(judged);
    let text = mask(&patch_text(&verdict, "patch", &request.patch, false));
    let mut answer = Answer::new(text, &verdict, command)?;
    if let Some(document) = &mut answer.document {
        // Left out because it holds lines of the file around the change, and a masked one would not apply.
        // A larger canonical patch is not sent back, to save tokens.
        if !document["canonicalPatch"]
            .as_str()
            .is_some_and(|patch| patch.len() <= 32_768 && mask(patch) == patch)
        {
            document["canonicalPatch"] = Value::Null;
        }
        mask_strings(document, &mask);
    }
    Ok(answer)
}

// A verdict quotes lines of files.
fn mask_strings(value: &mut Value, mask: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = mask(text),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_strings(item, mask)),
        Value::Object(fields) => fields.values_mut().for_each(|field| mask_strings(field, mask)),
        _ => {}
    }
}
