use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::open::{file, with_graph, workspace};
use crate::graph::{Wanted, document, source_files};
use crate::mcp::error::ToolError;
use crate::mcp::place::Place;
use crate::mcp::progress::Progress;
use crate::mcp::tool::{Given, arguments};
use crate::model::Code;
use crate::report::imports_text;

/// What `imports` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// Files, or directories whose files are meant.
    #[schemars(length(min = 1))]
    files: Vec<String>,
    /// How many imports away files may be.
    #[serde(default = "one")]
    hops: u32,
    /// Who imports the files, instead of what they import.
    #[serde(default)]
    reverse: bool,
    /// Follow each imported name to the file that defines it.
    #[serde(default)]
    symbols: bool,
    /// A commit to read instead of the worktree.
    rev: Option<String>,
}

fn one() -> u32 {
    1
}

pub(super) fn call(
    place: &Place,
    given: JsonObject,
    progress: &Progress,
) -> Result<Given, ToolError> {
    let given: Arguments = arguments(given)?;
    progress.step("listing the repository");
    let workspace = workspace(place, given.rev.as_deref())?;
    let mut targets = Vec::new();
    for typed in &given.files {
        let path = file(&workspace, typed)?;
        let found = source_files(workspace.source.listing(), path.as_str());
        if found.is_empty() {
            let said = format!("`{typed}` is not a file of the repository");
            return Err(ToolError::new(Code::U104, said));
        }
        targets.extend(found);
    }
    let wanted = if given.reverse {
        Wanted::Importers(targets, given.hops)
    } else {
        Wanted::Imports(targets, given.hops)
    };
    progress.step("reading imports");
    let document = with_graph(&workspace, |graph| document(graph, &wanted, given.symbols));
    Given::new(imports_text(&document), &document)
}
