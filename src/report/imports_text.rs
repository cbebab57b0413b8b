use std::fmt::Write as _;

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
        say(&mut text, format_args!("closure: {reached} files\n"));
        for node in &document.closure {
            say(&mut text, format_args!("  {}  {}", node.hops, node.path));
            if !node.via.is_empty() {
                let via: Vec<&str> = node.via.iter().map(AsRef::as_ref).collect();
                say(&mut text, format_args!("  (via {})", via.join(", ")));
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
        say(&mut text, format_args!("cycle: {}\n", steps.join(" -> ")));
    }
    for problem in &document.problems {
        let line = if problem.line == 0 {
            String::new()
        } else {
            format!(":{}", problem.line)
        };
        say(
            &mut text,
            format_args!("problem: {}{line}: {}\n", problem.path, problem.message),
        );
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
    say(text, format_args!("{}\n", file.path));
    let width = file
        .imports
        .iter()
        .map(|edge| edge.specifier.chars().count())
        .max()
        .unwrap_or(0)
        .min(40);
    for edge in &file.imports {
        say(
            text,
            format_args!(
                "  {:>4}  {:<width$}  {}\n",
                edge.line,
                shown(&edge.specifier),
                target(edge, file, document)
            ),
        );
    }
}

// A specifier is the repository's text: control characters do not reach the terminal.
fn shown(specifier: &str) -> String {
    specifier
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
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
        return format!("({})", shown(name));
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
        .map(|row| shown(&row.tried.join(", ")))
        .unwrap_or_default();
    if tried.is_empty() {
        "not found".to_owned()
    } else {
        format!("not found (tried {tried})")
    }
}

fn say(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(line);
}
