use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use rmcp::model::{Resource, ResourceContents};

use crate::app::{App, last_run};
use crate::model::{DOCUMENTS, schema};

/// Answers that were longer than a client takes: the last few of a session, whole.
#[derive(Debug, Default)]
pub(super) struct Answers {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    // How many there ever were: a name is never given twice.
    count: u64,
    answers: VecDeque<(Resource, String)>,
}

impl Answers {
    /// Keeps the text and the document of what `command` gives, and says where they can be read.
    pub(super) fn keep(
        &self,
        command: &str,
        text: Option<String>,
        document: Option<String>,
    ) -> Vec<Resource> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.count += 1;
        let number = kept.count;
        let named = [("text.txt", text), ("document.json", document)];
        let named = named.into_iter().filter_map(|(name, it)| Some((name, it?)));
        let links: Vec<Resource> = named
            .map(|(name, whole)| {
                let resource = Resource::new(format!("{ANSWER}{number}/{name}"), name)
                    .with_description(format!("all that `{command}` gives"))
                    .with_mime_type(mime(name))
                    .with_size(whole.len() as u64);
                kept.answers.push_back((resource.clone(), whole));
                resource
            })
            .collect();
        let bytes = |kept: &Kept| kept.answers.iter().map(|it| it.1.len()).sum::<usize>();
        while kept.answers.len() > links.len().max(MOST_ANSWERS)
            || (kept.answers.len() > links.len() && bytes(&kept) > MOST_ANSWER_BYTES)
        {
            kept.answers.pop_front();
        }
        links
    }

    /// A kept one whole.
    pub(super) fn read(&self, uri: &str) -> Option<String> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.answers.iter().find(|(link, _)| link.uri == uri)?;
        Some(found.1.clone())
    }

    fn list(&self) -> Vec<Resource> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.answers.iter().map(|(link, _)| link.clone()).collect()
    }
}

/// The schemas, the files of the last run, and the answers that were cut.
pub(super) fn list(app: &App, answers: &Answers) -> Vec<Resource> {
    let schemas = DOCUMENTS.iter().map(|document| {
        let uri = format!("{SCHEMA}{}", document.name);
        Resource::new(uri, format!("schema of {}", document.name))
            .with_description(document.about)
            .with_mime_type("application/schema+json")
    });
    let (run, files) = last_run(app).unwrap_or_default();
    let files = files.into_iter().map(|file| {
        Resource::new(format!("{RUN}{}", file.name), file.name.clone())
            .with_description(format!("of run {run}"))
            .with_mime_type(mime(&file.name))
            .with_size(file.bytes)
    });
    schemas.chain(files).chain(answers.list()).collect()
}

/// The content of a resource; `None` when there is no such one. Of a long file the first part.
pub(super) fn read(app: &App, answers: &Answers, uri: &str) -> Option<ResourceContents> {
    if uri.starts_with(ANSWER) {
        let whole = answers.read(uri)?;
        return Some(ResourceContents::text(whole, uri).with_mime_type(mime(uri)));
    }
    if let Some(name) = uri.strip_prefix(SCHEMA) {
        let text = serde_json::to_string_pretty(&schema(name)?.schema()).ok()?;
        return Some(ResourceContents::text(text, uri).with_mime_type("application/schema+json"));
    }
    let name = uri.strip_prefix(RUN)?;
    // Only what is listed can be read, so no name leads elsewhere.
    let (_, files) = last_run(app).ok()?;
    let file = files.into_iter().find(|file| file.name == name)?;
    let bytes = std::fs::read(&file.path).ok()?;
    let text = String::from_utf8_lossy(bytes.get(..MOST_BYTES).unwrap_or(&bytes));
    let text = app.redactor().redact(&text).text.into_owned();
    Some(ResourceContents::text(text, uri).with_mime_type(mime(name)))
}

const SCHEMA: &str = "mendit://schema/";
const RUN: &str = "mendit://run/last/";
const ANSWER: &str = "mendit://answer/";
const MOST_ANSWERS: usize = 16;
const MOST_ANSWER_BYTES: usize = 32 << 20;
const MOST_BYTES: usize = 4 << 20;

fn mime(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("json") => "application/json",
        Some("md") => "text/markdown",
        Some("patch" | "diff") => "text/x-diff",
        _ => "text/plain",
    }
}
