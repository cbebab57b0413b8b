use super::why::is_product;
use super::why_clues::clues;
use crate::model::{Diagnosis, RepoPath};
use crate::source::Memory;
use crate::why::{Difference, Suspect, rank};
use crate::workspace::Workspace;

/// The changes that are not committed in product code that the failing tests reach, as `path:line`, the
/// likeliest first. None is tried: `mendit why` does that.
pub(super) fn suspects(diagnosis: &Diagnosis, workspace: &Workspace) -> Vec<String> {
    let source = workspace.source.as_ref();
    let Some(git) = workspace
        .git
        .as_ref()
        .filter(|_| !diagnosis.tests.is_empty())
    else {
        return Vec::new();
    };
    let clues = clues(Some(diagnosis), source);
    let reached: Vec<(RepoPath, _)> = clues
        .reach
        .keys()
        .filter(|path| is_product(path, Some(diagnosis)))
        .map(|path| (path.clone(), source.blob_id(path)))
        .collect();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (path, content) in git.other_at_head(&reached) {
        if let Ok(now) = source.read(&path) {
            after.push((path.clone(), now.to_vec()));
            before.extend(content.map(|content| (path, content)));
        }
    }
    let (before, after) = (Memory::new(before), Memory::new(after));
    let difference = Difference::between(&before, &after, &|_| true);
    let ranked = rank(&difference, &clues).into_iter();
    let place = |it: Suspect| difference.hunks().get(it.hunk).map(crate::why::Hunk::place);
    ranked.filter_map(place).collect()
}
