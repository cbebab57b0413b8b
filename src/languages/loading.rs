use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use tree_sitter::Node;

use super::facts::Code;
use super::literal::{Syntax, end_line_of, line_of, next};
use super::python::{self, PYTHON};
use crate::model::RepoPath;

/// The lines of a file that run only when something by a name of its own is called. A function that is handed to
/// another counts as called. `None` for a file that is not parsed whole.
#[must_use]
pub fn called_later(path: &RepoPath, bytes: &[u8]) -> Option<Vec<RangeInclusive<u32>>> {
    let code = Code::of(path, bytes).filter(|code| code.cut.is_none())?;
    let tree = code.tree()?;
    let mut found = Vec::new();
    let mut above: Vec<Node<'_>> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let around = above.last();
        let later = around.is_some_and(|it| is_body(*it, node) && has_name(*it));
        if later {
            found.push(line_of(node)..=end_line_of(node));
        }
        if !next(&mut cursor, !later, &mut above, node) {
            return Some(found);
        }
    }
}

/// The names that a Python file binds whatever happens while it is loaded. `None` for one that binds
/// others too, and for another language.
#[must_use]
pub fn always_bound(path: &RepoPath, bytes: &[u8]) -> Option<BTreeSet<String>> {
    let code = Code::of(path, bytes).filter(|it| it.cut.is_none() && *it.language == PYTHON)?;
    let tree = code.tree()?;
    python::always(tree.root_node(), code.head())
}

// Whether a node is what a function does when it is called, or what a field is when an object is
// built.
fn is_body(parent: Node<'_>, node: Node<'_>) -> bool {
    match parent.kind() {
        "function_definition"
        | "lambda"
        | "function_declaration"
        | "generator_function_declaration"
        | "function_expression"
        | "generator_function"
        | "arrow_function"
        | "method_definition" => is_field(parent, "body", node),
        "public_field_definition" | "field_definition" => {
            let fixed = parent.all().any(|it| it.kind() == "static");
            is_field(parent, "value", node) && !fixed
        }
        _ => false,
    }
}

fn is_field(parent: Node<'_>, field: &str, child: Node<'_>) -> bool {
    parent.field(field) == Some(child)
}

// Whether a function is reached by a name: its own, that of its class, or of what it is given to.
fn has_name(function: Node<'_>) -> bool {
    let mut at = function.parent();
    while let Some(node) = at {
        match node.kind() {
            "class_definition"
            | "class_declaration"
            | "abstract_class_declaration"
            | "variable_declarator" => return true,
            "block" | "class_body" | "decorated_definition" => at = node.parent(),
            "assignment" if is_field(node, "right", function) => return true,
            _ => break,
        }
    }
    function.kind() != "method_definition" && function.field("name").is_some()
}

#[cfg(test)]
mod tests {
    use super::called_later;
    use crate::model::RepoPath;

    #[test]
    fn what_functions_do_waits_until_they_are_called() {
        for (path, text, later) in [
            ("a.py", "class A(Bee):\n    x = Cee\n", &[][..]),
            ("a.py", "def f(x=Bee):\n    return Cee\n", &[2]),
            ("a.py", "class A:\n    def m(self):\n        Bee()\n", &[3]),
            (
                "a.py",
                "f = lambda: (\n    Bee)\ng(lambda:\n    Cee)\n",
                &[1, 2],
            ),
            ("a.py", "g(lambda: Bee)\ndef f():\n    import b\n", &[3]),
            (
                "a.ts",
                "class A extends Bee {\n x =\n new Cee();\n static y = Dee }",
                &[3],
            ),
            ("a.ts", "const f = () =>\n Bee; let x: Cee = f();", &[2]),
            (
                "a.ts",
                "export function f()\n{ Bee() }\nexport { Cee };",
                &[2],
            ),
            (
                "a.ts",
                "on('x', () =>\n Bee)\nexport const o = { Cee };",
                &[],
            ),
        ] {
            let path = RepoPath::new(path).unwrap();
            let found = called_later(&path, text.as_bytes()).unwrap();
            let lines: Vec<u32> = found.into_iter().flatten().collect();
            assert_eq!(lines, later, "{text}");
        }
    }
}
