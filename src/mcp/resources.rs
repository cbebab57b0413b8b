use rmcp::model::{Resource, ResourceContents};

use crate::app::{App, Silent, last_run};
use crate::model::{DOCUMENTS, schema};

/// The schemas, and the files of the last run.
pub(super) fn list(app: &App) -> Vec<Resource> {
    let schemas = DOCUMENTS.iter().map(|document| {
        let uri = format!("{SCHEMA}{}", document.name);
        Resource::new(uri, format!("schema of {}", document.name))
            .with_description(document.about)
            .with_mime_type("application/schema+json")
    });
    let (run, files) = last_run(app, &Silent).unwrap_or_default();
    let files = files.into_iter().map(|file| {
        Resource::new(format!("{RUN}{}", file.name), file.name.clone())
            .with_description(format!("of run {run}"))
            .with_mime_type(mime(&file.name))
            .with_size(file.bytes)
    });
    schemas.chain(files).collect()
}

/// The content of a resource; `None` when there is no such one. Of a long file the first part.
pub(super) fn read(app: &App, uri: &str) -> Option<ResourceContents> {
    if let Some(name) = uri.strip_prefix(SCHEMA) {
        let text = serde_json::to_string_pretty(&schema(name)?.schema()).ok()?;
        return Some(ResourceContents::text(text, uri).with_mime_type("application/schema+json"));
    }
    let name = uri.strip_prefix(RUN)?;
    // Only what is listed can be read, so no name leads elsewhere.
    let (_, files) = last_run(app, &Silent).ok()?;
    let file = files.into_iter().find(|file| file.name == name)?;
    let bytes = std::fs::read(&file.path).ok()?;
    let text = String::from_utf8_lossy(bytes.get(..MOST_BYTES).unwrap_or(&bytes));
    let text = app.redactor().redact(&text).text.into_owned();
    Some(ResourceContents::text(text, uri).with_mime_type(mime(name)))
}

const SCHEMA: &str = "mendit://schema/";
const RUN: &str = "mendit://run/last/";
const MOST_BYTES: usize = 4 << 20;

fn mime(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("json") => "application/json",
        Some("md") => "text/markdown",
        Some("patch" | "diff") => "text/x-diff",
        _ => "text/plain",
    }
}
