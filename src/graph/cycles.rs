//! Finds import cycles as strongly connected components.

use std::collections::{HashMap, VecDeque};

use super::FileEdges;
use crate::model::{DefinitionKind, FileFacts, Import, ImportKind, RepoPath};

/// One cycle for each knot of files that import each other when they are loaded, sorted.
///
/// A knot is a strongly connected component; its cycle is the shortest through its smallest file,
/// and starts there. Imports that are erased (`import type`) do not count, nor do those that a call makes
/// later, which is how a cycle is taken apart.
pub fn cycles<'e>(files: impl IntoIterator<Item = &'e FileEdges>) -> Vec<Vec<RepoPath>> {
    let files: Vec<&FileEdges> = files.into_iter().collect();
    let index: HashMap<&RepoPath, usize> =
        files.iter().enumerate().map(|(at, file)| (&file.path, at)).collect();
    let next: Vec<Vec<usize>> = files
        .iter()
        .map(|file| {
            let mut targets: Vec<usize> = file
                .facts
                .imports
                .iter()
                .zip(&file.resolutions)
                .filter(|(import, _)| !import.type_only && !is_lazy(import, &file.facts))
                .flat_map(|(_, resolution)| &resolution.files)
                .filter_map(|path| index.get(path).copied())
                .collect();
            targets.sort_unstable();
            targets.dedup();
            targets
        })
        .collect();
    let mut cycles: Vec<Vec<RepoPath>> = find_components(&next)
        .into_iter()
        .filter(|knot| knot.len() > 1)
        .map(|knot| {
            let start = knot
                .iter()
                .copied()
                .min_by_key(|at| files.get(*at).map(|file| file.path.clone()))
                .unwrap_or_default();
            cycle_at(&next, start)
                .iter()
                .filter_map(|at| files.get(*at).map(|file| file.path.clone()))
                .collect()
        })
        .collect();
    cycles.sort();
    cycles
}

// Below a branch or `try` of the module itself an import is made as the file is loaded.
fn is_lazy(import: &Import, facts: &FileFacts) -> bool {
    import.nested
        && (import.kind == ImportKind::Dynamic
            || facts.definitions.iter().any(|definition| {
                matches!(
                    definition.kind,
                    DefinitionKind::Function | DefinitionKind::Class
                ) && (definition.line..=definition.end_line).contains(&import.line)
            }))
}

// Tarjan's algorithm with a stack of its own.
fn find_components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut found = Vec::new();
    let mut number = vec![NEW; next.len()];
    let mut low = vec![0; next.len()];
    let mut open = vec![false; next.len()];
    let mut stack = Vec::new();
    let mut count = 0;
    for root in 0..next.len() {
        if number[root] != NEW {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some((node, edge)) = calls.pop() {
            if edge == 0 {
                number[node] = count;
                low[node] = count;
                count += 1;
                stack.push(node);
                open[node] = true;
            }
            if let Some(&target) = next[node].get(edge) {
                calls.push((node, edge + 1));
                if number[target] == NEW {
                    calls.push((target, 0));
                } else if open[target] {
                    low[node] = low[node].min(number[target]);
                }
                continue;
            }
            if let Some(&(above, _)) = calls.last() {
                low[above] = low[above].min(low[node]);
            }
            if low[node] == number[node] {
                let mut knot = Vec::new();
                while let Some(member) = stack.pop() {
                    open[member] = false;
                    knot.push(member);
                    if member == node {
                        break;
                    }
                }
                found.push(knot);
            }
        }
    }
    found
}

// Breadth first from `start` back to itself.
fn cycle_at(next: &[Vec<usize>], start: usize) -> Vec<usize> {
    let mut from: HashMap<usize, usize> = HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for &target in next.get(node).into_iter().flatten() {
            if target == start {
                let mut path = vec![node];
                let mut at = node;
                while let Some(&before) = from.get(&at) {
                    path.push(before);
                    at = before;
                }
                path.reverse();
                return path;
            }
            if let std::collections::hash_map::Entry::Vacant(vacant) = from.entry(target) {
                vacant.insert(node);
                queue.push_back(target);
            }
        }
    }
    vec![start]
}

#[cfg(test)]
mod tests {
    use super::{cycle_at, find_components};

    #[test]
    fn knots_and_their_shortest_cycle() {
        let next = vec![
            vec![1],
            vec![2],
            vec![0, 3],
            vec![4],
            vec![],
            vec![5, 0],
            vec![6, 1],
        ];
        let mut knots: Vec<Vec<usize>> =
            find_components(&next).into_iter().filter(|knot| knot.len() > 1).collect();
        for knot in &mut knots {
            knot.sort_unstable();
        }
        assert_eq!(knots, [[0, 1, 2]]);
        assert_eq!(cycle_at(&next, 0), [0, 1, 2]);
    }

    #[test]
    fn survives_long_chain() {
        let length = 200_000;
        let next: Vec<Vec<usize>> = (0..length).map(|at| vec![(at + 1) % length]).collect();
        assert_eq!(find_components(&next).len(), 1);
        assert_eq!(cycle_at(&next, 0).len(), length);
    }
}
