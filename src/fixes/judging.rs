//! Validates a fix by the rules for mendit's own changes. They are stricter than for users, because
//! nobody reviews them first.

use crate::model::{Diagnosis, FailureKind, TestChanges};
use crate::patch::{After, JudgeOptions, judge};
use crate::policy::{Allowed, CommandFiles, Dependencies};
use crate::source::Source;

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
    #[must_use]
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
            dependencies: if may_change {
                Dependencies::Registry
            } else {
                Dependencies::Kept
            },
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
#[must_use]
pub fn own_files(diagnosis: &Diagnosis) -> Vec<String> {
    let files = diagnosis.files.iter();
    files
        .filter(|file| lies_where_it_shows(diagnosis.kind) && file.in_repository)
        .map(|file| file.path.clone())
        .collect()
}

/// Checks whether a failure of this kind lies in the file that it names.
#[must_use]
pub fn lies_where_it_shows(kind: FailureKind) -> bool {
    let others = [
        FailureKind::DbError,
        FailureKind::FileNotFound,
        FailureKind::Crash,
    ];
    kind.is_in_code() || others.contains(&kind)
}
