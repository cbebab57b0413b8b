use tree_sitter::Node;

use super::literal::text_of;

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
