#[cfg(feature = "program")]
use std::collections::BTreeSet;
use std::collections::HashSet;

use tree_sitter::Node;

use super::imports::python_string;
use crate::languages::bindings;
use crate::languages::literal::{Syntax, end_line_of, line_of, text_of};
use crate::languages::outline::source;
use crate::model::{Definition, DefinitionKind, FileFacts, Import, ImportKind};

/// Statement blocks inside statement blocks that are looked into.
const MAX_BLOCKS: usize = 32;

/// Reads the names a module binds at its top level, branches and loops included.
pub(super) fn read(module: Node<'_>, text: &[u8], facts: &mut FileFacts) {
    let first = facts.imports.len();
    block(module, text, 0, facts);
    let key = |import: &Import| (import.line, import.specifier.clone());
    let plugins: HashSet<_> = facts.imports.iter().skip(first).map(key).collect();
    facts.imports.retain(|import| {
        import.kind != ImportKind::DottedString || !plugins.contains(&key(import))
    });
}

fn block(parent: Node<'_>, text: &[u8], blocks: usize, facts: &mut FileFacts) {
    if blocks > MAX_BLOCKS {
        return;
    }
    for node in parent.named() {
        name_of_statement(node, text, blocks, facts);
    }
}

fn name_of_statement(node: Node<'_>, text: &[u8], blocks: usize, facts: &mut FileFacts) {
    match node.kind() {
        "function_definition" => define(node, node, DefinitionKind::Function, text, facts),
        "class_definition" => define(node, node, DefinitionKind::Class, text, facts),
        "decorated_definition" => {
            if let Some(inner) = node.field("definition") {
                let kind = if inner.kind() == "class_definition" {
                    DefinitionKind::Class
                } else {
                    DefinitionKind::Function
                };
                define(inner, node, kind, text, facts);
            }
        }
        "type_alias_statement" => {
            if let Some(name) = node.field("left") {
                let name = name.named_child(0).unwrap_or(name);
                let name = text_of(name, text);
                let name = name.split('[').next().unwrap_or_default();
                push(name.to_owned(), DefinitionKind::Type, node, facts);
            }
        }
        "expression_statement" => {
            if let Some(inner) = node.named_child(0)
                && inner.kind() == "assignment"
            {
                assignment(inner, node, text, facts);
            }
        }
        "if_statement"
        | "elif_clause"
        | "else_clause"
        | "try_statement"
        | "except_clause"
        | "except_group_clause"
        | "finally_clause"
        | "while_statement"
        | "match_statement"
        | "case_clause"
        | "block"
        | "ERROR" => block(node, text, blocks + 1, facts),
        "with_statement" | "for_statement" => {
            if let Some(left) = node.field("left") {
                for name in bindings::bound(left, text) {
                    push(name, DefinitionKind::Variable, left, facts);
                }
            }
            block(node, text, blocks + 1, facts);
        }
        _ => {}
    }
}

/// The names that a module binds whatever happens while it is loaded, imports included: not those
/// that stand below one branch of an `if` alone, and none that is deleted. `None` when a star binds
/// others, or the module answers for names itself.
#[cfg(feature = "program")]
pub(crate) fn always(module: Node<'_>, text: &[u8]) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    bind_all(module, text, 0, &mut found)?;
    (!found.contains("__getattr__")).then_some(found)
}

#[cfg(feature = "program")]
fn bind_all(
    parent: Node<'_>,
    text: &[u8],
    blocks: usize,
    found: &mut BTreeSet<String>,
) -> Option<()> {
    if blocks > MAX_BLOCKS {
        return None;
    }
    for node in parent.named() {
        match node.kind() {
            "if_statement" => {
                let condition = node.field_text("condition", text);
                let never = condition.ends_with("TYPE_CHECKING") || condition.contains("__name__");
                let mut branches = Vec::new();
                for branch in node.named() {
                    if matches!(branch.kind(), "block" | "elif_clause" | "else_clause") {
                        let mut bound = BTreeSet::new();
                        bind_all(branch, text, blocks + 1, &mut bound)?;
                        branches.push((branch.kind(), bound));
                    }
                }
                let whole = branches.iter().any(|(kind, _)| *kind == "else_clause");
                let mut branches = branches
                    .into_iter()
                    .filter(|(kind, _)| !(never && *kind == "block"))
                    .map(|(_, bound)| bound);
                if whole && let Some(first) = branches.next() {
                    let all = branches.fold(first, |all, one| &all & &one);
                    found.extend(all);
                }
            }
            "delete_statement" => {
                for target in node.named() {
                    for one in target.named().chain([target]) {
                        found.remove(&text_of(one, text));
                    }
                }
            }
            "import_statement" | "import_from_statement" => {
                for taken in node.fields("name") {
                    let name = taken.field("alias").unwrap_or(taken);
                    let name = text_of(name, text);
                    found.extend(name.split('.').next().map(str::to_owned));
                }
                if node.named().any(|it| it.kind() == "wildcard_import") {
                    return None;
                }
            }
            "try_statement"
            | "except_clause"
            | "except_group_clause"
            | "finally_clause"
            | "else_clause"
            | "elif_clause"
            | "while_statement"
            | "with_statement"
            | "block"
            | "match_statement"
            | "case_clause"
            | "ERROR" => {
                bind_all(node, text, blocks + 1, found)?;
            }
            _ => {
                let mut facts = FileFacts::default();
                name_of_statement(node, text, blocks, &mut facts);
                found.extend(facts.definitions.into_iter().map(|one| one.name));
            }
        }
    }
    Some(())
}

fn assignment(inner: Node<'_>, statement: Node<'_>, text: &[u8], facts: &mut FileFacts) {
    // A chain `a = b = c` nests to the right.
    let mut current = Some(inner);
    let mut links = 0;
    while let Some(node) = current.filter(|node| node.kind() == "assignment" && links < MAX_BLOCKS)
    {
        if let Some(left) = node.field("left") {
            for name in bindings::bound(left, text) {
                if name == "pytest_plugins" {
                    plugins(node, text, facts);
                }
                push(name, DefinitionKind::Variable, statement, facts);
            }
        }
        current = node.field("right");
        links += 1;
    }
}

// `pytest_plugins = ["a.b"]`: pytest imports what it names.
fn plugins(assignment: Node<'_>, text: &[u8], facts: &mut FileFacts) {
    let Some(value) = assignment.field("right") else {
        return;
    };
    let strings: Vec<Node<'_>> = match value.kind() {
        "string" => vec![value],
        _ => value.named().collect(),
    };
    for string in strings {
        let specifier = python_string(string, text).filter(|name| !name.is_empty());
        facts.imports.extend(specifier.map(|specifier| Import {
            specifier,
            kind: ImportKind::Importlib,
            line: line_of(string),
            ..Import::of("")
        }));
    }
}

fn define(
    named: Node<'_>,
    whole: Node<'_>,
    kind: DefinitionKind,
    text: &[u8],
    facts: &mut FileFacts,
) {
    if let Some(name) = named.field("name") {
        push(text_of(name, text), kind, whole, facts);
    }
}

fn push(name: String, kind: DefinitionKind, node: Node<'_>, facts: &mut FileFacts) {
    facts.definitions.push(Definition {
        name,
        kind,
        line: line_of(node),
        end_line: end_line_of(node),
    });
}

/// The name of a definition for an outline: of a decorated one by its decorators.
pub(super) fn defined(node: Node<'_>, parent: &str, text: &[u8]) -> Option<String> {
    let named = |node: Node<'_>| Some(source(node.field("name")?, text));
    match node.kind() {
        "decorated_definition" => named(node.field("definition")?),
        "function_definition" | "class_definition" if parent != "decorated_definition" => {
            named(node)
        }
        "expression_statement" if parent == "module" => {
            let assignment = node.named_child(0).filter(|it| it.kind() == "assignment")?;
            let left = assignment.field("left")?;
            (left.kind() == "identifier").then(|| source(left, text))
        }
        _ => None,
    }
}
