use std::collections::HashSet;
use std::sync::LazyLock;

use regex::bytes::Regex;
use tree_sitter::Tree;

use super::imports::python_string;
use crate::languages::finder::Finder;
use crate::languages::literal::line_of;
use crate::model::{FileFacts, Import, ImportKind};

/// Strings kept of one file.
const MAX_STRINGS: usize = 2_000;

/// A quoted name of several parts.
static DOTTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = r"(?-u:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)";
    Regex::new(&format!("\"{name}\"|'{name}'")).ok()
});

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
    let Some(pattern) = DOTTED.as_ref() else {
        return;
    };
    for candidate in pattern.find_iter(text) {
        let Some(nodes) = finder.at(candidate.start()) else {
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
        let name = text.get(candidate.start() + 1..candidate.end() - 1);
        if Some(specifier.as_bytes()) == name && seen.insert((line, specifier.clone())) {
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
