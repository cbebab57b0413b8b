use super::change::ChangeRules;
use super::changed_file::ChangedFile;
use super::{meddling, shadow};
use crate::model::PatchProblem;

/// Judges what all changes of a patch mean together. Each problem comes with the place of its file
/// in `files`.
#[must_use]
pub fn judge_together(
    files: &[ChangedFile<'_>],
    rules: &ChangeRules<'_>,
) -> Vec<(usize, PatchProblem)> {
    let mut found = meddling::added(files, rules);
    found.extend(shadow::shadows(files, rules));
    found.retain(|(at, _)| {
        files
            .get(*at)
            .is_some_and(|file| !rules.allowed.has(file.path))
    });
    found
}
