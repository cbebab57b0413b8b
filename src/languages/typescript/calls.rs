//! Reads imports that are calls: `import()`, `require()`, mocks and globs.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use tree_sitter::{Node, Tree};

use super::imports::script_string;
use crate::languages::finder::Finder;
use crate::languages::literal::{Syntax, line_of, text_of};
use crate::model::{FileFacts, Import, ImportKind, ImportedName};

// Words that start an import call. The tree is searched only at these, since a walk over all of it is slow.
static WORDS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(["import", "require", "vi.", "jest."]).ok());

/// Adds the imports made by calls, at any depth: `import()`, `require()`, mocks.
pub(super) fn read(tree: &Tree, text: &[u8], facts: &mut FileFacts) {
    let Some(words) = WORDS.as_ref() else { return };
    let mut finder = Finder::new(tree);
    for hit in words.find_iter(text) {
        if !may_call(text, hit.start(), hit.end()) {
            continue;
        }
        let Some(nodes) = finder.at(hit.start()) else {
            facts.problems.push(Finder::exhausted());
            return;
        };
        facts.imports.extend(call_at(nodes, text));
    }
}

fn may_call(text: &[u8], start: usize, end: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let last = before.last().copied().unwrap_or(b' ');
    let is_part = last.is_ascii_alphanumeric() || matches!(last, b'_' | b'$' | b'.');
    // `...require('./a')` spreads what the call gives.
    if is_part && !before.ends_with(b"...") {
        return false;
    }
    if text.get(end - 1) == Some(&b'.') {
        return true;
    }
    let rest = text.get(end..).unwrap_or_default();
    let next = rest.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(next, Some(b'(' | b'.' | b'?' | b'<' | b'/'))
}

fn call_at(nodes: &[Node<'_>], text: &[u8]) -> Option<Import> {
    let (at, call, kind) = callee_at(nodes, text)?;
    let above = nodes.get(..at)?;
    let mut arguments = call.field("arguments")?.named();
    let argument = arguments.find(|given| given.kind() != "comment")?;
    Some(Import {
        specifier: script_string(argument, text)?,
        kind,
        line: line_of(call),
        names: names_taken(above, call, text),
        type_only: kind == ImportKind::Dynamic && above.iter().any(|node| is_type(node.kind())),
        nested: above.iter().any(|node| is_nesting(node.kind())),
    })
}

// The innermost call, when its callee is one that imports and the word is in it.
fn callee_at<'t>(nodes: &[Node<'t>], text: &[u8]) -> Option<(usize, Node<'t>, ImportKind)> {
    let (at, call) = nodes
        .iter()
        .enumerate()
        .rev()
        .take(6)
        .find(|(_, node)| node.kind() == "call_expression")?;
    let callee = call.field("function")?;
    let word = nodes.last()?.start_byte();
    // A callee that imports is short, so longer ones need no lookup.
    if word >= callee.end_byte() || callee.byte_range().len() > 80 {
        return None;
    }
    Some((at, *call, kind_of(&text_of(callee, text))?))
}

fn kind_of(callee: &str) -> Option<ImportKind> {
    Some(match callee {
        "import" => ImportKind::Dynamic,
        "require" | "require.resolve" => ImportKind::Require,
        _ => {
            let (object, method) = callee.split_once('.')?;
            let method = method.to_ascii_lowercase();
            let is_mock = method.contains("mock") || method.ends_with("actual");
            (matches!(object, "vi" | "jest") && is_mock).then_some(ImportKind::Mock)?
        }
    })
}

fn is_type(kind: &str) -> bool {
    kind.ends_with("_type")
        || matches!(
            kind,
            "type_annotation"
                | "type_arguments"
                | "type_query"
                | "type_alias_declaration"
                | "interface_declaration"
        )
}

fn is_nesting(kind: &str) -> bool {
    kind.ends_with("_statement") && !matches!(kind, "expression_statement" | "export_statement")
        || kind.contains("function")
        || matches!(
            kind,
            "statement_block" | "class_body" | "method_definition" | "ternary_expression"
        )
}

// `const { a, b: c } = await import('x')` takes a and b; `const m = require('x')` takes everything.
fn names_taken(above: &[Node<'_>], call: Node<'_>, text: &[u8]) -> Vec<ImportedName> {
    let mut value = call;
    for node in above.iter().rev() {
        match node.kind() {
            "await_expression" | "parenthesized_expression" => value = *node,
            "member_expression" if node.field("object") == Some(value) => {
                let property = node.field("property");
                return property
                    .map(|name| ImportedName::new(text_of(name, text), None))
                    .into_iter()
                    .collect();
            }
            "variable_declarator" => {
                return node
                    .field("name")
                    .map(|pattern| taken_names(pattern, text))
                    .unwrap_or_default();
            }
            _ => break,
        }
    }
    Vec::new()
}

// The names a pattern takes out of a module object.
fn taken_names(pattern: Node<'_>, text: &[u8]) -> Vec<ImportedName> {
    match pattern.kind() {
        "identifier" => vec![ImportedName::new("*", Some(text_of(pattern, text)))],
        "object_pattern" => {
            let taken = pattern.named().filter(|one| one.kind() != "rest_pattern").map(|one| {
                let name = one.field("key").or(one.field("left")).unwrap_or(one);
                let alias = one.field("value").filter(|value| value.kind() == "identifier");
                let alias = alias.map(|alias| text_of(alias, text));
                ImportedName::new(text_of(name, text), alias)
            });
            taken.collect()
        }
        _ => Vec::new(),
    }
}
