use std::collections::{BTreeMap, BTreeSet};
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
fn edges(document: &ImportsDocument) -> Vec<(&RepoPath, &RepoPath, bool)> {
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

/// The edges as a Mermaid flowchart; type-only imports are dotted.
#[must_use]
pub fn imports_mermaid(document: &ImportsDocument) -> String {
    let edges = edges(document);
    let mut paths: BTreeSet<&RepoPath> = document.files.iter().map(|file| &file.path).collect();
    paths.extend(edges.iter().flat_map(|(from, to, _)| [*from, *to]));
    let ids: BTreeMap<&RepoPath, usize> = paths
        .iter()
        .enumerate()
        .map(|(at, path)| (*path, at))
        .collect();
    let mut text = String::from("flowchart LR\n");
    for (path, id) in &ids {
        let label = path.as_str().replace('"', "#quot;");
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  f{id}[\"{label}\"]");
    }
    for (from, to, type_only) in edges {
        if let (Some(from), Some(to)) = (ids.get(from), ids.get(to)) {
            let arrow = if type_only { "-.->" } else { "-->" };
            let _ = writeln!(text, "  f{from} {arrow} f{to}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::imports_mermaid;
    use crate::model::{
        ImportEdge, ImportKind, ImportsDocument, ImportsFile, RepoPath, SCHEMA_VERSION,
    };
    use crate::report::imports_dot;

    fn document() -> ImportsDocument {
        let path = |text: &str| RepoPath::new(text).unwrap();
        let edge = |to: &str, type_only| ImportEdge {
            specifier: "./x".into(),
            kind: ImportKind::Import,
            line: 1,
            path: Some(path(to)),
            behind_link: None,
            defined_in: None,
            external: None,
            names: Vec::new(),
            type_only,
            nested: false,
            matches: Vec::new(),
        };
        ImportsDocument {
            schema_version: SCHEMA_VERSION,
            document: "imports",
            files: vec![ImportsFile {
                path: path("a\"b.ts"),
                imports: vec![edge("c.ts", true), edge("c.ts", false), edge("d.ts", true)],
            }],
            closure: Vec::new(),
            unresolved: Vec::new(),
            cycles: Vec::new(),
            problems: Vec::new(),
        }
    }

    #[test]
    fn drawings_quote_names_and_join_edges() {
        assert_eq!(
            imports_dot(&document()),
            "digraph imports {\n  rankdir=LR;\n  node [shape=box];\n  \"a\\\"b.ts\";\n  \"a\\\"b.ts\" -> \"c.ts\";\n  \"a\\\"b.ts\" -> \"d.ts\" [style=dashed];\n}\n"
        );
        assert_eq!(
            imports_mermaid(&document()),
            "flowchart LR\n  f0[\"a#quot;b.ts\"]\n  f1[\"c.ts\"]\n  f2[\"d.ts\"]\n  f0 --> f1\n  f0 -.-> f2\n"
        );
    }
}
