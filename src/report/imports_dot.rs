use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::model::{ImportsDocument, RepoPath};

/// The edges as a Graphviz digraph; type-only imports are dashed.
#[must_use]
pub fn imports_dot(document: &ImportsDocument) -> String {
    let mut text = String::from("digraph imports {\n  rankdir=LR;\n  node [shape=box];\n");
    for file in &document.files {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {};", quoted(&file.path));
    }
    for (from, to, type_only) in edges(document) {
        let style = if type_only { " [style=dashed]" } else { "" };
        let _ = writeln!(text, "  {} -> {}{style};", quoted(from), quoted(to));
    }
    text.push_str("}\n");
    text
}

/// Each pair of files once, sorted; type-only when every import between them is.
pub(super) fn edges(document: &ImportsDocument) -> Vec<(&RepoPath, &RepoPath, bool)> {
    let mut pairs = BTreeSet::new();
    for file in &document.files {
        for edge in &file.imports {
            for to in edge.path.iter().chain(&edge.matches) {
                pairs.insert((&file.path, to, edge.type_only));
            }
        }
    }
    let mut edges: Vec<_> = pairs.into_iter().collect();
    // `false` sorts first: a run-time import hides the type-only one.
    edges.dedup_by(|b, a| (a.0, a.1) == (b.0, b.1));
    edges
}

fn quoted(path: &RepoPath) -> String {
    format!(
        "\"{}\"",
        path.as_str().replace('\\', "\\\\").replace('"', "\\\"")
    )
}
