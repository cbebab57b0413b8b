use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::edges::{FileEdges, Graph};
use crate::model::{FileFacts, ParseProblem, RepoPath, UnresolvedImport};
use crate::source::Source;

/// The files reachable from some targets by a number of imports.
#[derive(Debug, Clone, Default)]
pub struct Closure {
    /// Sorted by hops, then path. The targets stand at 0 hops.
    pub nodes: Vec<ClosureNode>,
    /// Imports of expanded files that lead nowhere, sorted.
    pub unresolved: Vec<UnresolvedImport>,
    /// What could not be read of the expanded files, sorted by path.
    pub problems: Vec<(RepoPath, ParseProblem)>,
}

/// One file of a closure.
#[derive(Debug, Clone)]
pub struct ClosureNode {
    /// The file.
    pub path: RepoPath,
    /// How many imports away from the nearest target; 0 for a target.
    pub hops: u32,
    /// The files between a target and this one, both excluded: the shortest chain, of equals the
    /// smallest.
    pub via: Vec<RepoPath>,
    /// Rank of discovery: by hops, inside a hop in the import order of the importers.
    pub order: u32,
    /// What the file says; `None` for the outermost files, which are not read.
    pub facts: Option<Arc<FileFacts>>,
}

/// The closure of `targets` over `max_hops` imports. Only files inside `max_hops - 1` are read.
///
/// The result is the same for any number of threads and any order of targets with the same set.
#[must_use]
pub fn closure(source: &dyn Source, targets: &[RepoPath], max_hops: u32) -> Closure {
    Graph::new(source).closure(targets, max_hops)
}

impl Graph<'_> {
    /// See [`closure`].
    #[must_use]
    pub fn closure(&self, targets: &[RepoPath], max_hops: u32) -> Closure {
        let mut targets = targets.to_vec();
        targets.sort();
        targets.dedup();
        let mut found = Closure::default();
        let mut seen: HashSet<RepoPath> = targets.iter().cloned().collect();
        // Each entry carries its chain, target first.
        let mut wave: Vec<Vec<RepoPath>> = targets.into_iter().map(|path| vec![path]).collect();
        let mut order = 0;
        for hops in 0..=max_hops {
            let expand = hops < max_hops;
            let edges: Vec<Option<FileEdges>> = wave
                .par_iter()
                .map(|chain| chain.last().filter(|_| expand).map(|path| self.file(path)))
                .collect();
            let mut next: Vec<Vec<RepoPath>> = Vec::new();
            let mut places: HashMap<RepoPath, usize> = HashMap::new();
            for (chain, edges) in wave.into_iter().zip(edges) {
                let Some(path) = chain.last() else { continue };
                if let Some(edges) = &edges {
                    found.unresolved.extend(unresolved(edges));
                    let problems = edges.facts.problems.iter().cloned();
                    found
                        .problems
                        .extend(problems.map(|problem| (path.clone(), problem)));
                    for target in edges.targets() {
                        extend(&mut next, &mut places, &mut seen, &chain, target);
                    }
                }
                found.nodes.push(ClosureNode {
                    path: path.clone(),
                    hops,
                    via: between(&chain),
                    order,
                    facts: edges.map(|edges| edges.facts),
                });
                order += 1;
            }
            if next.is_empty() {
                break;
            }
            wave = next;
        }
        found
            .nodes
            .sort_by(|a, b| (a.hops, &a.path).cmp(&(b.hops, &b.path)));
        found.unresolved.sort();
        found.unresolved.dedup();
        found
            .problems
            .sort_by(|a, b| (&a.0, a.1.line).cmp(&(&b.0, b.1.line)));
        found
    }
}

// The place in the wave is the first importer's; the chain is the smallest of all importers'.
fn extend(
    next: &mut Vec<Vec<RepoPath>>,
    places: &mut HashMap<RepoPath, usize>,
    seen: &mut HashSet<RepoPath>,
    chain: &[RepoPath],
    target: RepoPath,
) {
    if let Some(known) = places.get(&target).and_then(|place| next.get_mut(*place)) {
        let end = known.len().saturating_sub(1);
        if known.get(..end).is_some_and(|above| chain < above) {
            *known = chain.iter().cloned().chain([target]).collect();
        }
    } else if seen.insert(target.clone()) {
        places.insert(target.clone(), next.len());
        next.push(chain.iter().cloned().chain([target]).collect());
    }
}

fn between(chain: &[RepoPath]) -> Vec<RepoPath> {
    let end = chain.len().saturating_sub(1);
    chain.get(1..end).unwrap_or_default().to_vec()
}

/// The imports of a file that lead nowhere.
pub(super) fn unresolved(edges: &FileEdges) -> impl Iterator<Item = UnresolvedImport> {
    edges
        .facts
        .imports
        .iter()
        .zip(&edges.resolutions)
        .filter(|(_, resolution)| resolution.is_unresolved())
        .map(|(import, resolution)| UnresolvedImport {
            path: edges.path.clone(),
            line: import.line,
            specifier: import.specifier.clone(),
            tried: resolution.tried.clone(),
        })
}
