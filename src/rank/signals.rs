use std::collections::{HashMap, HashSet};

use super::query::{Query, Term};
use super::scan::FileTerms;
use crate::model::RepoPath;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// BM25 of the files against a part of the query; `weight` says how often that part holds a term.
pub(super) fn bm25(query: &Query, files: &[FileTerms], weight: fn(&Term) -> u32) -> Scores {
    let weights = query.terms.iter().map(|term| f64::from(weight(term)));
    bm25_by(&weights.collect::<Vec<_>>(), &rarities(query, files), files)
}

/// The same by how much each term is asked for, and how rare it is.
pub(super) fn bm25_by(weights: &[f64], rarity: &[f64], files: &[FileTerms]) -> Scores {
    let total: f64 = files.iter().map(|file| f64::from(file.length)).sum();
    let average = if files.is_empty() {
        1.0
    } else {
        (total / files.len() as f64).max(1.0)
    };
    files
        .iter()
        .map(|file| {
            let norm = K1 * (1.0 - B + B * f64::from(file.length) / average);
            file.counts
                .iter()
                .filter_map(|(number, count)| {
                    let weight = weights.get(*number as usize).filter(|it| **it > 0.0)?;
                    let often = f64::from(*count) * (K1 + 1.0) / (f64::from(*count) + norm);
                    Some(rarity[*number as usize] * often * log2_1p(*weight))
                })
                .sum()
        })
        .collect()
}

/// The rarity of each term: log2(1 + (N - n + 0.5) / (n + 0.5)) for n of N files.
pub(super) fn rarities(query: &Query, files: &[FileTerms]) -> Vec<f64> {
    let mut holders = vec![0_u32; query.terms.len()];
    for (number, _) in files.iter().flat_map(|file| &file.counts) {
        holders[*number as usize] += 1;
    }
    let all = files.len() as f64;
    holders
        .into_iter()
        .map(|count| {
            let count = f64::from(count);
            log2_1p((all - count + 0.5) / (count + 0.5))
        })
        .collect()
}

/// One signal's scores, by the number of the file in the pool; 0 says nothing.
pub(super) type Scores = Vec<f64>;

/// log2(1 + x) for x >= 0, by arithmetic that every machine rounds alike: the exponent exactly,
/// the fraction by a line between powers of two.
pub(super) fn log2_1p(x: f64) -> f64 {
    let mut value = 1.0 + x;
    let mut whole = 0.0;
    while value >= 2.0 {
        value *= 0.5;
        whole += 1.0;
    }
    whole + (value - 1.0)
}

/// 2^-x for x >= 0, in the same way.
fn exp2_minus(x: f64) -> f64 {
    let mut left = x.min(60.0);
    let mut value = 1.0;
    while left >= 1.0 {
        value *= 0.5;
        left -= 1.0;
    }
    value * (1.0 - left * 0.5)
}

/// Files that define what a part of the query names; a name that many files define counts little.
pub(super) fn defines(query: &Query, files: &[FileTerms], weight: fn(&Term) -> u32) -> Scores {
    let mut definers = vec![0_u32; query.terms.len()];
    for number in files.iter().flat_map(|file| &file.defines) {
        definers[*number as usize] += 1;
    }
    files
        .iter()
        .map(|file| {
            file.defines
                .iter()
                .filter_map(|number| {
                    let term = query.terms.get(*number as usize)?;
                    let often = weight(term);
                    (often > 0 && term.whole).then(|| {
                        let few = f64::from(definers[*number as usize]);
                        log2_1p(f64::from(often)) / (few * few.sqrt())
                    })
                })
                .sum()
        })
        .collect()
}

/// Files that use what the targets define: those that a change of the targets touches.
pub(super) fn uses(query: &Query, files: &[FileTerms], rarity: &[f64]) -> Scores {
    files
        .iter()
        .map(|file| {
            file.counts
                .iter()
                .filter(|(number, _)| {
                    let term = query.terms.get(*number as usize);
                    term.is_some_and(|term| term.target_defines && term.whole)
                })
                .map(|(number, count)| rarity[*number as usize] * log2_1p(f64::from(*count)))
                .sum()
        })
        .collect()
}

/// Nearness in the import graph: 1 / hops, for files that a target reaches.
pub(super) fn nearness(pool: &[RepoPath], hops: &[(RepoPath, u32)]) -> Scores {
    let by_path: HashMap<&RepoPath, u32> = hops.iter().map(|(path, hops)| (path, *hops)).collect();
    pool.iter()
        .map(|path| match by_path.get(path) {
            Some(0) | None => 0.0,
            Some(hops) => 1.0 / f64::from(*hops),
        })
        .collect()
}

/// Scores that are given.
pub(super) fn given(pool: &[RepoPath], scores: &[(RepoPath, f64)]) -> Scores {
    let by_path: HashMap<&RepoPath, f64> = scores.iter().map(|(path, it)| (path, *it)).collect();
    let of = |path| by_path.get(path).copied().unwrap_or(0.0);
    pool.iter().map(of).collect()
}

/// The files of the change under test, all alike: what was just touched is suspected first.
pub(super) fn changed(pool: &[RepoPath], changed: &[RepoPath]) -> Scores {
    let changed: HashSet<&RepoPath> = changed.iter().collect();
    pool.iter()
        .map(|path| if changed.contains(path) { 1.0 } else { 0.0 })
        .collect()
}

/// Files beside the best ones, which stand in order: half for each step between the directories.
pub(super) fn vicinity(pool: &[RepoPath], best: &[RepoPath]) -> Scores {
    let places: Vec<Vec<&str>> = best.iter().map(parts).collect();
    pool.iter()
        .map(|path| {
            let own = parts(path);
            let near = places.iter().zip(1_u32..).map(|(place, rank)| {
                let shared = own.iter().zip(place).take_while(|(a, b)| a == b).count();
                let steps = own.len() + place.len() - 2 * shared;
                exp2_minus(steps as f64) / f64::from(rank)
            });
            near.sum()
        })
        .collect()
}

fn parts(path: &RepoPath) -> Vec<&str> {
    let directory = path.directory().split('/');
    directory.filter(|part| !part.is_empty()).collect()
}

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
            let age = now.saturating_sub(commit.time).max(0) as f64 / TWO_YEARS;
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
    use super::{Commit, cochange, exp2_minus, log2_1p, vicinity};
    use crate::model::RepoPath;

    #[test]
    fn powers_of_two_are_exact_and_between_them_it_rises() {
        let bits = |values: [f64; 3]| values.map(f64::to_bits);
        assert_eq!(bits([0.0, 1.0, 7.0].map(log2_1p)), bits([0.0, 1.0, 3.0]));
        assert!(log2_1p(4.0) > 2.0 && log2_1p(4.0) < 3.0);
        assert_eq!(
            bits([0.0, 1.0, 3.0].map(exp2_minus)),
            bits([1.0, 0.5, 0.125])
        );
        assert!(exp2_minus(1.5) < 0.5 && exp2_minus(1.5) > 0.25);
        assert!(exp2_minus(1e300) >= 0.0);
    }

    #[test]
    fn the_same_directory_is_nearest() {
        let path = |text| RepoPath::new(text).unwrap();
        let pool = ["a/b/x.py", "a/y.py", "c/z.py", "a/b/best.py"].map(path);
        let scores = vicinity(&pool, &[path("a/b/best.py")]);
        assert!(scores[0] > scores[1] && scores[1] > scores[2], "{scores:?}");
        assert!(scores[3] <= scores[0], "{scores:?}");
    }

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
