use std::path::PathBuf;

use crate::diagnose::{LogFacts, diagnose};
use crate::exec::{Piped, SandboxState};
use crate::model::{Diagnosis, FailureKind};
use crate::policy::Redactor;
use crate::source::Listing;

/// What one start of a probe gave.
#[derive(Default)]
pub(super) struct Answer {
    /// Whether it answered.
    pub(super) answered: bool,
    /// One sentence about it.
    pub(super) message: String,
    /// The tools a server listed.
    pub(super) tools: Vec<String>,
    /// What it wrote.
    pub(super) log: String,
    /// How it ended.
    pub(super) facts: LogFacts,
    /// The kind of failure, where that does not rest on the log. `message` says it in the words
    /// that the rules of diagnosis know.
    pub(super) kind: Option<FailureKind>,
    /// Addresses on this machine that it said it listens on.
    pub(super) said_urls: Vec<String>,
    /// How far it was confined, once that is known.
    pub(super) sandbox: Option<SandboxState>,
    /// What the sandbox refused to be written.
    pub(super) refused: Vec<PathBuf>,
    /// The program, still running.
    pub(super) running: Option<Piped>,
}

impl Answer {
    /// A failure in one sentence.
    #[cfg(feature = "mcp")]
    pub(super) fn failed(kind: Option<FailureKind>, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            ..Self::default()
        }
    }

    /// What it says went wrong. Secrets are masked first.
    pub(super) fn diagnosis(&self, redactor: &Redactor, listing: Option<&Listing>) -> Diagnosis {
        let log = redactor.redact(&self.log);
        let message = redactor.redact(&self.message);
        let both = format!("{}\n{}\n", log.text.trim_end(), message.text);
        let whole = diagnose(&both, &self.facts, listing);
        match self.kind {
            Some(kind) if whole.kind != kind => {
                let facts = LogFacts {
                    exit_code: None,
                    ..self.facts.clone()
                };
                let mut alone = diagnose(&message.text, &facts, listing);
                alone.kind = kind;
                alone
            }
            _ => whole,
        }
    }

    /// Its last lines, with secrets masked.
    pub(super) fn tail(&self, redactor: &Redactor) -> String {
        let log = redactor.redact(&self.log);
        let lines: Vec<&str> = log
            .text
            .lines()
            .filter(|it| !it.trim().is_empty())
            .collect();
        let from = lines.len().saturating_sub(TAIL_LINES);
        let mut tail = lines.get(from..).unwrap_or_default().join("\n");
        if !self.message.is_empty() {
            tail.push('\n');
            tail.push_str(&redactor.redact(&self.message).text);
        }
        tail
    }
}

const TAIL_LINES: usize = 8;
