use std::collections::HashMap;

use super::score::Scores;
use crate::model::RepoPath;

/// Nearness in the import graph: 1 / hops, for files that a target reaches.
pub(super) fn nearness(pool: &[RepoPath], hops: &[(RepoPath, u32)]) -> Scores {
    let known: HashMap<&RepoPath, u32> = hops.iter().map(|(path, hops)| (path, *hops)).collect();
    pool.iter()
        .map(|path| match known.get(path) {
            Some(0) | None => 0.0,
            Some(hops) => 1.0 / f64::from(*hops),
        })
        .collect()
}
