use std::collections::HashMap;

use super::score::{Scores, exp2_minus};
use crate::model::RepoPath;

/// One commit of history: when, and what it changed against its first parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Seconds since 1970 of the committer's date.
    pub time: i64,
    /// Files it added, modified or removed.
    pub paths: Vec<RepoPath>,
}

/// Commits above this size say nothing about what belongs together.
const MAX_PATHS: usize = 40;
const TWO_YEARS: f64 = 2.0 * 365.25 * 86_400.0;

/// Files that changed together with the targets; small and recent commits weigh more.
pub(super) fn cochange(pool: &[RepoPath], targets: &[RepoPath], commits: &[Commit]) -> Scores {
    weigh(pool, commits, |commit| {
        let shared = commit
            .paths
            .iter()
            .filter(|path| targets.contains(path))
            .count();
        let others = commit.paths.len() - shared;
        if shared == 0 || others == 0 || commit.paths.len() > MAX_PATHS {
            return 0.0;
        }
        (shared as f64).sqrt() / (others as f64).sqrt()
    })
}

/// Files that change at all, above all lately.
pub(super) fn recency(pool: &[RepoPath], commits: &[Commit]) -> Scores {
    weigh(pool, commits, |commit| {
        if commit.paths.len() > MAX_PATHS {
            0.0
        } else {
            1.0
        }
    })
}

fn weigh(pool: &[RepoPath], commits: &[Commit], weight: impl Fn(&Commit) -> f64) -> Scores {
    let numbers: HashMap<&RepoPath, usize> = pool.iter().zip(0..).collect();
    let mut scores = vec![0.0; pool.len()];
    let now = commits.iter().map(|commit| commit.time).max().unwrap_or(0);
    for commit in commits {
        let weight = weight(commit);
        if weight > 0.0 {
            let age = (now - commit.time).max(0) as f64 / TWO_YEARS;
            let weight = weight * exp2_minus(age);
            for number in commit.paths.iter().filter_map(|path| numbers.get(path)) {
                scores[*number] += weight;
            }
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::{Commit, cochange};
    use crate::model::RepoPath;

    #[test]
    fn small_and_recent_commits_weigh_more() {
        let path = |text: &str| RepoPath::new(text).unwrap();
        let commit = |time, paths: &[&str]| Commit {
            time,
            paths: paths.iter().map(|text| path(text)).collect(),
        };
        let year = 31_557_600;
        let commits = [
            commit(10 * year, &["t.py", "a.py"]),
            commit(2 * year, &["t.py", "b.py"]),
            commit(10 * year, &["t.py", "c.py", "x", "y", "z"]),
            commit(10 * year, &["d.py", "x"]),
        ];
        let pool = ["a.py", "b.py", "c.py", "d.py"].map(path);
        let scores = cochange(&pool, &[path("t.py")], &commits);
        assert!(scores[0] > scores[2] && scores[2] > scores[1] && scores[1] > 0.0);
        assert!(scores[3] <= 0.0);
    }
}
