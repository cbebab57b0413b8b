use tree_sitter::Node;

use super::literal::{Syntax, text_of};

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
            if let Some(value) = pattern.field("value") {
                collect(value, text, depth + 1, names);
            }
        }
        "assignment_pattern" | "object_assignment_pattern" => {
            if let Some(left) = pattern.field("left") {
                collect(left, text, depth + 1, names);
            }
        }
        "object_pattern" | "array_pattern" | "rest_pattern" | "pattern_list" | "tuple_pattern"
        | "list_pattern" | "list_splat_pattern" => {
            for child in pattern.named() {
                collect(child, text, depth + 1, names);
            }
        }
        _ => {}
    }
}
