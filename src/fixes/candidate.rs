//! A candidate fix that needs no LLM. It is validated by the rules for mendit's own changes, stricter than for users,
//! because nobody reviews them first.

use std::collections::BTreeMap;

use crate::model::{Diagnosis, FailureKind, RepoPath, Suggestion, TestChanges};
use crate::patch::{After, Change, JudgeOptions, canonical, judge};
use crate::policy::{Allowed, CommandFiles, Dependencies, is_test};
use crate::source::Source;

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
    /// Whether it follows a rename that other code follows already: reverting the rename would break it.
    pub is_expected: bool,
    /// The import of each name; empty for a name that is respelled.
    pub imports: BTreeMap<String, String>,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.patch == other.patch
    }
}

impl Candidate {
    /// Returns a candidate that is kept only when the commands pass with it; `None` when it changes nothing.
    pub fn from_changes(what: &str, changes: Vec<Change>) -> Option<Self> {
        let files: Vec<RepoPath> = changes.iter().map(|change| change.path.clone()).collect();
        // Files that the sentence of a fix names.
        let names = files.iter().map(RepoPath::as_str).take(3);
        let names = names.collect::<Vec<_>>().join(", ");
        (!files.is_empty()).then(|| Self {
            what: format!("{what} in {names}"),
            patch: canonical(&changes),
            must_fix: true,
            files,
            changes,
            ..Self::default()
        })
    }

    pub(super) fn with_imports<'s>(
        self,
        suggestions: impl IntoIterator<Item = &'s Suggestion>,
    ) -> Self {
        let suggestions = suggestions.into_iter();
        let imports = suggestions.map(|one| (one.name.clone(), one.import_statement.clone()));
        Self {
            imports: imports.collect(),
            ..self
        }
    }

    /// Orders candidates: the product comes before tests.
    pub(super) fn changes_tests(&self) -> bool {
        self.files.iter().any(|file| is_test(file.as_str()))
    }

    /// Checks that the lines which the candidate adds are among these.
    pub fn adds_only(&self, lines: &[&str]) -> bool {
        let added = self.added();
        !added.is_empty() && added.iter().all(|line| lines.contains(&line.as_str()))
    }

    pub(super) fn added(&self) -> Vec<String> {
        let patch = String::from_utf8_lossy(&self.patch);
        let lines = patch.lines().filter(|line| !line.starts_with("+++"));
        lines.filter_map(|line| Some(line.strip_prefix('+')?.to_owned())).collect()
    }
}

/// Names lines that a fix writes, each with its file, as many as [`Candidate::from_changes`] names files.
pub(super) fn name_lines<'l>(lines: impl Iterator<Item = (&'l RepoPath, String)>) -> String {
    let rows = lines.take(3).map(|(file, line)| format!("`{}` in {file}", line.trim()));
    rows.collect::<Vec<_>>().join(", ")
}

/// The rules by which a fix is validated.
#[derive(Clone, Copy)]
pub struct Judging<'j> {
    /// The commands that fail, with their setup.
    pub lines: &'j [String],
    /// The directory they run in.
    pub prefix: &'j str,
    /// Protected files that may change all the same.
    pub allowed: &'j Allowed,
}

impl<'j> Judging<'j> {
    /// Returns the options for a fix of a failure; without one, for a change that nobody asked for.
    pub fn options(&self, source: &dyn Source, diagnosis: Option<&Diagnosis>) -> JudgeOptions<'j> {
        let own = diagnosis.map(own_files).unwrap_or_default();
        // Dependencies may change where a package is missing or the cause is unknown, since the fix may need one
        // then.
        let may_change = diagnosis.is_none_or(|diagnosis| {
            let kinds = [FailureKind::DependencyError, FailureKind::CommandNotFound];
            !diagnosis.missing_modules.is_empty() || kinds.contains(&diagnosis.kind)
        });
        JudgeOptions {
            after: After::Reported,
            tests: TestChanges::Refused,
            dependencies: if may_change { Dependencies::Registry } else { Dependencies::Kept },
            run: CommandFiles::find(self.lines, self.prefix, source).with_evidence(own),
            allowed: self.allowed.clone(),
            ..JudgeOptions::default()
        }
    }

    /// Checks whether a patch may be made in answer to a failure.
    pub(super) fn allows(&self, source: &dyn Source, diagnosis: &Diagnosis, patch: &[u8]) -> bool {
        let judged = judge(patch, source, &self.options(source, Some(diagnosis)));
        judged.verdict.verdict.applies()
    }
}

/// Returns the files in which the failure itself lies. A failing expectation lies in the code under test, wherever
/// its words are.
pub fn own_files(diagnosis: &Diagnosis) -> Vec<String> {
    let lies_there = lies_where_it_shows(diagnosis.kind);
    let files = diagnosis.files.iter().filter(|file| lies_there && file.in_repository);
    files.map(|file| file.path.clone()).collect()
}

/// Checks whether a failure of this kind lies in the file that it names.
pub fn lies_where_it_shows(kind: FailureKind) -> bool {
    use FailureKind::{Crash, DbError, FileNotFound};
    kind.is_in_code() || matches!(kind, DbError | FileNotFound | Crash)
}
