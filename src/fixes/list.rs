//! Lists all candidate fixes of a failure, so that `run`, `hint`, `fix` and MCP agree.

use super::candidate::{Candidate, Judging};
use super::imports::imports;
use super::listed::list_names;
use super::recent::recent_fixes;
use super::witness::{named_words, witnesses};
use crate::git::Repository;
use crate::graph::Graph;
use crate::hint::{Answer, Ask, Wanted};
use crate::model::{Diagnosis, RepoPath};
use std::collections::{BTreeMap, BTreeSet};

/// Candidates that may fail before `fix` gives up.
pub const MAX_TRIES: usize = 3;

/// A failure, and what may be done about it.
pub struct Question<'q> {
    /// The logs with their diagnoses; none where names are asked for alone.
    pub logs: &'q [(Diagnosis, &'q str)],
    /// The files that lack something.
    pub wanted: &'q BTreeMap<RepoPath, Wanted>,
    /// The repository as it fails.
    pub graph: &'q Graph<'q>,
    /// Its history; without it the latest changes explain nothing.
    pub git: Option<&'q Repository>,
    /// The context of import suggestions.
    pub ask: &'q Ask<'q>,
    /// The rules for a change.
    pub judging: Judging<'q>,
}

impl Question<'_> {
    /// Checks whether policy allows a patch; a file that is named by a person may change.
    pub(super) fn allows(&self, patch: &[u8]) -> bool {
        let allows = |diagnosis| self.judging.allows(self.graph.source(), diagnosis, patch);
        self.logs.is_empty() || self.logs.iter().any(|(diagnosis, _)| allows(diagnosis))
    }
}

/// Candidate fixes of a failure.
#[derive(Default)]
pub struct Fixes {
    /// Import suggestions for each file that lacks something.
    pub answers: Vec<Answer>,
    /// Candidates in the order in which they are tried: what the latest changes explain, certain imports, names
    /// that tools propose or messages name, imports that may be meant; of each the product before tests. Policy allows
    /// all of them.
    pub edits: Vec<Candidate>,
}

impl Fixes {
    /// Returns the edits that are no imports.
    pub fn beside_imports(&self) -> impl Iterator<Item = &Candidate> {
        self.edits.iter().filter(|edit| edit.imports.is_empty())
    }

    /// Checks whether a candidate gives a name this import.
    pub fn tries(&self, name: &str, statement: &str) -> bool {
        let mut imports = self.edits.iter().filter_map(|edit| edit.imports.get(name));
        imports.any(|import| import == statement)
    }
}

/// Lists all fixes of a failure that need no LLM. Each is kept only when the commands say that it helps.
pub fn find_fixes(question: &Question<'_>) -> Fixes {
    let source = question.graph.source();
    let missing = missing_words(question.logs);
    let (answers, certain, tries) = imports(question);
    let mut renamed = BTreeMap::new();
    let mut edits = recent_fixes(question, &missing, &mut renamed);
    edits.extend(certain);
    for (diagnosis, log) in question.logs {
        edits.extend(witnesses(log, diagnosis, source, &renamed));
    }
    edits.extend(list_names(question, &missing));
    edits.extend(tries.into_iter().take(MAX_TRIES));
    edits.retain(|edit| question.allows(&edit.patch));
    edits.sort_by_key(Candidate::changes_tests);
    // One patch may have two sources; what the first restores may be an import.
    let mut fixes = Fixes {
        answers,
        ..Fixes::default()
    };
    for edit in edits {
        if let Some(same) = fixes.edits.iter_mut().find(|other| **other == edit) {
            same.imports.extend(edit.imports);
            same.certain |= edit.certain;
            same.must_fix &= edit.must_fix;
        } else {
            fixes.edits.push(edit);
        }
    }
    fixes
}

// The words that the logs call missing.
fn missing_words(logs: &[(Diagnosis, &str)]) -> BTreeSet<String> {
    let named = logs.iter().flat_map(|(diagnosis, log)| {
        let lacked = diagnosis.lacks().map(String::as_str);
        lacked.chain(named_words(log)).collect::<Vec<_>>()
    });
    let words = named
        .flat_map(|name| name.split(|letter: char| !letter.is_alphanumeric() && letter != '_'))
        .filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}
