use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use crate::model::RepoPath;

/// One file reached, with what expanding it gave.
pub(super) struct Reached<T> {
    pub(super) path: RepoPath,
    pub(super) hops: u32,
    /// The files between a start and this one, both excluded.
    pub(super) via: Vec<RepoPath>,
    /// Rank of discovery.
    pub(super) order: u32,
    /// `None` for the outermost files, which are not expanded.
    pub(super) given: Option<T>,
}

/// Breadth first from `starts`, wave by wave, each wave in parallel. Sorted by hops, then path;
/// the same for any number of threads.
pub(super) fn reach<T: Send>(
    starts: &[RepoPath],
    max_hops: u32,
    expand: impl Fn(&RepoPath) -> (Vec<RepoPath>, T) + Sync,
) -> Vec<Reached<T>> {
    let mut starts = starts.to_vec();
    starts.sort();
    starts.dedup();
    let mut reached = Vec::new();
    let mut seen: HashSet<RepoPath> = starts.iter().cloned().collect();
    // Each entry is a chain, start first.
    let mut wave: Vec<Vec<RepoPath>> = starts.into_iter().map(|path| vec![path]).collect();
    let mut order = 0;
    for hops in 0..=max_hops {
        let given: Vec<Option<(Vec<RepoPath>, T)>> = wave
            .par_iter()
            .map(|chain| chain.last().filter(|_| hops < max_hops).map(&expand))
            .collect();
        let mut next = Next::default();
        for (chain, given) in wave.into_iter().zip(given) {
            let Some(path) = chain.last() else { continue };
            let (targets, given) = given.unzip();
            for target in targets.unwrap_or_default() {
                next.extend(&mut seen, &chain, target);
            }
            reached.push(Reached {
                path: path.clone(),
                hops,
                via: chain.get(1..chain.len() - 1).unwrap_or_default().to_vec(),
                order,
                given,
            });
            order += 1;
        }
        wave = next.chains;
        if wave.is_empty() {
            break;
        }
    }
    reached.sort_by(|a, b| (a.hops, &a.path).cmp(&(b.hops, &b.path)));
    reached
}

#[derive(Default)]
struct Next {
    chains: Vec<Vec<RepoPath>>,
    places: HashMap<RepoPath, usize>,
}

impl Next {
    // The place in the wave is the first importer's; the chain is the smallest of all importers'.
    fn extend(&mut self, seen: &mut HashSet<RepoPath>, chain: &[RepoPath], target: RepoPath) {
        let place = self.places.get(&target).copied();
        if let Some(known) = place.and_then(|place| self.chains.get_mut(place)) {
            let above = known.len().saturating_sub(1);
            if known.get(..above).is_some_and(|above| chain < above) {
                *known = chain.iter().cloned().chain([target]).collect();
            }
        } else if seen.insert(target.clone()) {
            self.places.insert(target.clone(), self.chains.len());
            self.chains
                .push(chain.iter().cloned().chain([target]).collect());
        }
    }
}
