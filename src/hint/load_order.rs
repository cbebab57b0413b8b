use std::collections::BTreeSet;

use super::query::Undefined;
use crate::graph::{FileEdges, Graph};
use crate::languages::loading;
use crate::model::{FileFacts, Import, ImportKind, RepoPath};

/// Files that are looked through for a way back; beyond it nothing is proved.
const MAX_FILES: usize = 5_000;

/// Whether the import can break no file that is loaded: nothing that `target` loads leads back to the asked
/// file, or the file takes from it already what stands no earlier than the name.
pub(super) fn still_loads(
    graph: &Graph<'_>,
    asked: &Undefined<'_>,
    after: &[u8],
    import: &Import,
    target: &RepoPath,
) -> bool {
    takes_already(graph, asked, after, import, target) || !leads_back(graph, asked.file, target)
}

// An import of the same file that stands there tells that the file is loaded when the line is come to. What it
// takes was bound by then; in modules that are linked before they run, what is not read while they do is as safe.
fn takes_already(
    graph: &Graph<'_>,
    asked: &Undefined<'_>,
    after: &[u8],
    import: &Import,
    target: &RepoPath,
) -> bool {
    let edges = graph.file(asked.file);
    let mut loaded = run_time(&edges)
        .filter(|(one, files)| !one.nested && files.contains(&target) && one.kind == import.kind);
    if asked.language.declares_exports {
        let linked = import.kind == ImportKind::Import && loaded.next().is_some();
        return linked
            && loading(asked.file, after).is_some_and(|it| !it.names.contains(asked.name));
    }
    let facts = graph.resolver().facts(target);
    let bound = |facts: &FileFacts, name: &str| {
        let mut own = facts.definitions.iter().filter(|it| it.name == name);
        own.next().map(|it| it.line)
    };
    let taken = import.names.iter().find(|it| it.local() == asked.name);
    let Some(wanted) = taken.and_then(|it| bound(&facts, &it.name)) else {
        return false;
    };
    loaded.any(|(one, _)| {
        one.line <= import.line
            && one.kind == ImportKind::From
            && one
                .names
                .iter()
                .any(|it| bound(&facts, &it.name).is_some_and(|line| line >= wanted))
    })
}

// Whether a file that `target` loads, be it in a function or by its package, loads `file`. Packages around both
// have begun before: what is taken out of one may not be there yet, its modules are.
fn leads_back(graph: &Graph<'_>, file: &RepoPath, target: &RepoPath) -> bool {
    let around: Vec<RepoPath> = with_packages(graph, file);
    let mut seen: BTreeSet<RepoPath> = BTreeSet::new();
    let mut open = with_packages(graph, target);
    open.retain(|path| path == target || !around.contains(path));
    while let Some(path) = open.pop() {
        if seen.contains(&path) {
            continue;
        }
        if seen.len() > MAX_FILES {
            return true;
        }
        let edges = graph.file(&path);
        for (import, files) in run_time(&edges) {
            let is_module = |name: &str| files.iter().any(|it| module_name(it) == name);
            let modules =
                !import.names.is_empty() && import.names.iter().all(|one| is_module(&one.name));
            for next in files {
                if around.contains(next) {
                    if next == file || !modules {
                        return true;
                    }
                    continue;
                }
                let begun = |it: &RepoPath| around.contains(it);
                open.extend(
                    with_packages(graph, next)
                        .into_iter()
                        .filter(|it| !begun(it)),
                );
            }
        }
        seen.insert(path);
    }
    false
}

// The last part of a module's name: that of its file, or of the folder of a package.
fn module_name(path: &RepoPath) -> &str {
    match path.stem() {
        "__init__" => path.directory().rsplit('/').next().unwrap_or_default(),
        stem => stem,
    }
}

// What is imported when a file runs, with the files that it leads to.
fn run_time(edges: &FileEdges) -> impl Iterator<Item = (&Import, Vec<&RepoPath>)> {
    let all = edges.facts.imports.iter().zip(&edges.resolutions);
    all.filter(|(import, _)| !import.type_only)
        .map(|(import, found)| (import, found.files.iter().collect()))
}

// A module of Python behind the packages that are loaded before it.
fn with_packages(graph: &Graph<'_>, path: &RepoPath) -> Vec<RepoPath> {
    let packages = path.ancestors().filter(|it| !it.is_empty());
    let inits = packages
        .filter_map(|directory| RepoPath::new(&format!("{directory}/__init__.py")).ok())
        .take_while(|it| graph.resolver().is_file(it));
    let mut all = vec![path.clone()];
    if path.extension() == Some("py") {
        all.extend(inits.filter(|it| it != path));
    }
    all
}
