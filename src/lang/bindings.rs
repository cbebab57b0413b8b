use tree_sitter::Node;

use super::literal::text_of;
use crate::model::ImportedName;

const MAX_DEPTH: usize = 16;

/// The identifiers a binding pattern introduces, in source order.
pub(super) fn bound(pattern: Node<'_>, text: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    collect(pattern, text, 0, &mut names);
    names
}

fn collect(pattern: Node<'_>, text: &[u8], depth: usize, names: &mut Vec<String>) {
    if depth > MAX_DEPTH {
        return;
    }
    match pattern.kind() {
        "identifier" | "shorthand_property_identifier_pattern" => {
            names.push(text_of(pattern, text));
        }
        "pair_pattern" => {
            if let Some(value) = pattern.child_by_field_name("value") {
                collect(value, text, depth + 1, names);
            }
        }
        "assignment_pattern" | "object_assignment_pattern" => {
            if let Some(left) = pattern.child_by_field_name("left") {
                collect(left, text, depth + 1, names);
            }
        }
        "object_pattern" | "array_pattern" | "rest_pattern" | "pattern_list" | "tuple_pattern"
        | "list_pattern" | "list_splat_pattern" => {
            let mut cursor = pattern.walk();
            for child in pattern.named_children(&mut cursor) {
                collect(child, text, depth + 1, names);
            }
        }
        _ => {}
    }
}

/// The names a pattern takes out of a module object.
pub(super) fn taken(pattern: Node<'_>, text: &[u8]) -> Vec<ImportedName> {
    match pattern.kind() {
        "identifier" => vec![ImportedName {
            name: "*".into(),
            alias: Some(text_of(pattern, text)),
        }],
        "object_pattern" => {
            let mut cursor = pattern.walk();
            pattern
                .named_children(&mut cursor)
                .filter_map(|child| taken_property(child, text))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn taken_property(child: Node<'_>, text: &[u8]) -> Option<ImportedName> {
    match child.kind() {
        "shorthand_property_identifier_pattern" => Some(ImportedName {
            name: text_of(child, text),
            alias: None,
        }),
        "object_assignment_pattern" => Some(ImportedName {
            name: text_of(child.child_by_field_name("left")?, text),
            alias: None,
        }),
        "pair_pattern" => Some(ImportedName {
            name: text_of(child.child_by_field_name("key")?, text),
            alias: child
                .child_by_field_name("value")
                .filter(|value| value.kind() == "identifier")
                .map(|value| text_of(value, text)),
        }),
        _ => None,
    }
}
