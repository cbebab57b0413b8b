use crate::model::{Diagnosis, FailureKind};
use crate::policy::Dependencies;

/// Whether a patch for this failure may change dependencies: a package is missing, or nobody knows.
pub(super) fn dependencies(diagnosis: Option<&Diagnosis>) -> Dependencies {
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
pub(super) fn own_files(diagnosis: &Diagnosis) -> Vec<String> {
    let files = diagnosis.files.iter();
    files
        .filter(|file| lies_where_it_shows(diagnosis.kind) && file.in_repository)
        .map(|file| file.path.clone())
        .collect()
}

/// Whether a failure of this kind lies in the file that it names: one cannot be loaded, or uses what
/// is not there.
pub(super) fn lies_where_it_shows(kind: FailureKind) -> bool {
    kind.is_in_code()
        || matches!(
            kind,
            FailureKind::DbError | FailureKind::FileNotFound | FailureKind::Crash
        )
}
