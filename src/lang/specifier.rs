use tree_sitter::Node;

use super::literal::{script_string, text_of};
use crate::model::ImportedName;

/// The name and alias of an import or export specifier.
pub(super) fn named(specifier: Node<'_>, text: &[u8]) -> Option<ImportedName> {
    let of = |node: Node<'_>| script_string(node, text).unwrap_or_else(|| text_of(node, text));
    Some(ImportedName {
        name: of(specifier.child_by_field_name("name")?),
        alias: specifier.child_by_field_name("alias").map(of),
    })
}

/// Whether an anonymous token stands directly below the node.
pub(super) fn has_token(node: Node<'_>, token: &str) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor)
        .any(|child| !child.is_named() && child.kind() == token)
}
