use tree_sitter::Node;

use crate::languages::literal::Syntax;

use crate::languages::uses::{MAX_CHAIN, Uses, chain, is_field};

fn declares(leaf: Node<'_>, parent: Node<'_>) -> bool {
    match (leaf.kind(), parent.kind()) {
        ("shorthand_property_identifier_pattern", _)
        | (
            _,
            "function_declaration"
            | "generator_function_declaration"
            | "class_declaration"
            | "abstract_class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "internal_module"
            | "type_parameter",
        ) => true,
        (_, "type_alias_declaration") | ("identifier", "variable_declarator") => {
            is_field(parent, "name", leaf)
        }
        (
            "identifier",
            "assignment_expression" | "augmented_assignment_expression" | "for_in_statement",
        ) => is_field(parent, "left", leaf),
        _ => false,
    }
}

fn is_parameter(leaf: Node<'_>, parent: Node<'_>, kind: &str) -> bool {
    matches!(
        kind,
        "required_parameter" | "optional_parameter" | "rest_pattern"
    ) || (kind == "arrow_function" && is_field(parent, "parameter", leaf))
}

// `this.name = …`: the bare name is a slip for it.
fn is_own(member: Node<'_>, above: &[Node<'_>]) -> bool {
    let object = member.field("object");
    object.is_some_and(|it| it.kind() == "this")
        && above
            .iter()
            .rev()
            .nth(1)
            .is_some_and(|it| it.kind() == "assignment_expression" && is_field(*it, "left", member))
}

// Whether a class around the leaf has a method or field of the name, which `this` was left out of.
fn is_member(above: &[Node<'_>], leaf: Node<'_>, text: &[u8]) -> bool {
    let name = text.get(leaf.byte_range());
    let bodies = above.iter().filter(|node| node.kind() == "class_body");
    bodies.into_iter().any(|body| {
        let mut members = body.named();
        members.any(|it| {
            let named = it.field("name").map(|it| it.byte_range());
            named.is_some_and(|it| text.get(it) == name)
        })
    })
}

/// Adds what a leaf says of the use of its name; whether it stands for the name.
pub(super) fn use_of(found: &mut Uses, leaf: Node<'_>, above: &[Node<'_>], text: &[u8]) -> bool {
    let Some(parent) = above.last().copied() else {
        return false;
    };
    match (leaf.kind(), parent.kind()) {
        (
            _,
            "import_specifier" | "import_clause" | "namespace_import" | "import_require_clause",
        ) => {}
        ("property_identifier", "member_expression") => {
            found.bound |= is_own(parent, above);
            return false;
        }
        ("property_identifier" | "statement_identifier", _) => return false,
        ("identifier", "catch_clause") => found.bound = true,
        _ if declares(leaf, parent) => found.bound = true,
        ("type_identifier", _) | ("identifier", "type_query") => {
            (found.typed, found.bare) = (true, true);
        }
        ("shorthand_property_identifier", _) => {
            (found.value, found.bare, found.shadowed) = (true, true, true);
        }
        // Parameters are the function's own.
        ("identifier", kind) if is_parameter(leaf, parent, kind) => found.shadowed = true,
        ("identifier", "export_specifier") => (found.bare, found.shadowed) = (true, true),
        ("identifier", _) => {
            let in_type = above
                .iter()
                .rev()
                .take(MAX_CHAIN + 1)
                .any(|node| matches!(node.kind(), "type_query" | "nested_type_identifier"));
            if in_type {
                found.typed = true;
            } else {
                found.value = true;
            }
            found.bound |= is_member(above, leaf, text);
            let field = if parent.kind() == "member_expression" {
                "property"
            } else {
                "name"
            };
            chain(found, leaf, above, text, field, |node| {
                matches!(
                    node.kind(),
                    "member_expression" | "nested_type_identifier" | "nested_identifier"
                )
            });
            found.called |= match parent.kind() {
                "call_expression" => is_field(parent, "function", leaf),
                "new_expression" => is_field(parent, "constructor", leaf),
                kind => kind.starts_with("jsx_"),
            };
        }
        _ => return false,
    }
    true
}
