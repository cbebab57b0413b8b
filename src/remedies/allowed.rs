use crate::model::{Diagnosis, FailureKind, TestChanges};
use crate::patch::{After, JudgeOptions, Objects, judge};
use crate::policy::{Allowed, CommandFiles, Dependencies};
use crate::source::Source;

/// What a change that answers a failure is judged by.
#[derive(Clone, Copy)]
pub struct Judging<'j> {
    /// The commands that fail, with what sets them up.
    pub lines: &'j [String],
    /// The directory they run in.
    pub prefix: &'j str,
    /// What may change all the same.
    pub allowed: &'j Allowed,
    /// What the blobs of a patch are looked up in.
    pub objects: Option<&'j dyn Objects>,
}

impl<'j> Judging<'j> {
    /// The options for an answer to a failure; without one, for a change that nobody asked for.
    #[must_use]
    pub fn options(&self, source: &dyn Source, diagnosis: Option<&Diagnosis>) -> JudgeOptions<'j> {
        let own = diagnosis.map(own_files).unwrap_or_default();
        JudgeOptions {
            after: After::Reported,
            tests: TestChanges::Refused,
            dependencies: dependencies(diagnosis),
            run: CommandFiles::find(self.lines, self.prefix, source).with_evidence(own),
            allowed: self.allowed.clone(),
            objects: self.objects,
            ..JudgeOptions::default()
        }
    }

    /// Whether a patch may be made in answer to a failure.
    pub(super) fn allows(&self, source: &dyn Source, diagnosis: &Diagnosis, patch: &[u8]) -> bool {
        let judged = judge(patch, source, &self.options(source, Some(diagnosis)));
        judged.verdict.verdict.applies()
    }
}

// Whether a patch for this failure may change dependencies: a package is missing, or nobody knows.
fn dependencies(diagnosis: Option<&Diagnosis>) -> Dependencies {
    let is_asked = diagnosis.is_none_or(|diagnosis| {
        !diagnosis.missing_modules.is_empty()
            || matches!(
                diagnosis.kind,
                FailureKind::DependencyError | FailureKind::CommandNotFound
            )
    });
    if is_asked {
        Dependencies::Registry
    } else {
        Dependencies::Kept
    }
}

/// The files in which the failure itself lies. A failing expectation lies in the code under test,
/// wherever its words stand.
#[must_use]
pub fn own_files(diagnosis: &Diagnosis) -> Vec<String> {
    let files = diagnosis.files.iter();
    files
        .filter(|file| lies_where_it_shows(diagnosis.kind) && file.in_repository)
        .map(|file| file.path.clone())
        .collect()
}

/// Whether a failure of this kind lies in the file that it names: one cannot be loaded, or uses what
/// is not there.
#[must_use]
pub fn lies_where_it_shows(kind: FailureKind) -> bool {
    kind.is_in_code()
        || matches!(
            kind,
            FailureKind::DbError | FailureKind::FileNotFound | FailureKind::Crash
        )
}
