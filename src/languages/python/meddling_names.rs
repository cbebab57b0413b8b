use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use super::imports::python_string;
use crate::languages::literal::{Syntax, text_of};
use crate::languages::meddling::read::{MAX_DEPTH, Part, called, sum};
use crate::languages::meddling::words::names_runner;

/// What the names of a Python file stand for, as dotted names of modules and their members.
pub(super) struct Names<'s> {
    text: &'s [u8],
    known: HashMap<String, String>,
    own: HashSet<String>,
    /// Functions and classes that run as the file is loaded.
    pub(super) called: HashSet<String>,
}

/// Built-in names that matter here.
const BUILTINS: &[&str] = &[
    "SystemExit",
    "__import__",
    "compile",
    "delattr",
    "eval",
    "exec",
    "exit",
    "getattr",
    "globals",
    "object",
    "quit",
    "setattr",
    "type",
    "vars",
];

impl<'s> Names<'s> {
    pub(super) fn read(root: Node<'_>, text: &'s [u8]) -> Self {
        let mut names = Self {
            text,
            known: HashMap::new(),
            own: HashSet::new(),
            called: HashSet::new(),
        };
        names.definitions(root, 0);
        // A name may be bound to one that is bound further down.
        for _ in 0..2 {
            names.bindings(root, 0);
        }
        names.called = called(root, text, &|node| names.part(node));
        names
    }

    /// The dotted name behind an expression: `e` after `from os import _exit as e` is `os._exit`.
    pub(super) fn resolve(&self, node: Node<'_>) -> Option<String> {
        self.resolve_at(node, 0)
    }

    fn resolve_at(&self, node: Node<'_>, depth: usize) -> Option<String> {
        if depth > 40 {
            return None;
        }
        let below = |node| self.resolve_at(node, depth + 1);
        match node.kind() {
            "identifier" => {
                let name = text_of(node, self.text);
                if let Some(known) = self.known.get(&name) {
                    return Some(known.clone());
                }
                if name == "__builtins__" {
                    return Some("builtins".to_owned());
                }
                (BUILTINS.contains(&name.as_str()) && !self.own.contains(&name))
                    .then(|| format!("builtins.{name}"))
            }
            "attribute" => {
                let object = below(node.field("object")?)?;
                let name = text_of(node.field("attribute")?, self.text);
                Some(match name.as_str() {
                    "__dict__" => object,
                    _ => format!("{object}.{name}"),
                })
            }
            "subscript" => {
                let object = below(node.field("value")?)?;
                let key = self.string(node.field("subscript")?)?;
                Some(member(&object, &key))
            }
            "call" => self.called_name(node, depth),
            "parenthesized_expression" => below(node.named_child(0)?),
            "named_expression" => below(node.field("value")?),
            _ => None,
        }
    }

    // Calls that give a module or a member of one.
    fn called_name(&self, node: Node<'_>, depth: usize) -> Option<String> {
        let function = self.resolve_at(node.field("function")?, depth + 1)?;
        let arguments = node.field("arguments")?;
        let argument = |at| arguments.named_child(at);
        match function.as_str() {
            "builtins.getattr" => {
                let object = self.resolve_at(argument(0)?, depth + 1)?;
                Some(member(&object, &self.string(argument(1)?)?))
            }
            "builtins.__import__" | "importlib.import_module" | "sys.modules.get" => {
                self.string(argument(0)?)
            }
            "builtins.vars" => self.resolve_at(argument(0)?, depth + 1),
            "builtins.globals" => Some("globals".to_owned()),
            _ => None,
        }
    }

    /// The value of a string, also of one that is put together from literals.
    pub(super) fn string(&self, node: Node<'_>) -> Option<String> {
        match node.kind() {
            "string" => python_string(node, self.text).or_else(|| {
                let raw = text_of(node, self.text);
                let body = raw.trim_start_matches(['b', 'B', 'r', 'R']);
                let quote = body.chars().next().filter(|it| matches!(it, '"' | '\''))?;
                let inner = body.strip_prefix(quote)?.strip_suffix(quote)?;
                (raw.len() > body.len() && inner.is_ascii()).then(|| inner.to_owned())
            }),
            "call" => self.joined(node),
            "parenthesized_expression" => self.string(node.named_child(0)?),
            "concatenated_string" => {
                let parts: Option<Vec<String>> =
                    node.named().map(|part| self.string(part)).collect();
                Some(parts?.concat())
            }
            "binary_operator" => sum(node, |part| self.string(part)),
            _ => None,
        }
    }

    // `"_".join(["A", "B"])`
    fn joined(&self, node: Node<'_>) -> Option<String> {
        let function = node.field("function")?;
        (function.field_text("attribute", self.text) == "join").then_some(())?;
        let between = self.string(function.field("object")?)?;
        let parts = node.field("arguments")?.named_child(0)?;
        matches!(parts.kind(), "list" | "tuple").then_some(())?;
        let parts: Option<Vec<String>> = parts.named().map(|it| self.string(it)).collect();
        Some(parts?.join(&between))
    }

    fn definitions(&mut self, node: Node<'_>, depth: usize) {
        if matches!(node.kind(), "function_definition" | "class_definition")
            && let Some(name) = node.field("name")
        {
            self.own.insert(text_of(name, self.text));
        }
        if matches!(node.kind(), "parameters" | "lambda_parameters") {
            for parameter in node.named() {
                let name = parameter
                    .field("name")
                    .or_else(|| parameter.named_child(0))
                    .unwrap_or(parameter);
                self.own.insert(text_of(name, self.text));
            }
        }
        self.below(node, depth, Self::definitions);
    }

    fn below(&mut self, node: Node<'_>, depth: usize, each: fn(&mut Self, Node<'_>, usize)) {
        if depth < MAX_DEPTH {
            for child in node.named() {
                each(self, child, depth + 1);
            }
        }
    }

    fn bindings(&mut self, node: Node<'_>, depth: usize) {
        match node.kind() {
            "import_statement" | "import_from_statement" => self.import(node),
            "assignment" | "named_expression" => {
                let name = node.field("left").or_else(|| node.field("name"));
                let value = node.field("right").or_else(|| node.field("value"));
                if let (Some(name), Some(value)) = (name, value)
                    && name.kind() == "identifier"
                    && let Some(known) = self.resolve(value)
                {
                    self.known.insert(text_of(name, self.text), known);
                }
                self.below(node, depth, Self::bindings);
            }
            _ => self.below(node, depth, Self::bindings),
        }
    }

    fn import(&mut self, node: Node<'_>) {
        let module = node
            .field("module_name")
            .map(|module| text_of(module, self.text));
        if module
            .as_ref()
            .is_some_and(|module| module.starts_with('.'))
        {
            return;
        }
        let names: Vec<Node<'_>> = node.fields("name").collect();
        for name in names {
            let full = text_of(name.field("name").unwrap_or(name), self.text);
            let alias = name.field("alias").map(|alias| text_of(alias, self.text));
            let (bound, known) = match (&module, alias) {
                (Some(module), alias) => (
                    alias.unwrap_or_else(|| full.clone()),
                    format!("{module}.{full}"),
                ),
                (None, Some(alias)) => (alias, full),
                (None, None) => {
                    let first = full.split('.').next().unwrap_or_default().to_owned();
                    (first.clone(), first)
                }
            };
            self.known.insert(bound, known);
        }
    }

    fn part<'t>(&self, node: Node<'t>) -> Part<'t> {
        match node.kind() {
            "function_definition" => Part::Function(node.field_text("name", self.text), node),
            "lambda" => Part::Later,
            _ if is_main_block(node, self.text) => Part::Later,
            "call" => Part::Calls(node.field("function")),
            "decorator" => Part::Calls(node.named_child(0)),
            _ => Part::Calls(None),
        }
    }
}

fn member(object: &str, key: &str) -> String {
    match object {
        "sys.modules" => key.to_owned(),
        "globals" if key == "__builtins__" => "builtins".to_owned(),
        _ => format!("{object}.{key}"),
    }
}

/// Whether a statement only runs when the file is started: `if __name__ == "__main__":`.
pub(super) fn is_main_block(node: Node<'_>, text: &[u8]) -> bool {
    node.kind() == "if_statement"
        && node.field("condition").is_some_and(|condition| {
            let condition = text_of(condition, text);
            condition.contains("__name__")
                && condition.contains("__main__")
                && condition.contains("==")
        })
}

/// Whether an expression holds the name of the program that was started. `__name__ == "__main__"` does not.
pub(super) fn names_program(expression: &str) -> bool {
    expression.contains("sys.argv[0]")
        || expression.contains("__main__") && expression.contains("__file__")
}

/// Whether a comparison looks for a runner among what tells how a process was started.
pub(super) fn asks_for_runner(comparison: &str) -> bool {
    [
        "sys.modules",
        "sys.argv",
        "argv[",
        ".stack",
        "f_code",
        "co_filename",
        "__main__",
    ]
    .iter()
    .any(|word| comparison.contains(word))
        && names_runner(comparison)
}
