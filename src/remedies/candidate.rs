use std::collections::BTreeMap;

use crate::hint::Fix;
use crate::model::RepoPath;
use crate::patch::Change;
use crate::policy::is_test;

/// A change that needs no model.
#[derive(Debug, Clone, Default)]
pub struct Candidate {
    /// One sentence.
    pub what: String,
    /// A git patch.
    pub patch: Vec<u8>,
    /// What it writes.
    pub changes: Vec<Change>,
    /// Files it changes.
    pub files: Vec<RepoPath>,
    /// Whether it is nothing but imports, each certain.
    pub certain: bool,
    /// Whether it is kept only when the commands pass with it.
    pub must_fix: bool,
    /// The import that it gives each name, when it is one of imports.
    pub imports: BTreeMap<String, String>,
    /// The name that gives way to another, and that one, when it is a spelling.
    pub respells: Option<(String, String)>,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.patch == other.patch
    }
}

impl Candidate {
    /// That of changes to files.
    pub(super) fn of(
        what: String,
        fixes: Vec<(RepoPath, Fix)>,
        imports: BTreeMap<String, String>,
    ) -> Self {
        Self {
            what,
            imports,
            patch: fixes.iter().flat_map(|(_, it)| it.patch.bytes()).collect(),
            files: fixes.iter().map(|(file, _)| file.clone()).collect(),
            changes: fixes.into_iter().flat_map(|(_, it)| it.changes).collect(),
            ..Self::default()
        }
    }

    /// How little of the product it is: the product comes before tests.
    pub(super) fn tests(&self) -> u8 {
        let mut files = self.files.iter().map(|it| is_test(it.as_str()));
        let (all, any) = (files.clone().all(|it| it), files.any(|it| it));
        u8::from(all) + u8::from(any)
    }

    #[cfg(test)]
    pub(super) fn added(&self) -> Vec<String> {
        let patch = String::from_utf8_lossy(&self.patch);
        let lines = patch.lines().filter(|it| !it.starts_with("+++"));
        lines
            .filter_map(|it| Some(it.strip_prefix('+')?.to_owned()))
            .collect()
    }
}
