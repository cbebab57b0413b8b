use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::name::name_similarity;
use super::pool::{Pool, ProjectPart};
use super::query::Query;
use super::scan::{FileTerms, add_path, scan};
use super::signals::{
    Commit, Scores, bm25, changed, cochange, defines, given, nearness, rarities, recency, uses,
    vicinity,
};
use super::weights::{Signal, WEIGHTS, Weight};
use crate::model::RepoPath;
use crate::source::Source;
use crate::state::Store;

/// What a ranking rests on, beside the files themselves.
pub struct RankInput<'a> {
    /// The cleaned log; empty when there is none.
    pub log: &'a str,
    /// The files the failure is about; they are not ranked.
    pub targets: &'a [RepoPath],
    /// What of a target asks, where that is known: the bodies of its failing tests.
    pub asking: &'a [(RepoPath, Vec<u8>)],
    /// Imports between a target and each file that one reaches.
    pub hops: &'a [(RepoPath, u32)],
    /// History, newest first; empty when there is none.
    pub commits: &'a [Commit],
    /// Files of the change under test; empty when none is known.
    pub changed: &'a [RepoPath],
    /// Files that failing tests run, with how much of that is theirs alone; empty where it was not seen.
    pub ran: &'a [(RepoPath, f64)],
    /// The words of files, as far as they are known.
    pub words: &'a Store,
    /// Whether a file may be read at all.
    pub may_read: &'a (dyn Fn(&RepoPath) -> bool + Sync),
}

/// A ranked file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranked {
    /// Where it is.
    pub path: RepoPath,
    /// The fused score; after the first ten files the weights may change, and with them the scale.
    pub score: u64,
    /// What each signal gave, by name.
    pub scores: BTreeMap<String, u64>,
    /// The strongest signals in words.
    pub why: String,
    /// 1-based lines that the question itself points at.
    pub lines: Vec<u32>,
}

/// Reciprocal-rank fusion: a signal's best file gets `weight * SCALE / (K + 1)`, the next one
/// `/ (K + 2)`, and so on.
const K: u64 = 6;
const SCALE: u64 = 100_000;

/// Files above this size are generated or data; their words would drown the others.
pub(super) const MAX_BYTES: u64 = 1_000_000;

/// Ranks every source file that a repair may have to change, best first, ties by path.
#[must_use]
pub fn rank(source: &dyn Source, input: &RankInput<'_>) -> Vec<Ranked> {
    let candidates = Pool::new(input.targets, source.listing());
    let (pool, apart): (Vec<RepoPath>, Vec<bool>) = source
        .listing()
        .files()
        .filter(|entry| entry.bytes <= MAX_BYTES)
        .filter_map(|entry| Some((entry.path.clone(), candidates.standing(&entry.path)?)))
        .filter(|(path, _)| !input.targets.contains(path) && (input.may_read)(path))
        .map(|(path, standing)| (path, standing == ProjectPart::SetApart))
        .unzip();
    let target_bytes = target_bytes(source, input);
    let target_texts: Vec<&[u8]> = target_bytes.iter().map(AsRef::as_ref).collect();
    let query = Query::new(input.log.as_bytes(), &target_texts);
    let files: Vec<FileTerms> = pool
        .par_iter()
        .map(|path| {
            let mut terms = scan(&query, source, path, input.words);
            add_path(&mut terms, &query, path);
            terms
        })
        .collect();
    let rarity = rarities(&query, &files);
    tracing::debug!(candidates = pool.len(), "ranking files for a log");
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
        Signal::Trace => given(&pool, input.ran),
        Signal::NearCoChange | Signal::Vicinity => vec![0.0; pool.len()],
    };
    let mut signals: Vec<Places> = WEIGHTS
        .iter()
        .map(|weight| (*weight, places(&pool, &apart, &first(weight.signal))))
        .collect();
    let source_is_target = input
        .targets
        .iter()
        .any(|target| candidates.standing(target).is_some());
    let column: fn(&Weight) -> u64 = if source_is_target { further } else { leading };
    // A fix of several files touches neighbours of the files found first, more than of the targets.
    let look_around = |signals: &mut Vec<Places>, best: &[Ranked]| {
        let best = best.iter().filter(|it| it.score > 0);
        let best: Vec<RepoPath> = best.map(|it| it.path.clone()).collect();
        for (weight, places_of) in signals {
            let scores = match weight.signal {
                Signal::NearCoChange => cochange(&pool, &best, input.commits),
                Signal::Vicinity if input.commits.len() < FEW_COMMITS => vicinity(&pool, &best),
                _ => continue,
            };
            *places_of = places(&pool, &apart, &scores);
        }
    };
    let mut ranked = order(&pool, &apart, &signals, column);
    ranked.truncate(BEST);
    look_around(&mut signals, &ranked);
    ranked = order(&pool, &apart, &signals, column);
    if !source_is_target {
        ranked.truncate(FIRST);
        look_around(&mut signals, &ranked);
        let first: HashSet<RepoPath> = ranked.iter().map(|it| it.path.clone()).collect();
        let others = order(&pool, &apart, &signals, further);
        ranked.extend(others.into_iter().filter(|it| !first.contains(&it.path)));
    }
    ranked
}

// What of the targets asks.
fn target_bytes(source: &dyn Source, input: &RankInput<'_>) -> Vec<Arc<[u8]>> {
    let targets = input.targets.iter().filter(|path| (input.may_read)(path));
    let bytes = targets.filter_map(|path| {
        let body = input.asking.iter().find(|(of, _)| of == path);
        body.map_or_else(
            || source.read(path).ok(),
            |(_, body)| Some(body.as_slice().into()),
        )
    });
    bytes.collect()
}

/// Files of the first fusion whose neighbours are looked at.
const BEST: usize = 5;
/// Files that stand by the weights of [`Weight::first`].
const FIRST: usize = 10;
/// Fewer commits than this say nothing of what changes together: a shallow clone.
const FEW_COMMITS: usize = 20;

type Places = (Weight, Vec<u64>);

fn leading(weight: &Weight) -> u64 {
    weight.first
}

fn further(weight: &Weight) -> u64 {
    weight.further
}

fn order(
    pool: &[RepoPath],
    apart: &[bool],
    signals: &[Places],
    column: fn(&Weight) -> u64,
) -> Vec<Ranked> {
    let (mut beside, mut product) = (Vec::new(), Vec::new());
    for (number, path) in pool.iter().enumerate() {
        let (scale, files) = if apart[number] {
            (SCALE / 2, &mut beside)
        } else {
            (SCALE, &mut product)
        };
        let parts = signals
            .iter()
            .filter(|(_, places)| places[number] > 0)
            .map(|(weight, places)| (weight.signal, column(weight) * scale / (K + places[number])));
        files.push(fused(path, parts.collect()));
    }
    for files in [&mut beside, &mut product] {
        files.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    }
    // A test in a playground or an example mostly fails for the product it shows: its own files
    // weigh half and take one place in four at most.
    let (mut beside, mut product) = (
        beside.into_iter().peekable(),
        product.into_iter().peekable(),
    );
    let mut ranked = Vec::with_capacity(pool.len());
    let mut taken = 0;
    loop {
        let own = match (beside.peek(), product.peek()) {
            (Some(own), Some(other)) => own.score > other.score && 4 * taken <= ranked.len(),
            (own, _) => own.is_some(),
        };
        let next = if own { beside.next() } else { product.next() };
        let Some(next) = next else {
            return ranked;
        };
        taken += usize::from(own);
        ranked.push(next);
    }
}

// Each file's 1-based place in one signal; equal scores share the place, 0 means none. Files set
// apart push nothing of the product back.
fn places(pool: &[RepoPath], apart: &[bool], scores: &Scores) -> Vec<u64> {
    let mut order: Vec<usize> = (0..pool.len()).filter(|at| scores[*at] > 0.0).collect();
    order.sort_by(|a, b| {
        scores[*b]
            .total_cmp(&scores[*a])
            .then_with(|| pool[*a].cmp(&pool[*b]))
    });
    let mut places = vec![0; pool.len()];
    let mut last = (f64::INFINITY, 0);
    let mut place = 1;
    for number in order {
        if scores[number] < last.0 {
            last = (scores[number], place);
        }
        places[number] = last.1;
        place += u64::from(!apart[number]);
    }
    places
}

fn fused(path: &RepoPath, mut parts: Vec<(Signal, u64)>) -> Ranked {
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
        lines: Vec::new(),
    }
}
