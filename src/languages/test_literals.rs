use std::collections::HashSet;

use tree_sitter::Node;

use super::literal::Syntax;
use super::normal_form::{code_of, is_plain_string};

/// A value that is written down.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Literal {
    /// What it is a value of.
    pub kind: LiteralKind,
    /// As all spellings of it are.
    pub code: String,
}

/// The kinds of literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LiteralKind {
    /// Of any size and form.
    Number,
    /// Also the text in an element.
    Text,
    /// True or false.
    Truth,
}

/// The literals of a statement, its bodies, comments and types aside.
pub(super) fn literals_in(node: Node<'_>, text: &[u8], bodies: &[Node<'_>]) -> Vec<Literal> {
    let bodies: HashSet<usize> = bodies.iter().map(Node::id).collect();
    let mut found = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        let kind = match node.kind() {
            "integer" | "float" | "number" => Some(LiteralKind::Number),
            "string" | "template_string" if is_plain_string(node) => Some(LiteralKind::Text),
            "jsx_text" | "string_content" | "string_fragment" => Some(LiteralKind::Text),
            "true" | "false" => Some(LiteralKind::Truth),
            "comment" | "type" | "type_annotation" | "type_arguments" => continue,
            _ if bodies.contains(&node.id()) => continue,
            _ => None,
        };
        let Some(kind) = kind else {
            open.extend(node.named());
            continue;
        };
        let code = code_of(node, text).split_whitespace().collect();
        found.push(Literal { kind, code });
    }
    found
}
