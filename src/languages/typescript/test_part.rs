use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::languages::literal::{Syntax, text_of};
use crate::languages::test_file::{
    Ends, Imported, Mark, Opened, ScopeKind, TestPart, bodies_in, code_of, is_literal, names_in,
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
            None => plain(node, Vec::new(), None),
        },
        "expression_statement" => expression(node, text),
        "lexical_declaration" | "variable_declaration" => {
            let made = node
                .named()
                .filter(|it| it.kind() == "variable_declarator")
                .flat_map(|one| {
                    let literal = one.field("value").is_some_and(|it| is_literal(it, text));
                    let name = one.field("name");
                    let names = name.map(|it| bound(it, text)).unwrap_or_default();
                    names.into_iter().map(move |name| (name, literal))
                });
            plain(node, made.collect(), None)
        }
        "function_declaration" | "generator_function_declaration" => match node.field("body") {
            Some(body) => TestPart::Scope(Opened {
                kind: ScopeKind::Function,
                name: node.field_text("name", text),
                marks: Vec::new(),
                rows: Vec::new(),
                collects: false,
                body,
                binds: true,
                names: BTreeSet::new(),
                parameters: BTreeSet::new(),
            }),
            None => TestPart::Nothing,
        },
        "class_declaration" => plain(node, vec![(node.field_text("name", text), false)], None),
        "return_statement" | "break_statement" | "continue_statement" => {
            plain(node, Vec::new(), Some(Ends::Here))
        }
        "throw_statement" => plain(node, Vec::new(), Some(Ends::Raises)),
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
            binds: Vec::new(),
        },
        _ => plain(node, Vec::new(), None),
    }
}

fn plain(node: Node<'_>, binds: Vec<(String, bool)>, ends: Option<Ends>) -> TestPart<'_> {
    TestPart::Plain {
        bodies: bodies_in(node, BLOCKS),
        binds,
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

// The names that a pattern binds.
fn bound(pattern: Node<'_>, text: &[u8]) -> BTreeSet<String> {
    let mut found = names_in(pattern, text);
    let mut open = vec![pattern];
    while let Some(node) = open.pop() {
        if node.kind() == "shorthand_property_identifier_pattern" {
            found.insert(text_of(node, text));
        }
        open.extend(node.named());
    }
    found
}

fn imported(node: Node<'_>, text: &[u8]) -> Vec<Imported> {
    let mut found = Vec::new();
    let module = node.field_text("source", text);
    let module = module.trim_matches(['"', '\'']);
    let mut open: Vec<Node<'_>> = node.named().collect();
    while let Some(node) = open.pop() {
        match node.kind() {
            "import_specifier" => {
                let name = node.field_text("name", text);
                let alias = node.field("alias").map(|it| text_of(it, text));
                found.push((
                    alias.unwrap_or_else(|| name.clone()),
                    name,
                    module.to_owned(),
                ));
            }
            "identifier" => {
                let name = text_of(node, text);
                found.push((name.clone(), name, module.to_owned()));
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
    let target = assigned.and_then(|it| it.field("left"));
    let target = target.map(root).filter(|it| it.kind() == "identifier");
    let literal = assigned
        .and_then(|it| it.field("right"))
        .is_some_and(|it| is_literal(it, text));
    let binds = target.map(|it| (text_of(it, text), literal));
    plain(node, binds.into_iter().collect(), None)
}

// What stands before the first dot or bracket.
fn root(mut target: Node<'_>) -> Node<'_> {
    while let Some(inner) = target.field("object") {
        target = inner;
    }
    target
}

// `it('adds', () => { … })` in all its forms.
fn case<'t>(node: Node<'t>, text: &[u8]) -> Option<Opened<'t>> {
    let callee = (node.kind() == "call_expression").then(|| node.field("function"))??;
    let mut case = Opened {
        kind: ScopeKind::Case,
        name: String::new(),
        marks: Vec::new(),
        rows: Vec::new(),
        collects: false,
        body: node,
        binds: false,
        names: BTreeSet::new(),
        parameters: BTreeSet::new(),
    };
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
            let own = ["parameters", "parameter", "name"].map(|it| argument.field(it));
            let own = own.into_iter().flatten();
            case.parameters = own.flat_map(|it| bound(it, text)).collect();
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
                case.rows.extend(rows(arguments, text));
                case.marks.push(modifier("each".to_owned(), true));
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
