use std::collections::BTreeMap;

use super::allowed::Judging;
use super::candidate::Candidate;
use super::imports::{Imports, imports};
use super::syntax::syntax;
use super::witness::witnesses;
use crate::graph::Graph;
use crate::hint::{Answer, Ask, Wanted};
use crate::model::{Diagnosis, FailureKind as Kind, MentionedFile, RepoPath};
use crate::patch::{Change, FileState, canonical};
use crate::source::{EntryKind, Source};

/// Changes that are tried in vain at most.
pub const MAX_TRIES: usize = 3;

/// What failed, and what may be done about it.
pub struct Question<'q> {
    /// What logs say, each with its text; none where names are asked for alone.
    pub logs: &'q [(Diagnosis, &'q str)],
    /// The files that lack something.
    pub wanted: &'q BTreeMap<RepoPath, Wanted>,
    /// The repository as it fails.
    pub graph: &'q Graph<'q>,
    /// What stands behind imports; without it they are left alone.
    pub ask: Option<&'q Ask<'q>>,
    /// What a change may do.
    pub judging: Judging<'q>,
}

/// What may mend it.
#[derive(Default)]
pub struct Remedies {
    /// What each file that lacks something is told.
    pub answers: Vec<Answer>,
    /// The changes, in the order in which they are tried: what is certain, what
    /// tools propose, what the log is a witness of, imports that may be meant; of each the product before
    /// tests. Policy refuses none of them.
    pub edits: Vec<Candidate>,
}

impl Remedies {
    /// The list in words, in its order.
    #[must_use]
    pub fn tried(&self) -> Vec<String> {
        self.edits.iter().map(|it| it.what.clone()).collect()
    }

    /// The edits that are no imports, in words.
    #[must_use]
    pub fn beside_imports(&self) -> Vec<String> {
        let others = self.edits.iter().filter(|edit| edit.imports.is_empty());
        others.map(|edit| edit.what.clone()).collect()
    }

    /// Whether a change gives a name this import.
    #[must_use]
    pub fn tries(&self, name: &str, statement: &str) -> bool {
        let gives = |it: &Candidate| it.imports.get(name).is_some_and(|it| it == statement);
        let respells = |it: &Candidate| it.imports.contains_key(name) && statement.is_empty();
        self.edits.iter().any(|it| gives(it) || respells(it))
    }
}

/// The one list: all that is known to mend a failure without a model. Each change is kept only when the
/// commands say that it helps.
#[must_use]
pub fn remedies(question: &Question<'_>) -> Remedies {
    let Question { graph, ask, .. } = *question;
    let source = graph.source();
    // A file that is named by a person may change.
    let allows = |patch: &[u8]| {
        let mut all = question.logs.iter();
        question.logs.is_empty() || all.any(|(it, _)| question.judging.allows(source, it, patch))
    };
    let Imports {
        answers,
        certain,
        mut tries,
    } = ask.map_or_else(Imports::default, |ask| {
        let looks_at_names = question.logs.iter().any(|(it, _)| looks_at_names(it));
        imports(graph, ask, question.wanted, looks_at_names, &allows)
    });
    let mut edits = certain;
    for (diagnosis, log) in question.logs {
        edits.extend(modes(diagnosis, source));
        edits.extend(witnesses(log, diagnosis, source));
        edits.extend(syntax(log, diagnosis, source));
    }
    tries.truncate(MAX_TRIES);
    edits.append(&mut tries);
    let certain = edits.iter().filter(|it| it.certain);
    let settled: Vec<String> = certain.flat_map(|it| it.imports.keys().cloned()).collect();
    edits.retain(|edit| {
        let names = edit.respells.as_ref();
        names.is_none_or(|(wrong, _)| !settled.contains(wrong))
    });
    edits.retain(|it| allows(&it.patch));
    edits.sort_by_key(|it| (!it.certain, it.tests()));
    let mut seen: Vec<Vec<u8>> = Vec::new();
    edits.retain(|edit| {
        let is_new = !seen.contains(&edit.patch);
        seen.push(edit.patch.clone());
        is_new
    });
    Remedies { answers, edits }
}

// Whether a program complained that looks at names alone: any import of the name is right to it.
fn looks_at_names(diagnosis: &Diagnosis) -> bool {
    let names = [
        "ruff", "flake8", "pyflakes", "pylint", "eslint", "biome", "oxlint",
    ];
    diagnosis
        .tool
        .as_deref()
        .is_some_and(|it| names.contains(&it))
}

// A tracked script that starts with `#!` and may not be executed (fixed by a mode patch).
fn modes(diagnosis: &Diagnosis, source: &dyn Source) -> Vec<Candidate> {
    if diagnosis.kind != Kind::PermissionDenied {
        return Vec::new();
    }
    let mut found = Vec::new();
    for path in diagnosis.files.iter().filter_map(MentionedFile::repo_path) {
        let plain = source
            .listing()
            .get(path.as_str())
            .is_some_and(|entry| entry.kind == EntryKind::File { executable: false });
        let Some(bytes) = plain.then(|| source.read(&path).ok()).flatten() else {
            continue;
        };
        if !bytes.starts_with(b"#!") {
            continue;
        }
        let state = |mode| Some(FileState::new(bytes.clone(), mode));
        let change = Change::between(path.clone(), state(0o100_644), state(0o100_755));
        found.push(Candidate {
            what: format!("make {path} executable"),
            patch: canonical(&[change]),
            files: vec![path],
            ..Candidate::default()
        });
    }
    found
}
