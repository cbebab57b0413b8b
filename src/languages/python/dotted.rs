use std::collections::HashSet;

use tree_sitter::Tree;

use super::imports::python_string;
use crate::languages::finder::Finder;
use crate::languages::literal::line_of;
use crate::model::{FileFacts, Import, ImportKind};

/// Strings kept of one file.
const MAX_STRINGS: usize = 2_000;

/// Adds the strings that could name a module or something in one (`"app.urls"`,
/// `"app.middleware.Session"`), as settings, `mock.patch` and registries write them. Whether they
/// do is for the resolver to say.
pub(super) fn read(tree: &Tree, text: &[u8], facts: &mut FileFacts) {
    let mut finder = Finder::new(tree);
    let mut found: Vec<Import> = Vec::new();
    let mut seen: HashSet<(u32, String)> = facts
        .imports
        .iter()
        .map(|import| (import.line, import.specifier.clone()))
        .collect();
    let mut at = 0;
    while let Some(quote) = text
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\'', rest))
        .map(|offset| at + offset)
    {
        at = quote + 1;
        let rest = text.get(at..).unwrap_or_default();
        let end = rest
            .iter()
            .position(|byte| !is_dotted(*byte))
            .unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default();
        if rest.get(end) != text.get(quote) || !is_name(name) {
            continue;
        }
        at += end + 1;
        let Some(nodes) = finder.at(quote) else {
            facts.problems.push(Finder::exhausted());
            break;
        };
        let Some(string) = nodes.iter().rev().find(|node| node.kind() == "string") else {
            continue;
        };
        let Some(specifier) = python_string(*string, text) else {
            continue;
        };
        let line = line_of(*string);
        if specifier.as_bytes() == name && seen.insert((line, specifier.clone())) {
            found.push(Import {
                specifier,
                kind: ImportKind::DottedString,
                line,
                names: Vec::new(),
                type_only: false,
                nested: nodes
                    .iter()
                    .any(|node| matches!(node.kind(), "function_definition" | "class_definition")),
            });
        }
        if found.len() == MAX_STRINGS {
            break;
        }
    }
    facts.imports.append(&mut found);
}

/// Whether a byte may be part of a dotted name.
fn is_dotted(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

/// Whether a text is a dotted name of several parts.
fn is_name(text: &[u8]) -> bool {
    text.contains(&b'.')
        && text
            .split(|byte| *byte == b'.')
            .all(|part| part.first().is_some_and(|byte| !byte.is_ascii_digit()))
}
