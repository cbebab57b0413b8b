//! A candidate fix that needs no LLM.

use std::collections::BTreeMap;

use crate::hint::Fix;
use crate::model::RepoPath;
use crate::patch::Change;
use crate::policy::is_test;

/// A change that needs no LLM.
#[derive(Debug, Clone, Default)]
pub struct Candidate {
    /// What it does, in one sentence.
    pub what: String,
    /// A git patch.
    pub patch: Vec<u8>,
    /// The changes of the patch.
    pub changes: Vec<Change>,
    /// Files it changes.
    pub files: Vec<RepoPath>,
    /// Whether it only adds imports, each certain.
    pub certain: bool,
    /// Whether it is kept only when the commands pass with it.
    pub must_fix: bool,
    /// The import of each name; empty for a name that is respelled.
    pub imports: BTreeMap<String, String>,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.patch == other.patch
    }
}

impl Candidate {
    /// Returns the candidate of imports in files.
    pub(super) fn from_fixes(what: String, fixes: Vec<(RepoPath, Fix)>) -> Self {
        Self {
            what,
            patch: fixes
                .iter()
                .flat_map(|(_, fix)| fix.patch.bytes())
                .collect(),
            files: fixes.iter().map(|(file, _)| file.clone()).collect(),
            changes: fixes.into_iter().flat_map(|(_, fix)| fix.changes).collect(),
            ..Self::default()
        }
    }

    /// Orders candidates: the product comes before tests.
    pub(super) fn changes_tests(&self) -> bool {
        self.files.iter().any(|file| is_test(file.as_str()))
    }

    #[cfg(test)]
    pub(super) fn added(&self) -> Vec<String> {
        let patch = String::from_utf8_lossy(&self.patch);
        let lines = patch.lines().filter(|line| !line.starts_with("+++"));
        lines
            .filter_map(|line| Some(line.strip_prefix('+')?.to_owned()))
            .collect()
    }
}
