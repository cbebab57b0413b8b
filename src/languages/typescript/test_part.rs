use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::languages::literal::{Syntax, text_of};
use crate::languages::normal_form::code_of;
use crate::languages::test_file::{
    Bound, Ends, Imported, Mark, Opened, ScopeKind, TestPart, bodies_in, names_in, root_of,
};

/// What holds statements.
pub(super) const BLOCKS: &[&str] = &["statement_block"];

const CASES: &[&str] = &["it", "test", "specify", "fit", "xit", "xtest", "ftest"];
const GROUPS: &[&str] = &["describe", "suite", "context", "fdescribe", "xdescribe"];

// Modifiers and options with which all is run and asked.
const HARMLESS: &[&str] = &[
    "concurrency",
    "concurrent",
    "meta",
    "parallel",
    "sequential",
    "serial",
    "tag",
    "tags",
    "timeout",
];

/// What a statement of TypeScript or JavaScript is to a reader of tests.
pub(super) fn test_part<'t>(node: Node<'t>, text: &[u8], _: bool) -> TestPart<'t> {
    match node.kind() {
        "comment"
        | "empty_statement"
        | "hash_bang_line"
        | "interface_declaration"
        | "type_alias_declaration" => TestPart::Nothing,
        "import_statement" => TestPart::Imports(imported(node, text)),
        "export_statement" => match node.field("declaration") {
            Some(declaration) => test_part(declaration, text, false),
            None => plain(node, Vec::new(), None, None),
        },
        "expression_statement" => expression(node, text),
        "lexical_declaration" | "variable_declaration" => {
            let declared = node.named().filter(|it| it.kind() == "variable_declarator");
            let declared: Vec<Node<'t>> = declared.collect();
            let names = declared.iter().filter_map(|it| it.field("name"));
            let names = names.flat_map(|it| names_in(it, text));
            let value = declared.first().and_then(|it| it.field("value"));
            let value = value.filter(|_| declared.len() == 1);
            plain(
                node,
                names.map(|it| (it, Bound::Value)).collect(),
                value,
                None,
            )
        }
        "function_declaration" | "generator_function_declaration" => match node.field("body") {
            Some(body) => TestPart::Scope(Opened {
                parameters: parameters(node, text),
                binds: true,
                ..Opened::new(ScopeKind::Function, node.field_text("name", text), body)
            }),
            None => TestPart::Nothing,
        },
        "class_declaration" => {
            let binds = vec![(node.field_text("name", text), Bound::Value)];
            plain(node, binds, None, None)
        }
        "return_statement" => plain(node, Vec::new(), node.named_child(0), Some(Ends::Here)),
        "break_statement" | "continue_statement" => plain(node, Vec::new(), None, Some(Ends::Here)),
        "throw_statement" => plain(node, Vec::new(), None, Some(Ends::Raises)),
        "statement_block" => TestPart::Compound {
            bodies: vec![node],
            whole: Vec::new(),
            binds: Vec::new(),
        },
        "try_statement" => {
            let body = node.field("body");
            TestPart::Compound {
                bodies: bodies_in(node, BLOCKS),
                whole: node.named().filter(|it| Some(*it) != body).collect(),
                binds: Vec::new(),
            }
        }
        "if_statement" | "for_statement" | "for_in_statement" | "while_statement"
        | "do_statement" | "switch_statement" | "labeled_statement" => TestPart::Compound {
            bodies: branches(node),
            whole: Vec::new(),
            binds: match node.field("left") {
                Some(left) => names_in(left, text)
                    .into_iter()
                    .map(|it| (it, Bound::Value))
                    .collect(),
                None => Vec::new(),
            },
        },
        _ => plain(node, Vec::new(), None, None),
    }
}

fn plain<'t>(
    node: Node<'t>,
    binds: Vec<(String, Bound)>,
    value: Option<Node<'t>>,
    ends: Option<Ends>,
) -> TestPart<'t> {
    TestPart::Plain {
        bodies: bodies_in(node, BLOCKS),
        binds,
        value,
        ends,
    }
}

// Bodies in braces, and statements that stand there without.
fn branches(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    for child in node.named() {
        let is_bare = child.kind().ends_with("_statement")
            && (Some(child) == node.field("consequence") || Some(child) == node.field("body"));
        match child.kind() {
            "statement_block" => found.push(child),
            "else_clause" => {
                let inner = child.named().find(|it| it.kind() != "comment");
                match inner {
                    Some(inner) if inner.kind().ends_with("_statement") => found.push(inner),
                    _ => found.extend(bodies_in(child, BLOCKS)),
                }
            }
            _ if is_bare => found.push(child),
            _ => found.extend(bodies_in(child, BLOCKS)),
        }
    }
    found
}

fn imported(node: Node<'_>, text: &[u8]) -> Vec<Imported> {
    let module = node.field("source").map(|it| text_of(it, text));
    let module = module.unwrap_or_default();
    let module = module.trim_matches(['"', '\'']);
    let mut found = Vec::new();
    let mut add = |name: String, original: String| {
        found.push(Imported {
            name,
            original,
            module: module.to_owned(),
        });
    };
    let mut open: Vec<Node<'_>> = node.named().collect();
    while let Some(node) = open.pop() {
        match node.kind() {
            "import_specifier" => {
                let name = node.field_text("name", text);
                let alias = node.field("alias").map(|it| text_of(it, text));
                add(alias.unwrap_or_else(|| name.clone()), name);
            }
            "identifier" => {
                let name = text_of(node, text);
                add(name.clone(), name);
            }
            _ => open.extend(node.named()),
        }
    }
    found
}

fn expression<'t>(node: Node<'t>, text: &[u8]) -> TestPart<'t> {
    let inner = node.named_child(0);
    if inner.is_some_and(|it| matches!(it.kind(), "string" | "template_string")) {
        return TestPart::Nothing;
    }
    let case = inner.and_then(|it| case(it, text));
    if let Some(case) = case {
        return TestPart::Scope(case);
    }
    let assigned = inner.filter(|it| it.kind() == "assignment_expression");
    let mut binds = Vec::new();
    if let Some(target) = assigned.and_then(|it| it.field("left")) {
        if target.kind() == "member_expression" {
            binds.push((object_of(target.field_text("object", text)), Bound::Part));
        } else if target.kind() == "subscript_expression" {
            binds.extend(root_of(target, text).map(|it| (it, Bound::Element)));
        } else {
            binds.extend(
                names_in(target, text)
                    .into_iter()
                    .map(|it| (it, Bound::Value)),
            );
        }
    }
    binds.extend(inner.and_then(|it| changed_by_call(it, text)));
    plain(node, binds, assigned.and_then(|it| it.field("right")), None)
}

// The name whose value a call changes: `Object.assign(a, …)`, `Object.defineProperty(a, …)`.
fn changed_by_call(node: Node<'_>, text: &[u8]) -> Option<(String, Bound)> {
    let called = (node.kind() == "call_expression").then(|| node.field("function"))??;
    let word = called.field_text("property", text);
    match word.as_str() {
        "assign" | "defineProperty" | "defineProperties" | "setPrototypeOf" | "set"
            if word != "set" || called.field_text("object", text) == "Reflect" =>
        {
            let object = node.field("arguments")?.named_child(0)?;
            Some((object_of(text_of(object, text)), Bound::Part))
        }
        "splice" | "pop" | "shift" => {
            Some((root_of(called.field("object")?, text)?, Bound::Element))
        }
        _ => None,
    }
}

// A class is what its prototype makes.
fn object_of(said: String) -> String {
    match said.strip_suffix(".prototype") {
        Some(class) => class.to_owned(),
        None => said,
    }
}

fn parameters<'t>(function: Node<'t>, text: &[u8]) -> Vec<(Node<'t>, BTreeSet<String>)> {
    let all = function
        .field("parameters")
        .into_iter()
        .flat_map(Syntax::named);
    let all = all.filter(|it| it.kind() != "comment");
    let own = function.field("name").filter(|_| is_function(function));
    let all = all.chain(own);
    let named = all.map(|it| (it, names_in(it.field("pattern").unwrap_or(it), text)));
    named.collect()
}

// `it('adds', () => { … })` in all its forms.
fn case<'t>(node: Node<'t>, text: &[u8]) -> Option<Opened<'t>> {
    let callee = (node.kind() == "call_expression").then(|| node.field("function"))??;
    let mut case = Opened::new(ScopeKind::Case, String::new(), node);
    let root = chain(callee, text, &mut case)?;
    if GROUPS.contains(&root.as_str()) {
        case.kind = ScopeKind::Group;
    } else if !CASES.contains(&root.as_str()) {
        return None;
    }
    match root.strip_prefix(['x', 'f']) {
        Some(_) if root.starts_with('x') => case.marks.push(modifier("skip".to_owned(), true)),
        Some(_) => case.marks.push(modifier("only".to_owned(), true)),
        None => {}
    }
    let arguments = node.field("arguments")?;
    let mut given = arguments.named().filter(|it| it.kind() != "comment");
    let title = given.next().filter(|it| !is_function(*it))?;
    case.name = code_of(title, text);
    let mut body = None;
    for argument in given {
        if is_function(argument) {
            body = argument.field("body");
            case.parameters = parameters(argument, text);
            continue;
        }
        match argument.kind() {
            "number" => {}
            "object" => case.marks.extend(argument.named().map(|entry| {
                let key = entry.field_text("key", text);
                modifier(code_of(entry, text), !HARMLESS.contains(&key.as_str()))
            })),
            _ => case.marks.push(modifier(code_of(argument, text), true)),
        }
    }
    case.body = body?;
    case.collects = case.kind == ScopeKind::Group && case.marks.iter().all(|it| !it.loosens);
    Some(case)
}

fn is_function(node: Node<'_>) -> bool {
    matches!(node.kind(), "arrow_function" | "function_expression")
}

fn modifier(code: String, loosens: bool) -> Mark {
    Mark {
        code,
        root: String::new(),
        loosens,
    }
}

// The name that a callee begins with; what follows are modifiers and rows.
fn chain(callee: Node<'_>, text: &[u8], case: &mut Opened<'_>) -> Option<String> {
    match callee.kind() {
        "identifier" => Some(text_of(callee, text)),
        "member_expression" => {
            let root = chain(callee.field("object")?, text, case)?;
            let word = callee.field_text("property", text);
            match word.as_str() {
                "describe" | "suite" => case.kind = ScopeKind::Group,
                "each" | "for" => {}
                _ => {
                    let loosens = !HARMLESS.contains(&word.as_str());
                    case.marks.push(modifier(word, loosens));
                }
            }
            Some(root)
        }
        "call_expression" => {
            let function = callee.field("function")?;
            let root = chain(function, text, case)?;
            let arguments = callee.field("arguments")?;
            if function.field_text("property", text) == "each"
                || function.field_text("property", text) == "for"
            {
                case.names.extend(names_in(arguments, text));
                case.rows.push("=".to_owned());
                case.rows.extend(rows(arguments, text));
            } else {
                case.marks.push(modifier(code_of(arguments, text), true));
            }
            Some(root)
        }
        _ => None,
    }
}

fn rows(arguments: Node<'_>, text: &[u8]) -> Vec<String> {
    if arguments.kind() == "template_string" {
        let said = text_of(arguments, text);
        let lines = said.lines().map(|line| line.split_whitespace().collect());
        return lines.collect();
    }
    let table = arguments.named().find(|it| it.kind() != "comment");
    let mut table = table.filter(|it| it.kind() != "comment");
    while let Some(inner) = table.filter(|it| it.kind() == "as_expression") {
        table = inner.named_child(0);
    }
    match table {
        Some(table) if table.kind() == "array" => {
            let rows = table.named().filter(|it| it.kind() != "comment");
            rows.map(|row| code_of(row, text)).collect()
        }
        _ => vec![code_of(arguments, text)],
    }
}
