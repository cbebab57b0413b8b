//! Builds the document of `mendit imports`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::Closure;
use super::cycles::cycles;
use super::edges::{FileEdges, Graph};
use super::symbols::is_module;
use crate::model::{
    ClosureEntry, Import, ImportEdge, ImportsDocument, ImportsFile, ImportsProblem, RepoPath,
    SCHEMA_VERSION,
};
use crate::parallel;

/// The question behind an [`ImportsDocument`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Every source file.
    Whole,
    /// Imports of the targets, up to a number of hops.
    Imports(Vec<RepoPath>, u32),
    /// Importers of the targets, up to a number of hops.
    Importers(Vec<RepoPath>, u32),
}

/// Builds the document of `mendit imports`; `symbols` follows each name to its definition.
pub fn document(graph: &Graph<'_>, wanted: &Wanted, symbols: bool) -> ImportsDocument {
    match wanted {
        Wanted::Whole => {
            let edges: Vec<Arc<FileEdges>> = graph.whole().into_iter().map(Arc::new).collect();
            build_document(graph, &edges, &Closure::default(), symbols)
        }
        Wanted::Imports(targets, hops) => {
            let closure = graph.imported(targets, *hops, symbols);
            build_document(graph, &edges_of(&closure), &closure, symbols)
        }
        Wanted::Importers(targets, hops) => {
            let closure = graph.importing(targets, *hops, symbols);
            keep_importers(
                &closure,
                build_document(graph, &edges_of(&closure), &closure, symbols),
            )
        }
    }
}

// Only edges that lead on to the targets, since the importers' other imports were not asked for.
fn keep_importers(closure: &Closure, mut document: ImportsDocument) -> ImportsDocument {
    let hops: HashMap<&RepoPath, u32> =
        closure.nodes.iter().map(|node| (&node.path, node.hops)).collect();
    for file in &mut document.files {
        let own = hops.get(&file.path).copied().unwrap_or(u32::MAX);
        file.imports.retain(|edge| {
            let mut files = [&edge.path, &edge.defined_in].into_iter().flatten();
            files.any(|path| {
                *path != file.path && hops.get(path).is_some_and(|hops| *hops < own.max(1))
            })
        });
    }
    // A target is there only as an importer of another.
    document.files.retain(|file| {
        !file.imports.is_empty() || hops.get(&file.path).is_some_and(|hops| *hops > 0)
    });
    document.unresolved.clear();
    document
}

fn edges_of(closure: &Closure) -> Vec<Arc<FileEdges>> {
    let mut edges: Vec<Arc<FileEdges>> =
        closure.nodes.iter().filter_map(|node| node.edges.clone()).collect();
    edges.sort_by(|a, b| a.path.cmp(&b.path));
    edges
}

fn build_document(
    graph: &Graph<'_>,
    edges: &[Arc<FileEdges>],
    closure: &Closure,
    symbols: bool,
) -> ImportsDocument {
    let files = parallel::map(edges, |file| ImportsFile {
        path: file.path.clone(),
        imports: (0..file.facts.imports.len())
            .flat_map(|at| edge_rows(graph, file, at, symbols))
            .collect(),
    });
    let mut unresolved: Vec<_> = edges.iter().flat_map(|file| file.unresolved()).collect();
    unresolved.sort();
    unresolved.dedup();
    let mut problems: Vec<ImportsProblem> = edges
        .iter()
        .flat_map(|file| {
            file.facts.problems.iter().map(|problem| ImportsProblem {
                path: file.path.clone(),
                line: problem.line,
                message: problem.message.clone(),
            })
        })
        .collect();
    problems.sort();
    ImportsDocument {
        schema_version: SCHEMA_VERSION,
        document: "imports",
        files,
        closure: closure
            .nodes
            .iter()
            .map(|node| ClosureEntry {
                path: node.path.clone(),
                hops: node.hops,
                via: node.via.clone(),
            })
            .collect(),
        unresolved,
        cycles: cycles(edges.iter().map(AsRef::as_ref)),
        problems,
    }
}

// One row for each file the import means; with symbols one for each file behind those.
fn edge_rows(graph: &Graph<'_>, file: &FileEdges, at: usize, symbols: bool) -> Vec<ImportEdge> {
    let (Some(import), Some(resolution)) = (file.facts.imports.get(at), file.resolutions.get(at))
    else {
        return Vec::new();
    };
    let row = |path: Option<&RepoPath>, names: Vec<String>| ImportEdge {
        specifier: import.specifier.clone(),
        kind: import.kind,
        line: import.line,
        path: path.cloned(),
        defined_in: None,
        external: resolution.external.clone(),
        names,
        type_only: import.type_only,
        nested: import.nested,
    };
    let all: Vec<String> = import.names.iter().map(|name| name.name.clone()).collect();
    if resolution.files.is_empty() || is_query(import, &resolution.files) {
        return vec![row(None, all)];
    }
    let several = resolution.files.len() > 1;
    let mut rows = Vec::new();
    for path in &resolution.files {
        let names: Vec<String> = all
            .iter()
            .filter(|name| !several || takes_name(&resolution.files, path, import, name))
            .cloned()
            .collect();
        rows.push(row(Some(path), names));
    }
    if symbols {
        let defined = graph.defined(file, at);
        rows = rows.into_iter().flat_map(|row| by_definition(row, &defined)).collect();
    }
    rows
}

// `./x?worker` asks a bundler for something made from `x.ts`: no compiler would find that file.
fn is_query(import: &Import, files: &[RepoPath]) -> bool {
    import.specifier.split_once('?').is_some_and(|(path, _)| {
        let name = path.rsplit('/').next().unwrap_or(path);
        files.iter().all(|file| file.file_name() != name)
    })
}

// When an import leads to several files, a name belongs to the submodule of that name, otherwise to the package.
fn takes_name(files: &[RepoPath], path: &RepoPath, import: &Import, name: &str) -> bool {
    let specifier = &import.specifier;
    if files.iter().any(|file| is_module(file, specifier, name)) {
        return is_module(path, specifier, name);
    }
    !import.names.iter().any(|other| is_module(path, specifier, &other.name))
}

fn by_definition(row: ImportEdge, defined: &[(String, RepoPath)]) -> Vec<ImportEdge> {
    let mut behind: BTreeMap<&RepoPath, Vec<String>> = BTreeMap::new();
    let mut rest: Vec<String> = Vec::new();
    let whole = row.names.iter().any(|name| name == "*");
    for (name, file) in defined {
        if whole || row.names.contains(name) {
            behind.entry(file).or_default().push(name.clone());
        }
    }
    for name in &row.names {
        if !defined.iter().any(|(known, _)| known == name) {
            rest.push(name.clone());
        }
    }
    let mut rows: Vec<ImportEdge> = behind
        .into_iter()
        .map(|(file, names)| ImportEdge {
            defined_in: Some(file.clone()),
            names,
            ..row.clone()
        })
        .collect();
    if rows.is_empty() || !rest.is_empty() {
        rows.push(ImportEdge { names: rest, ..row });
    }
    rows
}
