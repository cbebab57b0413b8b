use crate::model::{Diagnosis, RepoPath};
use crate::policy::is_test;
use crate::source::Memory;
use crate::why::{Difference, Suspect, clues, holds_failing_test, rank};
use crate::workspace::Workspace;

/// The changes that are not committed in product code, as `path:line`, the likeliest first: those that the
/// failing tests reach, else all. None is tried: `mendit why` does that.
pub(super) fn suspects(
    diagnosis: &Diagnosis,
    workspace: &Workspace,
    is_output: &dyn Fn(&RepoPath) -> bool,
) -> Vec<String> {
    let source = workspace.source.as_ref();
    let Some(git) = &workspace.git else {
        return Vec::new();
    };
    let clues = clues(Some(diagnosis), source);
    let other = |paths: &mut dyn Iterator<Item = &RepoPath>| {
        let product =
            paths.filter(|path| !is_test(path.as_str()) && !holds_failing_test(path, diagnosis));
        let files: Vec<_> = product
            .map(|path| (path.clone(), source.blob_id(path)))
            .collect();
        git.other_at_head(&files)
    };
    let mut changed = other(&mut clues.reach.keys());
    if changed.is_empty() {
        changed = other(&mut source.listing().files().map(|it| &it.path));
    }
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (path, content) in changed {
        if is_output(&path) {
            continue;
        }
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
