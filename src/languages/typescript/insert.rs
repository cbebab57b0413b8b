use tree_sitter::Node;

use super::style::ScriptStyle;
use crate::languages::insert::Page;
use crate::languages::literal::Syntax;
use crate::languages::names::Names;
use crate::model::Suggestion;

/// Writes an import as the file writes its own.
pub(super) fn import_line(page: &Page<'_>, one: &Suggestion) -> String {
    let rules = page.resolver.module_rules(page.file);
    let neighbors = std::iter::empty();
    let style = ScriptStyle::detect(page.text.as_bytes(), page.facts, neighbors, rules);
    let line = style.statement(&one.name, &one.module, &one.imported, one.type_only);
    let end = if style.semicolons { ";" } else { "" };
    format!("{line}{end}")
}

/// The list in braces of an import, an export, or what takes a module apart.
pub(super) fn names(node: Node<'_>) -> Option<Names> {
    let parts: Vec<Node<'_>> = match node.kind() {
        "named_imports" | "export_clause" | "object_pattern" => {
            return Names::from_list(node, node.start_byte());
        }
        "import_statement"
        | "export_statement"
        | "lexical_declaration"
        | "variable_declaration"
        | "import_clause" => node.named_children(&mut node.walk()).collect(),
        "variable_declarator" => node.field("name").into_iter().collect(),
        _ => return None,
    };
    parts.into_iter().find_map(names)
}
