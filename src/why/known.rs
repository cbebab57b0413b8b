//! Keeps culprit and trace of a command for unchanged files.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::model::{KnownCause, Traced, WhyDocument, WhyVerdict};
use crate::policy::Redactor;
use crate::repair::{files_digest, read_json, write_atomically};
use crate::workspace::Workspace;

const CAUSE: &str = "cause.json";
const TRACE: &str = "trace.json";
const SEARCHED: &str = "searched.json";

/// Facts about a command that hold for the files as they are: its culprit, its trace. They are kept outside the
/// repository, out of reach of what is run.
pub struct Facts<'a> {
    folder: PathBuf,
    workspace: &'a Workspace,
    redactor: &'a Redactor,
}

/// A culprit, and the patch that reverts it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptCause {
    /// The culprit.
    pub cause: KnownCause,
    /// The patch; `None` where the lines of the culprit changed again.
    pub undo: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fact<T> {
    command: String,
    prefix: String,
    // The digest of all files.
    digest: String,
    fact: T,
}

impl<'a> Facts<'a> {
    /// Facts that are kept in a folder.
    pub fn new(folder: &Path, workspace: &'a Workspace, redactor: &'a Redactor) -> Self {
        Self {
            folder: folder.to_owned(),
            workspace,
            redactor,
        }
    }

    /// The culprit of this command; without one, of the last that was searched for.
    pub fn cause(&self, line: Option<&str>) -> Option<KeptCause> {
        self.find_fact(line, CAUSE)
    }

    /// The trace of this command's failing tests.
    pub fn trace(&self, line: &str) -> Option<Traced> {
        self.find_fact(Some(line), TRACE)
    }

    /// What a search for the culprit of this command found that ended without one.
    pub fn unexplained(&self, line: &str) -> Option<String> {
        self.find_fact(Some(line), SEARCHED)
    }

    pub(super) fn keep_cause(&self, line: &str, document: &WhyDocument, is_whole: bool) {
        if let Some(cause) = known_cause(document) {
            let undo = document.undo.clone();
            self.keep_fact(line, CAUSE, KeptCause { cause, undo });
        } else if is_whole {
            self.keep_fact(line, SEARCHED, &document.message);
        }
    }

    pub(super) fn keep_trace(&self, line: &str, traced: &Traced) {
        self.keep_fact(line, TRACE, traced);
    }

    fn keep_fact<T: Serialize>(&self, line: &str, name: &str, fact: T) {
        let fact = Fact {
            command: line.to_owned(),
            prefix: self.workspace.prefix.clone(),
            digest: files_digest(self.workspace.source.as_ref()),
            fact,
        };
        if let Ok(text) = serde_json::to_vec(&fact)
            && self.redactor.redact(line).findings.is_empty()
        {
            let _ = write_atomically(&self.folder.join(name), &text);
        }
    }

    fn find_fact<T: DeserializeOwned>(&self, line: Option<&str>, name: &str) -> Option<T> {
        let kept: Fact<T> = read_json(&self.folder.join(name))?;
        let is_same = line.is_none_or(|line| kept.command == line)
            && kept.prefix == self.workspace.prefix
            && kept.digest == files_digest(self.workspace.source.as_ref());
        is_same.then_some(kept.fact)
    }
}

/// The culprit that a document names.
pub fn known_cause(document: &WhyDocument) -> Option<KnownCause> {
    (document.verdict == WhyVerdict::Caused).then(|| KnownCause {
        message: document.message.clone(),
        changes: document.cause.clone(),
        skipped: document.skipped.clone(),
        breaks: document.breaks.clone(),
    })
}
