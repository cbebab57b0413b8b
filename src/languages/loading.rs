use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::facts::Code;
use super::literal::{end_line_of, line_of, next, text_of};
use super::python::{self, PYTHON};
use super::uses::is_field;
use crate::model::RepoPath;

/// What of a file runs while it is loaded.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Loading {
    /// The names that are read then: what stands outside functions, and what stands in those that
    /// are named there themselves.
    pub names: BTreeSet<String>,
    /// First and last lines of function bodies.
    later: Vec<(u32, u32)>,
    // What is read in the bodies of functions and classes, by their names.
    bodies: BTreeMap<String, BTreeSet<String>>,
}

impl Loading {
    /// Whether what stands on a line runs while the file is loaded.
    #[must_use]
    pub fn runs(&self, line: u32) -> bool {
        !self
            .later
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&line))
    }

    // What is read when something of the file is called: in its own body, and in those of the file that are
    // named there.
    fn reads(&self, name: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![name.to_owned()];
        while let Some(name) = open.pop() {
            let named = self.bodies.get(&name).into_iter().flatten();
            open.extend(named.filter(|it| found.insert((*it).clone())).cloned());
        }
        found
    }
}

/// Reads what of a file runs while it is loaded. A function that is handed to another counts as
/// called. `None` for a file that is not parsed whole.
#[must_use]
pub fn loading(path: &RepoPath, bytes: &[u8]) -> Option<Loading> {
    let code = Code::of(path, bytes).filter(|code| code.cut.is_none())?;
    let (tree, text) = (code.tree()?, code.head());
    let mut found = Loading::default();
    // Each node above, and whose body what is in it stands in.
    let mut above: Vec<(Node<'_>, Option<String>)> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let (parent, mut owner) = match above.last() {
            Some((parent, owner)) => (Some(*parent), owner.clone()),
            None => (None, None),
        };
        let erased = is_erased(node, parent, text);
        if !erased {
            if let Some(function) = parent.filter(|it| is_body(*it, node))
                && owner.is_none()
            {
                owner = owner_of(function, text);
                if owner.is_some() {
                    found.later.push((line_of(node), end_line_of(node)));
                }
            }
            if is_name(node, parent) {
                let name = text_of(node, text);
                match &owner {
                    Some(owner) => found.bodies.entry(owner.clone()).or_default().insert(name),
                    None => found.names.insert(name),
                };
            }
        }
        let here = (node, owner);
        if !next(&mut cursor, !erased, &mut above, here) {
            let called: Vec<String> = found.names.iter().cloned().collect();
            for name in called {
                let named = found.reads(&name);
                found.names.extend(named);
            }
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

// Imports bind and do not read; types are gone at run time, as is what only type checkers see.
fn is_erased(node: Node<'_>, parent: Option<Node<'_>>, text: &[u8]) -> bool {
    match node.kind() {
        "import_statement"
        | "import_from_statement"
        | "future_import_statement"
        | "export_clause"
        | "interface_declaration"
        | "type_alias_declaration"
        | "ambient_declaration"
        | "type_annotation"
        | "type_arguments"
        | "type_parameters"
        | "implements_clause" => true,
        "block" => parent.is_some_and(|it| {
            let condition = it.child_by_field_name("condition");
            it.kind() == "if_statement"
                && is_field(it, "consequence", node)
                && condition.is_some_and(|it| text_of(it, text).ends_with("TYPE_CHECKING"))
        }),
        _ => false,
    }
}

fn is_name(node: Node<'_>, parent: Option<Node<'_>>) -> bool {
    match node.kind() {
        "shorthand_property_identifier" => true,
        "identifier" => parent.is_some_and(|parent| match parent.kind() {
            "attribute" => is_field(parent, "object", node),
            "keyword_argument" => is_field(parent, "value", node),
            "assignment" => !is_field(parent, "left", node),
            "function_definition"
            | "class_definition"
            | "function_declaration"
            | "generator_function_declaration"
            | "variable_declarator" => !is_field(parent, "name", node),
            _ => true,
        }),
        _ => false,
    }
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
            let mut cursor = parent.walk();
            let fixed = parent.children(&mut cursor).any(|it| it.kind() == "static");
            is_field(parent, "value", node) && !fixed
        }
        _ => false,
    }
}

// The name that a function is reached by: its own, that of its class, or of what it is given to.
// `None` for one that is handed on.
fn owner_of(function: Node<'_>, text: &[u8]) -> Option<String> {
    let mut at = function.parent();
    while let Some(node) = at {
        match node.kind() {
            "class_definition" | "class_declaration" | "abstract_class_declaration" => {
                return node.child_by_field_name("name").map(|it| text_of(it, text));
            }
            "block" | "class_body" | "decorated_definition" => at = node.parent(),
            "variable_declarator" => {
                return node.child_by_field_name("name").map(|it| text_of(it, text));
            }
            "assignment" if is_field(node, "right", function) => {
                return node.child_by_field_name("left").map(|it| text_of(it, text));
            }
            _ => break,
        }
    }
    function
        .child_by_field_name("name")
        .filter(|_| function.kind() != "method_definition")
        .map(|it| text_of(it, text))
}

#[cfg(test)]
mod tests {
    use super::loading;
    use crate::model::RepoPath;

    #[test]
    fn what_functions_do_waits_until_they_are_called() {
        for (path, text, names, later) in [
            (
                "a.py",
                "class A(Bee):\n    x = Cee\n",
                &["Bee", "Cee"][..],
                &[][..],
            ),
            (
                "a.py",
                "def f(x=Bee):\n    return Cee\n",
                &["Bee"],
                &["Cee"],
            ),
            (
                "a.py",
                "def f():\n    return Cee\ng()\ndef g():\n    f()\n",
                &["Cee", "f"],
                &[],
            ),
            (
                "a.py",
                "class A:\n    def m(self):\n        Bee()\n",
                &[],
                &["Bee"],
            ),
            (
                "a.py",
                "class A:\n    def m(self):\n        Bee()\na = A()\n",
                &["Bee"],
                &[],
            ),
            (
                "a.py",
                "if TYPE_CHECKING:\n    Bee\nelse:\n    Cee\n",
                &["Cee"],
                &["Bee"],
            ),
            (
                "a.py",
                "f = lambda: Bee\ng(lambda: Cee)\n",
                &["Cee"],
                &["Bee"],
            ),
            (
                "a.ts",
                "class A extends Bee { x = new Cee(); static y = Dee }",
                &["Bee", "Dee"],
                &["Cee"],
            ),
            (
                "a.ts",
                "const f = () => Bee; let x: Cee = f();",
                &["Bee"],
                &["Cee"],
            ),
            (
                "a.ts",
                "export function f() { Bee() }\nexport { Cee };",
                &[],
                &["Bee", "Cee"],
            ),
            (
                "a.ts",
                "on('x', () => Bee)\nexport const o = { Cee };",
                &["Bee", "Cee"],
                &[],
            ),
        ] {
            let path = RepoPath::new(path).unwrap();
            let found = loading(&path, text.as_bytes()).unwrap().names;
            assert!(
                names.iter().all(|it| found.contains(*it)),
                "{text} {found:?}"
            );
            assert!(
                !later.iter().any(|it| found.contains(*it)),
                "{text} {found:?}"
            );
        }
        let lines = loading(
            &RepoPath::new("a.py").unwrap(),
            b"import a\ndef f():\n    import b\n",
        );
        let lines = lines.unwrap();
        assert!(lines.runs(1) && !lines.runs(3));
    }
}
