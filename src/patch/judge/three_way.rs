//! Merges a git diff into files that have changed since it was made.

use std::sync::Arc;

use super::pipeline::{path_rules, read_directed};
use super::report::Report;
use super::{JudgeOptions, Judged, judge};
use crate::git::Repository;
use crate::model::{
    Code, Mend, Operation, PatchVerdict, Refusal, RepoPath, Safety, Verdict, refuse,
};
use crate::patch::canonical::{canonical, is_binary};
use crate::patch::change::{Change, FileState};
use crate::patch::line_ends::with_ends;
use crate::patch::set::PatchSet;
use crate::patch::targets::resolve_targets;
use crate::source::{Overlay, Source};

/// Validates what a git diff makes of the blobs that it was made for, merged into the files as they are.
///
/// `None` where the repository lacks those blobs or the diff does not fit them either. The checks look at the merged
/// files; a merge with conflicts is refused.
pub fn judge_merged(
    input: &[u8],
    source: &dyn Source,
    repository: &Repository,
    mut options: JudgeOptions<'_>,
) -> Option<Judged> {
    // The files for which index lines name blobs, as they were.
    let find_bases = |set: &PatchSet<'_>| {
        let rules = path_rules(source, &options);
        let targets = resolve_targets(set, &rules, &mut Vec::new(), &mut Vec::new());
        let bases = set.files.iter().zip(targets).filter_map(|(file, target)| {
            let path = RepoPath::new(&target?.old).ok()?;
            let blob = repository.find_blob(file.announced_ids()?.0)?;
            let now = source.read(&path).ok()?;
            let blob = with_ends(&now, &blob).unwrap_or(blob);
            Some((path, Some(blob.into())))
        });
        bases.collect::<Vec<(RepoPath, Option<Arc<[u8]>>)>>()
    };
    let bases = read_directed(input, &options, find_bases).ok()?;
    let base = Overlay::new(source, bases);
    let made = Some(judge(input, &base, &options)).filter(Judged::applies)?;
    // The other side of a rename says the same.
    let changes = made
        .changes
        .into_iter()
        .filter(|change| change.after.is_some() || change.operation != Operation::Rename);
    let merged = changes.map(|change| merge_change(change, source, repository));
    let mut merged = match merged.collect::<Result<Vec<Change>, Refusal>>() {
        Ok(merged) => merged,
        Err(refusal) => return Some(Report::refused(refusal)),
    };
    merged.retain(|change| change.before != change.after || change.from.is_some());
    if merged.is_empty() {
        let verdict = PatchVerdict::new(Verdict::AlreadyApplied, made.verdict.format);
        let changes = merged;
        return Some(Judged {
            verdict,
            changes,
            ..made
        });
    }
    (options.strip, options.reverse) = (Some(1), false);
    options.directory = "".into();
    let mut judged = judge(&canonical(&merged), source, &options);
    if judged.applies() {
        let message = "merged the diff from the blobs that it was made for";
        let mend = Mend::new(Code::M417, Safety::Lossy, 1_u64, message);
        judged.verdict.mends.push(mend);
        judged.verdict.verdict = Verdict::AppliesMended;
    }
    Some(judged)
}

/// Makes a change of the blob into one of the file as it is.
///
/// # Errors
/// A file that cannot be merged, or a merge with conflicts.
pub fn merge_change(
    change: Change,
    source: &dyn Source,
    repository: &Repository,
) -> Result<Change, Refusal> {
    let path = change.from.as_ref().unwrap_or(&change.path);
    let ours = FileState::read(source, path);
    if ours == change.before {
        return Ok(change);
    }
    if let (Some(ours), Some(base), Some(after)) = (&ours, &change.before, &change.after) {
        let sides = [&*ours.bytes, &base.bytes, &after.bytes];
        let is_text = !sides.into_iter().any(is_binary);
        let (text, has_conflicts) = repository.merge_texts(sides, None);
        if is_text && !has_conflicts {
            let after = Some(FileState::new(text, after.mode));
            let before = Some(ours.clone());
            return Ok(Change {
                before,
                after,
                ..change
            });
        }
    }
    let message = format!("the three-way merge has conflicts in `{}`", path.as_str());
    refuse(Code::P401, message)
}
