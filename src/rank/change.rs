use std::collections::HashSet;

use super::score::Scores;
use crate::model::RepoPath;

/// The files of the change under test, all alike: what was just touched is suspected first.
pub(super) fn changed(pool: &[RepoPath], changed: &[RepoPath]) -> Scores {
    let changed: HashSet<&RepoPath> = changed.iter().collect();
    pool.iter()
        .map(|path| if changed.contains(path) { 1.0 } else { 0.0 })
        .collect()
}
