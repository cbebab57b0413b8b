use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::open::{file, policy, with_graph, workspace};
use crate::diagnose::{LogFacts, diagnose};
use crate::hint::{Query, recovery_hint, suggest};
use crate::mcp::error::ToolError;
use crate::mcp::place::Place;
use crate::mcp::progress::Progress;
use crate::mcp::tool::{Given, arguments};
use crate::model::{HintDocument, MentionedFile, Profile, RepoPath, SCHEMA_VERSION};

/// What `find_import` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[derive(Default)]
pub(super) struct Arguments {
    /// Undefined names; those of the log are added.
    names: Vec<String>,
    /// The file that uses them; the log's when missing.
    file: Option<String>,
    /// The output of the failing command.
    log: Option<String>,
}

pub(super) fn call(
    place: &Place,
    given: JsonObject,
    progress: &Progress,
) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    progress.step("listing the repository");
    let workspace = workspace(place, None)?;
    let source = workspace.source.as_ref();
    let mut names = given.names;
    let mut user = None;
    if let Some(log) = &given.log {
        let diagnosis = diagnose(log, &LogFacts::default(), Some(source.listing()));
        names.extend(diagnosis.undefined_names);
        user = diagnosis.files.iter().find_map(MentionedFile::repo_path);
    }
    if let Some(typed) = &given.file {
        user = Some(file(&workspace, typed)?);
    }
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    let (Some(user), false) = (user, names.is_empty()) else {
        return Err(ToolError {
            code: None,
            message: "name what is undefined with `names` and `file`, or give a `log` that does"
                .to_owned(),
        });
    };
    let policy = policy(place, Profile::Ranked)?;
    let may_read = |path: &RepoPath| policy.refuse(path).is_none();
    progress.step("reading imports");
    let suggestions = with_graph(&workspace, |graph| {
        let query = Query {
            file: &user,
            names: &names,
            known: &place.settings.hint.known,
            may_read: &may_read,
        };
        suggest(source, graph, &query)
    });
    let recovery_hint = recovery_hint(&names, &suggestions);
    let document = HintDocument {
        schema_version: SCHEMA_VERSION,
        document: "hint",
        suggestions,
        recovery_hint: recovery_hint.clone(),
        patch: None,
    };
    Given::new(recovery_hint, &document)
}
