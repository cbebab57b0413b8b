use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::facts::Code;
use super::literal::{end_line_of, line_of, next, text_of};
use super::python::{self, PYTHON};
use super::uses::{is_field, is_word};
use crate::model::{DefinitionKind, FileFacts, RepoPath};

/// What of a file runs while it is loaded.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Loading {
    /// The names that are read then: what stands outside functions, and what stands in those that
    /// are named there themselves.
    pub names: BTreeSet<String>,
    /// It waits for something at its top level.
    pub waits: bool,
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

    /// What is read when something of the file is called: in its own body, and in those of the file
    /// that are named there. `*` for all of them.
    #[must_use]
    pub fn reads(&self, name: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        if name == "*" {
            found.extend(self.bodies.values().flatten().cloned());
            return found;
        }
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
    // Each node above, whose body what is in it stands in, and whether that is in any function.
    let mut above: Vec<(Node<'_>, Option<String>, bool)> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let (parent, mut owner, mut inside) = match above.last() {
            Some((parent, owner, inside)) => (Some(*parent), owner.clone(), *inside),
            None => (None, None, false),
        };
        let erased = is_erased(node, parent, text);
        if !erased {
            if let Some(function) = parent.filter(|it| is_body(*it, node)) {
                inside = true;
                if owner.is_none() {
                    owner = owner_of(function, text);
                    if owner.is_some() {
                        found.later.push((line_of(node), end_line_of(node)));
                    }
                }
            }
            found.waits |= node.kind() == "await_expression" && !inside;
            if is_name(node, parent) {
                let name = text_of(node, text);
                match &owner {
                    Some(owner) => found.bodies.entry(owner.clone()).or_default().insert(name),
                    None => found.names.insert(name),
                };
            }
        }
        let here = (node, owner, inside);
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

/// The functions and classes of a Python file that are called while it is loaded, by its text alone,
/// since a circle has hundreds of files: their names stand before a bracket or behind an `@` where no
/// function is, or in such a one.
#[must_use]
pub fn called(facts: &FileFacts, text: &[u8]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let lines = code_lines(text);
    let mut inside = vec![false; lines.len() + 1];
    for one in &facts.definitions {
        if one.kind == DefinitionKind::Function {
            let body = inside.get_mut(one.line as usize..(one.end_line as usize).min(lines.len()));
            body.unwrap_or_default().fill(true);
        }
    }
    // Outside functions, and a step deeper: what stands in a class.
    let is_early = |at: &usize| {
        let line = lines.get(*at).copied().unwrap_or_default();
        let depth = line
            .iter()
            .take(5)
            .take_while(|byte| byte.is_ascii_whitespace());
        inside.get(*at) == Some(&false) && depth.count() <= 4
    };
    let mut open: Vec<usize> = (0..lines.len()).filter(is_early).collect();
    while let Some(at) = open.pop() {
        for name in calls(lines.get(at).copied().unwrap_or_default()) {
            let mut own = facts
                .definitions
                .iter()
                .filter(|it| it.name == name)
                .peekable();
            if own.peek().is_some() && found.insert(name.to_owned()) {
                let bodies = own.filter(|it| it.kind != DefinitionKind::Variable);
                open.extend(bodies.flat_map(|it| it.line as usize - 1..it.end_line as usize));
            }
        }
    }
    found
}

// The lines of a text; those of long strings and comments are empty.
fn code_lines(text: &[u8]) -> Vec<&[u8]> {
    let quotes = |quote: &'static [u8; 3]| {
        let found = memchr::memmem::find_iter(text, quote);
        found.map(move |at| (at, quote)).collect::<Vec<_>>()
    };
    let mut all = [quotes(b"\"\"\""), quotes(b"'''")].concat();
    all.sort_unstable();
    let mut all = all.into_iter().peekable();
    let mut open: Option<&[u8; 3]> = None;
    let mut lines = Vec::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
        let mut string = open.is_some();
        while let Some((_, quote)) = all.next_if(|(at, _)| *at < end) {
            match open {
                None => open = Some(quote),
                Some(own) if own == quote => open = None,
                Some(_) => {}
            }
            string = true;
        }
        let line = text.get(start..end).unwrap_or_default();
        let comment = line.trim_ascii_start().first() == Some(&b'#');
        lines.push(if string || comment { &[][..] } else { line });
        start = end + 1;
    }
    lines
}

// The words of a line that stand before a bracket or behind an `@`, but for what it defines.
fn calls(line: &[u8]) -> impl Iterator<Item = &str> {
    let text = line.trim_ascii_start();
    let may = memchr::memchr2(b'(', b'@', text).is_some();
    let text = if may { text } else { &[] };
    let defines = [&b"def "[..], b"class ", b"async def "];
    let defines = defines.iter().any(|it| text.starts_with(it));
    let mut words = text
        .split(|byte| !is_word(*byte))
        .filter(|it| !it.is_empty());
    if defines {
        let name = words.position(|it| matches!(it, b"def" | b"class"));
        let _ = name.and_then(|_| words.next());
    }
    words.filter_map(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        let next = text.get(start + word.len());
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        let called = next == Some(&b'(') || before == Some(&b'@');
        called.then(|| std::str::from_utf8(word).ok()).flatten()
    })
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
        let waits = |text: &str| {
            loading(&RepoPath::new("a.mjs").unwrap(), text.as_bytes()).is_some_and(|it| it.waits)
        };
        assert!(waits("await f()\n") && !waits("async function g() { await f() }\n"));
        let lines = loading(
            &RepoPath::new("a.py").unwrap(),
            b"import a\ndef f():\n    import b\n",
        );
        let lines = lines.unwrap();
        assert!(lines.runs(1) && !lines.runs(3));
    }
}
