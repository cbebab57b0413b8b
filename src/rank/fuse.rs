use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::bm25::{bm25, rarities};
use super::change::changed;
use super::cochange::{Commit, cochange, recency};
use super::hops::nearness;
use super::name::name_similarity;
use super::pool::Pool;
use super::query::Query;
use super::scan::{FileTerms, scan};
use super::score::Scores;
use super::symbols::{defines, uses};
use super::weights::{Signal, WEIGHTS};
use crate::model::RepoPath;
use crate::source::Source;

/// What a ranking rests on, beside the files themselves.
pub struct RankInput<'a> {
    /// The cleaned log; empty when there is none.
    pub log: &'a str,
    /// The files the failure is about; they are not ranked.
    pub targets: &'a [RepoPath],
    /// Imports between a target and each file that one reaches.
    pub hops: &'a [(RepoPath, u32)],
    /// History, newest first; empty when there is none.
    pub commits: &'a [Commit],
    /// Files of the change under test; empty when none is known.
    pub changed: &'a [RepoPath],
    /// Whether a file may be read at all.
    pub may_read: &'a (dyn Fn(&RepoPath) -> bool + Sync),
}

/// A ranked file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranked {
    /// Where it is.
    pub path: RepoPath,
    /// The fused score.
    pub score: u64,
    /// What each signal gave, by name.
    pub scores: BTreeMap<String, u64>,
    /// The strongest signals in words.
    pub why: String,
}

/// Reciprocal-rank fusion: a signal's best file gets `weight * SCALE / (K + 1)`, the next one
/// `/ (K + 2)`, and so on.
const K: u64 = 6;
const SCALE: u64 = 100_000;

/// Files above this size are generated or data; their words would drown the others.
const MAX_BYTES: u64 = 1_000_000;

/// Ranks every source file that a repair may have to change, best first, ties by path.
#[must_use]
pub fn rank(source: &dyn Source, input: &RankInput<'_>) -> Vec<Ranked> {
    let candidates = Pool::of(input.targets);
    let pool: Vec<RepoPath> = source
        .listing()
        .files()
        .filter(|entry| entry.bytes <= MAX_BYTES && candidates.holds(&entry.path))
        .map(|entry| entry.path.clone())
        .filter(|path| !input.targets.contains(path) && (input.may_read)(path))
        .collect();
    let target_bytes: Vec<Arc<[u8]>> = input
        .targets
        .iter()
        .filter(|path| (input.may_read)(path))
        .filter_map(|path| source.read(path).ok())
        .collect();
    let target_texts: Vec<&[u8]> = target_bytes.iter().map(AsRef::as_ref).collect();
    let query = Query::new(input.log.as_bytes(), &target_texts);
    let files: Vec<FileTerms> = pool
        .par_iter()
        .map(|path| match source.read(path) {
            Ok(bytes) => scan(&query, path, &bytes),
            Err(_) => FileTerms::default(),
        })
        .collect();
    let rarity = rarities(&query, &files);
    let first = |signal| match signal {
        Signal::LogTerms => bm25(&query, &files, |term| term.in_log),
        Signal::LogDefinitions => defines(&query, &files, |term| term.in_log),
        Signal::TargetTerms => bm25(&query, &files, |term| term.in_targets),
        Signal::TargetDefinitions => defines(&query, &files, |term| term.in_targets),
        Signal::TargetUses => uses(&query, &files, &rarity),
        Signal::Name => name_similarity(&pool, input.targets),
        Signal::CoChange => cochange(&pool, input.targets, input.commits),
        Signal::Recency => recency(&pool, input.commits),
        Signal::Change => changed(&pool, input.changed),
        Signal::Hops => nearness(&pool, input.hops),
        Signal::NearCoChange => vec![0.0; pool.len()],
    };
    let mut signals =
        WEIGHTS.map(|(signal, weight)| (signal, weight, places(&pool, &first(signal))));
    // A fix of several files touches neighbours of the files found first, more than of the targets.
    let best: Vec<RepoPath> = order(&pool, &signals)
        .into_iter()
        .take(BEST)
        .map(|it| it.path)
        .collect();
    for (signal, _, places_of) in &mut signals {
        if *signal == Signal::NearCoChange {
            *places_of = places(&pool, &cochange(&pool, &best, input.commits));
        }
    }
    order(&pool, &signals)
}

/// Files of the first fusion whose neighbours are looked at.
const BEST: usize = 5;

type Places = (Signal, u64, Vec<u64>);

fn order(pool: &[RepoPath], signals: &[Places]) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = pool
        .iter()
        .enumerate()
        .map(|(number, path)| fused(path, number, signals))
        .collect();
    ranked.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    ranked
}

// Each file's 1-based place in one signal; equal scores share the place, 0 means none.
fn places(pool: &[RepoPath], scores: &Scores) -> Vec<u64> {
    let mut order: Vec<usize> = (0..pool.len()).filter(|at| scores[*at] > 0.0).collect();
    order.sort_by(|a, b| {
        scores[*b]
            .total_cmp(&scores[*a])
            .then_with(|| pool[*a].cmp(&pool[*b]))
    });
    let mut places = vec![0; pool.len()];
    let mut last = (f64::INFINITY, 0);
    for (place, number) in (1..).zip(order) {
        if scores[number] < last.0 {
            last = (scores[number], place);
        }
        places[number] = last.1;
    }
    places
}

fn fused(path: &RepoPath, number: usize, signals: &[Places]) -> Ranked {
    let mut parts: Vec<(Signal, u64)> = signals
        .iter()
        .filter(|(_, _, places)| places[number] > 0)
        .map(|(signal, weight, places)| (*signal, weight * SCALE / (K + places[number])))
        .collect();
    let score = parts.iter().map(|(_, part)| part).sum();
    let scores = parts
        .iter()
        .map(|(signal, part)| (signal.as_str().to_owned(), *part))
        .collect();
    parts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let reasons: Vec<&str> = parts
        .iter()
        .take(2)
        .map(|(signal, _)| signal.reason())
        .collect();
    Ranked {
        path: path.clone(),
        score,
        scores,
        why: if reasons.is_empty() {
            "nothing speaks for it but being source code".to_owned()
        } else {
            reasons.join("; ")
        },
    }
}
