use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use super::imports::script_string;
use crate::languages::literal::{Syntax, text_of};
use crate::languages::meddling::read::{MAX_DEPTH, Part, called, sum};

/// What the names of a script stand for, as dotted names of modules, globals and their members. The
/// global object itself is the empty name.
pub(super) struct Names<'s> {
    text: &'s [u8],
    known: HashMap<String, String>,
    own: HashSet<String>,
    /// Functions and classes that run as the file is loaded.
    pub(super) called: HashSet<String>,
}

/// Names of the language that matter here.
const GLOBALS: &[&str] = &[
    "Array", "Date", "Error", "Function", "JSON", "Map", "Number", "Object", "Promise", "Reflect",
    "RegExp", "Set", "String", "Symbol", "console", "eval", "module", "process", "require",
];

impl<'s> Names<'s> {
    pub(super) fn read(root: Node<'_>, text: &'s [u8]) -> Self {
        let mut names = Self {
            text,
            known: HashMap::new(),
            own: HashSet::new(),
            called: HashSet::new(),
        };
        // A name may be bound to one that is bound further down.
        for _ in 0..2 {
            names.bindings(root, 0);
        }
        names.called = called(root, text, &|node| names.part(node));
        names
    }

    /// Whether the file binds the name itself.
    pub(super) fn is_own(&self, name: &str) -> bool {
        self.own.contains(name)
    }

    /// The dotted name behind an expression: `e` after `const {exit: e} = process` is `process.exit`.
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
                if self.own.contains(&name) {
                    return None;
                }
                match name.as_str() {
                    "globalThis" | "global" | "window" | "self" => Some(String::new()),
                    _ => GLOBALS.contains(&name.as_str()).then_some(name),
                }
            }
            "member_expression" => {
                let object = below(node.field("object")?)?;
                let name = text_of(node.field("property")?, self.text);
                Some(member(&object, &name))
            }
            "subscript_expression" => {
                let object = below(node.field("object")?)?;
                Some(member(&object, &self.string(node.field("index")?)?))
            }
            "call_expression" => self.called_name(node, depth),
            "parenthesized_expression"
            | "await_expression"
            | "non_null_expression"
            | "as_expression"
            | "satisfies_expression" => below(node.named_child(0)?),
            "type_assertion" | "sequence_expression" => below(last(node)?),
            "assignment_expression" => below(node.field("right")?),
            _ => None,
        }
    }

    // Calls that give a module or a member of one.
    fn called_name(&self, node: Node<'_>, depth: usize) -> Option<String> {
        let callee = node.field("function")?;
        let arguments = node.field("arguments")?;
        let first = arguments.named_child(0);
        if callee.kind() == "import" {
            return Some(module_name(&self.string(first?)?));
        }
        let name = self.resolve_at(callee, depth + 1)?;
        match name.as_str() {
            "require" | "module.require" | "process.getBuiltinModule" => {
                Some(module_name(&self.string(first?)?))
            }
            "Reflect.get" => {
                let object = self.resolve_at(first?, depth + 1)?;
                Some(member(&object, &self.string(arguments.named_child(1)?)?))
            }
            _ => name.strip_suffix(".bind").map(str::to_owned),
        }
    }

    /// The value of a string, also of one that is put together from literals.
    pub(super) fn string(&self, node: Node<'_>) -> Option<String> {
        match node.kind() {
            "string" | "template_string" => script_string(node, self.text),
            "parenthesized_expression" => self.string(node.named_child(0)?),
            "binary_expression" => sum(node, |part| self.string(part)),
            _ => None,
        }
    }

    fn bindings(&mut self, node: Node<'_>, depth: usize) {
        match node.kind() {
            "import_statement" => return self.import(node),
            "variable_declarator" => {
                let value = node.field("value");
                let known = value.and_then(|value| self.resolve(value));
                if let Some(name) = node.field("name") {
                    self.bind(name, known.as_deref());
                }
            }
            "assignment_expression" => {
                let left = node.field("left");
                let right = node.field("right").and_then(|it| self.resolve(it));
                if let (Some(left), Some(known)) =
                    (left.filter(|it| it.kind() == "identifier"), right)
                {
                    self.known.insert(text_of(left, self.text), known);
                }
            }
            "function_declaration" | "class_declaration" | "generator_function_declaration" => {
                if let Some(name) = node.field("name") {
                    self.own.insert(text_of(name, self.text));
                }
            }
            "formal_parameters" => self.parameters(node),
            "arrow_function" => {
                if let Some(parameter) = node.field("parameter") {
                    self.own.insert(text_of(parameter, self.text));
                }
            }
            "call_expression" => self.promised(node),
            _ => {}
        }
        if depth < MAX_DEPTH {
            for child in node.named() {
                self.bindings(child, depth + 1);
            }
        }
    }

    fn parameters(&mut self, node: Node<'_>) {
        for parameter in node.named() {
            let pattern = parameter.field("pattern").unwrap_or(parameter);
            if pattern.kind() == "identifier" {
                self.own.insert(text_of(pattern, self.text));
            }
        }
    }

    // `import('process').then((p) => …)` binds `p`.
    fn promised(&mut self, node: Node<'_>) {
        let parts = || {
            let callee = node.field("function")?;
            let property = callee.field("property")?;
            (text_of(property, self.text) == "then").then_some(())?;
            let known = self.resolve(callee.field("object")?)?;
            let handler = node.field("arguments")?.named_child(0)?;
            let parameter = handler.field("parameter").or_else(|| {
                let first = handler.field("parameters")?.named_child(0)?;
                Some(first.field("pattern").unwrap_or(first))
            })?;
            Some((parameter, known))
        };
        if let Some((parameter, known)) = parts() {
            self.bind(parameter, Some(&known));
        }
    }

    fn bind(&mut self, pattern: Node<'_>, known: Option<&str>) {
        match pattern.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => {
                let name = text_of(pattern, self.text);
                match known {
                    Some(known) => {
                        self.known.insert(name, known.to_owned());
                    }
                    None => {
                        self.own.insert(name);
                    }
                }
            }
            "object_pattern" => {
                for part in pattern.named() {
                    let (key, inner) = match part.kind() {
                        "pair_pattern" => (part.field("key"), part.field("value")),
                        "object_assignment_pattern" => {
                            let left = part.field("left");
                            (left, left)
                        }
                        _ => (Some(part), Some(part)),
                    };
                    let (Some(key), Some(inner)) = (key, inner) else {
                        continue;
                    };
                    let inner = inner.field("left").unwrap_or(inner);
                    let key = self.string(key).unwrap_or_else(|| text_of(key, self.text));
                    let name = known.map(|known| member(known, &key));
                    self.bind(inner, name.as_deref());
                }
            }
            "array_pattern" => {
                for part in pattern.named() {
                    self.bind(part, None);
                }
            }
            _ => {}
        }
    }

    fn import(&mut self, node: Node<'_>) {
        let Some(module) = node
            .field("source")
            .and_then(|source| self.string(source))
            .map(|module| module_name(&module))
        else {
            return;
        };
        let is_outside = !module.starts_with('.');
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            for child in node.named() {
                match child.kind() {
                    "import_clause" | "named_imports" => open.push(child),
                    "identifier" => self.bind(child, is_outside.then_some(&module)),
                    "namespace_import" => {
                        if let Some(name) = child.named_child(0) {
                            self.bind(name, is_outside.then_some(&module));
                        }
                    }
                    "import_specifier" => {
                        let Some(name) = child.field("name") else {
                            continue;
                        };
                        let bound = child.field("alias").unwrap_or(name);
                        let name = self
                            .string(name)
                            .unwrap_or_else(|| text_of(name, self.text));
                        let known = match name.as_str() {
                            "default" => module.clone(),
                            _ => format!("{module}.{name}"),
                        };
                        self.bind(bound, is_outside.then_some(known.as_str()));
                    }
                    _ => {}
                }
            }
        }
    }

    fn part<'t>(&self, node: Node<'t>) -> Part<'t> {
        let named = match node.kind() {
            "function_declaration" | "generator_function_declaration" => Some(node),
            "variable_declarator" => node.field("value").filter(|value| is_function(*value)),
            _ => None,
        };
        if let Some((name, function)) = node.field("name").zip(named) {
            return Part::Function(text_of(name, self.text), function);
        }
        match node.kind() {
            _ if is_function(node) && !is_called_at_once(node) => Part::Later,
            "call_expression" => Part::Calls(node.field("function")),
            "new_expression" => Part::Calls(node.field("constructor")),
            _ => Part::Calls(None),
        }
    }
}

pub(super) fn is_function(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "arrow_function"
            | "function_expression"
            | "function_declaration"
            | "generator_function"
            | "generator_function_declaration"
            | "method_definition"
    )
}

/// Whether a function is handed to something that runs it at once or soon, or as the process ends.
pub(super) fn runs_soon(function: Node<'_>, text: &[u8]) -> bool {
    let call = function
        .parent()
        .filter(|above| above.kind() == "arguments")
        .and_then(|above| above.parent());
    let Some(call) = call else {
        return false;
    };
    if call.kind() == "new_expression" {
        return call
            .field("constructor")
            .is_some_and(|made| text_of(made, text) == "Promise");
    }
    let Some(callee) = call.field("function") else {
        return false;
    };
    let said = text_of(callee, text);
    let method = callee_property(callee, text).unwrap_or(said.clone());
    if LISTENS.contains(&method.as_str()) && said.starts_with("process") {
        let event = call
            .field("arguments")
            .and_then(|arguments| arguments.named_child(0))
            .and_then(|event| script_string(event, text));
        return matches!(
            event.as_deref(),
            Some("exit" | "beforeExit" | "uncaughtException" | "unhandledRejection")
        );
    }
    RUNS_SOON.contains(&method.as_str()) || said == "Reflect.apply"
}

// What runs the functions it is given at once or soon, without anybody's doing.
const RUNS_SOON: &[&str] = &[
    "catch",
    "every",
    "filter",
    "finally",
    "find",
    "forEach",
    "map",
    "nextTick",
    "queueMicrotask",
    "reduce",
    "setImmediate",
    "setInterval",
    "setTimeout",
    "some",
    "then",
];

/// Methods that have a function called on an event.
pub(super) const LISTENS: &[&str] = &[
    "on",
    "once",
    "addListener",
    "prependListener",
    "prependOnceListener",
];

/// The property that a call is made by: `call` of `a.b.call(c)`.
pub(super) fn callee_property(callee: Node<'_>, text: &[u8]) -> Option<String> {
    Some(text_of(callee.field("property")?, text))
}

/// Whether a function is called where it stands: `(() => { … })()`.
pub(super) fn is_called_at_once(node: Node<'_>) -> bool {
    let mut inner = node;
    while let Some(above) = inner.parent() {
        match above.kind() {
            // The last is `(function () { … }).call(this)`.
            "parenthesized_expression" | "unary_expression" | "member_expression" => inner = above,
            "call_expression" => return above.field("function") == Some(inner),
            _ => return false,
        }
    }
    false
}

/// The name of a module, the same for `node:x` and `x`; `node:test` has no other.
fn module_name(specifier: &str) -> String {
    match specifier.strip_prefix("node:") {
        Some("test") => specifier.to_owned(),
        Some(rest) => rest.replace("/strict", ""),
        None if specifier == "assert/strict" => "assert".to_owned(),
        None => specifier.to_owned(),
    }
}

fn member(object: &str, key: &str) -> String {
    match (object, key) {
        ("", "globalThis" | "global" | "window" | "self") => String::new(),
        ("", _) => key.to_owned(),
        ("Reflect", "apply") => "Reflect.apply".to_owned(),
        // The default export and the class of `module` are the module itself, and what is called
        // by way of `call` is the function.
        (_, "default" | "call" | "apply") | ("module", "Module") => object.to_owned(),
        _ => format!("{object}.{key}"),
    }
}

fn last(node: Node<'_>) -> Option<Node<'_>> {
    node.named_child(
        u32::try_from(node.named_child_count())
            .ok()?
            .checked_sub(1)?,
    )
}
