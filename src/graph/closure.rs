use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::edges::{FileEdges, Graph};
use crate::model::{RepoPath, UnresolvedImport};
use crate::parallel;

/// The files reachable from some targets by a number of imports.
#[derive(Debug, Clone, Default)]
pub struct Closure {
    /// Sorted by hops, then path. The targets have 0 hops.
    pub nodes: Vec<ClosureNode>,
    /// Imports of expanded files that lead nowhere, sorted.
    pub unresolved: Vec<UnresolvedImport>,
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
    /// Its resolved imports; `None` for the outermost files, which are not read.
    pub edges: Option<Arc<FileEdges>>,
}

impl Graph<'_> {
    // The imported files. With `symbols`, a defining file counts as one hop away, even behind re-exports.
    fn imported_files(&self, edges: &FileEdges, symbols: bool) -> Vec<RepoPath> {
        let mut files = edges.imported_files();
        if symbols {
            let imports = 0..edges.facts.imports.len();
            let defined = imports.flat_map(|at| self.defined(edges, at));
            files.extend(defined.map(|(_, file)| file));
            let mut seen = HashSet::from([edges.path.clone()]);
            files.retain(|file| seen.insert(file.clone()));
        }
        files
    }

    /// Returns the closure of `targets` over `max_hops` imports; with `symbols` a file that defines an imported name
    /// counts as imported. Only files closer than `max_hops` are read.
    ///
    /// The result is the same for any number of threads and any order of the same targets.
    pub fn imported(&self, targets: &[RepoPath], max_hops: u32, symbols: bool) -> Closure {
        let nodes = reach_files(targets, max_hops, |path| {
            let edges = self.file(path);
            (self.imported_files(&edges, symbols), Some(Arc::new(edges)))
        });
        let edges = nodes.iter().filter_map(|node| node.edges.as_ref());
        let mut unresolved: Vec<_> = edges.flat_map(|edges| edges.unresolved()).collect();
        unresolved.sort();
        unresolved.dedup();
        Closure { nodes, unresolved }
    }

    /// Returns the files that reach `targets` within `max_hops` imports; `via` leads from the target outwards. With
    /// `symbols` a file that takes a name through barrels counts as an importer of the file that defines it. Every
    /// source file is read.
    pub fn importing(&self, targets: &[RepoPath], max_hops: u32, symbols: bool) -> Closure {
        let whole = self.whole();
        let imported = parallel::map(&whole, |edges| self.imported_files(edges, symbols));
        let mut importers: HashMap<RepoPath, Vec<RepoPath>> = HashMap::new();
        for (edges, imported) in whole.iter().zip(imported) {
            for target in imported {
                importers.entry(target).or_default().push(edges.path.clone());
            }
        }
        let mut nodes = reach_files(targets, max_hops, |path| {
            (importers.get(path).cloned().unwrap_or_default(), None)
        });
        let paths = whole.into_iter().map(|edges| (edges.path.clone(), edges));
        let mut by_path: HashMap<RepoPath, FileEdges> = paths.collect();
        for node in &mut nodes {
            node.edges = by_path.remove(&node.path).map(Arc::new);
        }
        Closure {
            nodes,
            ..Closure::default()
        }
    }
}

impl FileEdges {
    /// The imports that lead nowhere, in source order.
    pub fn unresolved(&self) -> impl Iterator<Item = UnresolvedImport> {
        self.facts
            .imports
            .iter()
            .zip(&self.resolutions)
            .filter(|(_, resolution)| resolution.is_unresolved())
            .map(|(import, resolution)| UnresolvedImport {
                path: self.path.clone(),
                line: import.line,
                specifier: import.specifier.clone(),
                tried: resolution.tried.clone(),
            })
    }
}

/// The files that lead on from one, and its edges where they are wanted.
type Expanded = (Vec<RepoPath>, Option<Arc<FileEdges>>);

/// Breadth first from `starts`, wave by wave, each wave in parallel. Sorted by hops, then path;
/// the same for any number of threads.
fn reach_files(
    starts: &[RepoPath],
    max_hops: u32,
    expand: impl Fn(&RepoPath) -> Expanded + Sync,
) -> Vec<ClosureNode> {
    let mut starts = starts.to_vec();
    starts.sort();
    starts.dedup();
    let mut reached = Vec::new();
    let mut seen: HashSet<RepoPath> = starts.iter().cloned().collect();
    // Each entry is a chain, start first.
    let mut wave: Vec<Vec<RepoPath>> = starts.into_iter().map(|path| vec![path]).collect();
    let mut order = 0;
    for hops in 0..=max_hops {
        let given = parallel::map(&wave, |chain| {
            chain.last().filter(|_| hops < max_hops).map(&expand)
        });
        let mut next = Next::default();
        for (chain, given) in wave.into_iter().zip(given) {
            let Some(path) = chain.last() else { continue };
            let (targets, edges) = given.unzip();
            for target in targets.unwrap_or_default() {
                next.extend(&mut seen, &chain, target);
            }
            reached.push(ClosureNode {
                path: path.clone(),
                hops,
                via: chain.get(1..chain.len() - 1).unwrap_or_default().to_vec(),
                order,
                edges: edges.flatten(),
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
            self.chains.push(chain.iter().cloned().chain([target]).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::Graph;
    use crate::model::RepoPath;
    use crate::source::Memory;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn memory(files: &[(&str, &str)]) -> Memory {
        Memory::named(files.iter().copied())
    }

    fn shown(files: &[(&str, &str)], targets: &[&str], hops: u32) -> Vec<String> {
        let source = memory(files);
        let targets: Vec<RepoPath> = targets.iter().map(|target| path(target)).collect();
        Graph::new(&source)
            .imported(&targets, hops, false)
            .nodes
            .iter()
            .map(|node| {
                let via: Vec<&str> = node.via.iter().map(RepoPath::as_str).collect();
                format!(
                    "{} {} #{} via [{}]",
                    node.hops,
                    node.path,
                    node.order,
                    via.join(" ")
                )
            })
            .collect()
    }

    #[test]
    fn closure_orders_by_hops_then_path() {
        let files = [
            (
                "t.ts",
                "import './z'; import './b'; import './a'; import './missing'",
            ),
            ("a.ts", "import './deep'; import './t'"),
            ("b.ts", "import './deep'"),
            ("z.ts", "import './deep'; import './z'"),
            ("deep.ts", "import './deeper'"),
            ("deeper.ts", ""),
        ];
        assert_eq!(
            shown(&files, &["t.ts"], 2),
            [
                "0 t.ts #0 via []", "1 a.ts #3 via []", "1 b.ts #2 via []", "1 z.ts #1 via []",
                "2 deep.ts #4 via [a.ts]",
            ]
        );
        let source = memory(&files);
        let found = Graph::new(&source).imported(&[path("t.ts")], 2, false);
        assert_eq!(found.unresolved.len(), 1);
        assert_eq!(found.unresolved[0].specifier, "./missing");
        assert_eq!(found.unresolved[0].tried, ["missing"]);
    }

    #[test]
    fn closure_ignores_target_order() {
        let files: Vec<(String, String)> = (0..60)
            .map(|n| {
                let imports: Vec<String> = [n * 7 + 1, n * 3 + 2, n + 1]
                    .iter()
                    .map(|m| format!("import './f{}'", m % 60))
                    .collect();
                (format!("f{n}.ts"), imports.join("\n"))
            })
            .collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let runs = [
            shown(&files, &["f3.ts", "f9.ts"], 3),
            shown(&files, &["f9.ts", "f3.ts", "f9.ts"], 3),
        ];
        assert_eq!(runs[0], runs[1]);
    }
}
