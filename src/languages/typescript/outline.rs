use tree_sitter::Node;

use crate::languages::literal::Syntax;

use crate::languages::outline::source;

/// The name of a definition: of an exported one by its `export`.
pub(super) fn defined(node: Node<'_>, parent: &str, text: &[u8]) -> Option<String> {
    match node.kind() {
        "export_statement" => {
            let declaration = node.field("declaration")?;
            name_of(declaration, true, text)
        }
        _ if parent == "export_statement" => None,
        _ => name_of(node, parent == "program", text),
    }
}

fn name_of(node: Node<'_>, outermost: bool, text: &[u8]) -> Option<String> {
    match node.kind() {
        "function_declaration"
        | "generator_function_declaration"
        | "function_signature"
        | "class_declaration"
        | "abstract_class_declaration"
        | "interface_declaration"
        | "type_alias_declaration"
        | "enum_declaration"
        | "internal_module"
        | "method_definition"
        | "public_field_definition" => Some(source(node.field("name")?, text)),
        "lexical_declaration" | "variable_declaration" => {
            let value = declared_value(node);
            let is_function = value.is_some_and(is_function);
            let declarator = node.named_child(0)?;
            let name = declarator.field("name")?;
            (outermost || is_function).then(|| source(name, text))
        }
        "pair" => {
            let value = node.field("value")?;
            is_function(value)
                .then(|| node.field("key"))
                .flatten()
                .map(|key| source(key, text))
        }
        // `it('adds', () => …)`, `describe.each(…)('adds', …)`.
        "expression_statement" => {
            let call = node.named_child(0)?;
            let call = match call.kind() {
                "await_expression" => call.named_child(0)?,
                _ => call,
            };
            let arguments = (call.kind() == "call_expression")
                .then(|| call.field("arguments"))
                .flatten()?;
            let mut walk = arguments.walk();
            let children: Vec<Node<'_>> = arguments.named_children(&mut walk).collect();
            let title = children.first()?;
            let is_text = matches!(title.kind(), "string" | "template_string");
            (is_text && children.iter().copied().any(is_function)).then(|| {
                let title = source(*title, text);
                title.trim_matches(['\'', '"', '`']).to_owned()
            })
        }
        _ => None,
    }
}

fn declared_value(node: Node<'_>) -> Option<Node<'_>> {
    let node = match node.kind() {
        "export_statement" => node.field("declaration")?,
        _ => node,
    };
    match node.kind() {
        "lexical_declaration" | "variable_declaration" => node.named_child(0)?.field("value"),
        _ => None,
    }
}

fn is_function(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "arrow_function" | "function_expression" | "generator_function" | "class"
    )
}
