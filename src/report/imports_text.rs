use super::context_block::one_line;
use crate::model::{ImportEdge, ImportsDocument, ImportsFile};

/// Lists each file with its imports, then closure, cycles and problems, for people to read.
#[must_use]
pub fn imports_text(document: &ImportsDocument) -> String {
    let mut text = String::new();
    for file in &document.files {
        file_lines(file, document, &mut text);
    }
    if !document.closure.is_empty() {
        let reached = document.closure.iter().filter(|node| node.hops > 0).count();
        text.push_str(&format!("closure: {reached} files\n"));
        for node in &document.closure {
            text.push_str(&format!("  {}  {}", node.hops, node.path));
            if !node.via.is_empty() {
                let via: Vec<&str> = node.via.iter().map(AsRef::as_ref).collect();
                text.push_str(&format!("  (via {})", via.join(", ")));
            }
            text.push('\n');
        }
    }
    for cycle in &document.cycles {
        let steps: Vec<&str> = cycle
            .iter()
            .chain(cycle.first())
            .map(AsRef::as_ref)
            .collect();
        text.push_str(&format!("cycle: {}\n", steps.join(" -> ")));
    }
    for problem in &document.problems {
        let line = if problem.line == 0 {
            String::new()
        } else {
            format!(":{}", problem.line)
        };
        text.push_str(&format!(
            "problem: {}{line}: {}\n",
            problem.path, problem.message
        ));
    }
    text
}

/// The files that were reached, without what they were asked from: a path on each line, for another
/// program to take.
#[must_use]
pub fn imports_paths(document: &ImportsDocument) -> String {
    let reached = document.files.iter().map(|file| file.path.as_str());
    reached.flat_map(|path| [path, "\n"]).collect()
}

fn file_lines(file: &ImportsFile, document: &ImportsDocument, text: &mut String) {
    text.push_str(&format!("{}\n", file.path));
    let width = file
        .imports
        .iter()
        .map(|edge| edge.specifier.chars().count())
        .max()
        .unwrap_or(0)
        .min(40);
    for edge in &file.imports {
        text.push_str(&format!(
            "  {:>4}  {:<width$}  {}\n",
            edge.line,
            one_line(&edge.specifier),
            target(edge, file, document)
        ));
    }
}

fn target(edge: &ImportEdge, file: &ImportsFile, document: &ImportsDocument) -> String {
    if let Some(path) = &edge.path {
        return match &edge.defined_in {
            Some(defined) if defined != path => {
                format!("{path}  ({} in {defined})", edge.names.join(", "))
            }
            _ => path.to_string(),
        };
    }
    if let Some(name) = &edge.external {
        return format!("({})", one_line(name));
    }
    if !edge.matches.is_empty() {
        return format!("{} files match", edge.matches.len());
    }
    let tried = document
        .unresolved
        .iter()
        .find(|row| {
            row.path == file.path && row.line == edge.line && row.specifier == edge.specifier
        })
        .map(|row| one_line(&row.tried.join(", ")))
        .unwrap_or_default();
    if tried.is_empty() {
        "not found".to_owned()
    } else {
        format!("not found (tried {tried})")
    }
}
