use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::languages::literal::{Syntax, text_of};
use crate::languages::test_file::{
    Ends, Imported, Mark, Opened, ScopeKind, TestPart, bodies_in, code_of, is_literal, names_in,
};

/// What holds statements.
pub(super) const BLOCKS: &[&str] = &["block"];

// Decorators that make of a test something else, or let it run otherwise than once and as it is.
const LOOSENING: &[&str] = &[
    "expectedfailure",
    "fixture",
    "flaky",
    "rerun",
    "reruns",
    "repeat",
    "retry",
    "skip",
    "skipif",
    "skipunless",
    "xfail",
];

// Methods that change what they are called on.
const CHANGING: &[&str] = &[
    "append",
    "clear",
    "extend",
    "insert",
    "pop",
    "popitem",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "update",
];

/// What a statement of Python is to a reader of tests.
pub(super) fn test_part<'t>(node: Node<'t>, text: &[u8], in_function: bool) -> TestPart<'t> {
    match node.kind() {
        "comment" => TestPart::Nothing,
        "import_statement" | "import_from_statement" | "future_import_statement" => {
            TestPart::Imports(imported(node, text))
        }
        "decorated_definition" => match node.field("definition") {
            Some(definition) => defined(definition, Some(node), text, in_function),
            None => TestPart::Nothing,
        },
        "function_definition" | "class_definition" => defined(node, None, text, in_function),
        "if_statement" | "for_statement" | "while_statement" | "with_statement"
        | "match_statement" => compound(node, text, Vec::new()),
        "try_statement" => {
            let body = node.field("body");
            let rest = node.named().filter(|it| Some(*it) != body);
            compound(node, text, rest.collect())
        }
        "expression_statement" => expression(node, text),
        kind => TestPart::Plain {
            bodies: Vec::new(),
            binds: match kind {
                "delete_statement" | "global_statement" => names_in(node, text)
                    .into_iter()
                    .map(|it| (it, false))
                    .collect(),
                _ => Vec::new(),
            },
            ends: match kind {
                "return_statement" | "continue_statement" | "break_statement" => Some(Ends::Here),
                "raise_statement" => Some(Ends::Raises),
                _ => None,
            },
        },
    }
}

fn compound<'t>(node: Node<'t>, text: &[u8], whole: Vec<Node<'t>>) -> TestPart<'t> {
    let bodies = bodies_in(node, BLOCKS);
    let mut names = node
        .field("left")
        .map(|it| names_in(it, text))
        .unwrap_or_default();
    let mut open: Vec<Node<'_>> = node.named().filter(|it| !bodies.contains(it)).collect();
    while let Some(node) = open.pop() {
        match node.kind() {
            "as_pattern_target" => names.extend(names_in(node, text)),
            "named_expression" => names.extend([node.field_text("name", text)]),
            _ => {}
        }
        open.extend(node.named().filter(|it| !bodies.contains(it)));
    }
    TestPart::Compound {
        bodies,
        whole,
        binds: names.into_iter().map(|it| (it, false)).collect(),
    }
}

fn expression<'t>(node: Node<'t>, text: &[u8]) -> TestPart<'t> {
    let inner = node.named_child(0);
    let kind = inner.map_or("", |it| it.kind());
    if matches!(kind, "string" | "concatenated_string") && node.named_child_count() == 1 {
        return TestPart::Nothing;
    }
    let target = inner.and_then(|it| it.field("left"));
    let value = inner.and_then(|it| it.field("right"));
    let literal = kind == "assignment" && value.is_some_and(|it| is_literal(it, text));
    let names = match (target, inner) {
        (Some(target), _) => match root(target) {
            Some(root) => names_in(root, text),
            None => names_in(target, text),
        },
        (None, Some(call)) => changed_by(call, text),
        (None, None) => BTreeSet::new(),
    };
    TestPart::Plain {
        bodies: Vec::new(),
        binds: names.into_iter().map(|it| (it, literal)).collect(),
        ends: (kind == "yield").then_some(Ends::Whole),
    }
}

// What stands before the first dot or bracket of a target that is no name.
fn root(target: Node<'_>) -> Option<Node<'_>> {
    let mut at = match target.kind() {
        "attribute" => target.field("object")?,
        "subscript" => target.field("value")?,
        _ => return None,
    };
    while let Some(inner) = root(at) {
        at = inner;
    }
    Some(at)
}

// The name whose value a call such as `ORDER.update(…)` changes.
fn changed_by(call: Node<'_>, text: &[u8]) -> BTreeSet<String> {
    let called = call.field("function").filter(|it| it.kind() == "attribute");
    // Where modules are found is no value that is compared.
    let called = called.filter(|it| it.field_text("object", text) != "sys.path");
    let called = called.filter(|it| CHANGING.contains(&it.field_text("attribute", text).as_str()));
    let root = called.and_then(root).filter(|it| it.kind() == "identifier");
    root.map(|it| names_in(it, text)).unwrap_or_default()
}

fn imported(node: Node<'_>, text: &[u8]) -> Vec<Imported> {
    let module = node.field_text("module_name", text);
    if node.named().any(|it| it.kind() == "wildcard_import") {
        let all = "*".to_owned();
        return vec![(all.clone(), all, module)];
    }
    let names = node.fields("name").map(|name| {
        let full = text_of(name.field("name").unwrap_or(name), text);
        let from = if module.is_empty() {
            full.clone()
        } else {
            module.clone()
        };
        match name.field("alias") {
            Some(alias) => (text_of(alias, text), full, from),
            None => (
                full.split('.').next().unwrap_or_default().to_owned(),
                full,
                from,
            ),
        }
    });
    names.collect()
}

fn defined<'t>(
    node: Node<'t>,
    decorated: Option<Node<'t>>,
    text: &[u8],
    in_function: bool,
) -> TestPart<'t> {
    let Some(body) = node.field("body") else {
        return TestPart::Nothing;
    };
    let name = node.field_text("name", text);
    let is_class = node.kind() == "class_definition";
    let kind = if is_class {
        ScopeKind::Group
    } else if name.starts_with("test") && !in_function {
        ScopeKind::Case
    } else {
        ScopeKind::Function
    };
    let above = node.field_text("superclasses", text);
    let collects =
        is_class && (name.starts_with("Test") || above.contains("Test") || above.contains("Case"));
    let (mut marks, mut rows, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
    let decorators = decorated.into_iter().flat_map(Syntax::named);
    for decorator in decorators.filter(|it| it.kind() == "decorator") {
        let Some(what) = decorator.named_child(0) else {
            continue;
        };
        let called = what.field("function").unwrap_or(what);
        let dotted = text_of(called, text);
        if dotted.ends_with("parametrize") {
            rows.extend(parametrized(what, text, &mut names));
            // No rows at all are a skip, and a row may bring what the test has by import.
            let filled = what.field("arguments").and_then(|it| it.named_child(0));
            marks.push(Mark {
                code: format!(
                    "parametrize {}",
                    filled.map_or_else(String::new, |it| code_of(it, text))
                ),
                root: String::new(),
                loosens: true,
            });
            continue;
        }
        let words = dotted.split(['.', '_']).map(str::to_ascii_lowercase);
        let loosens = words.clone().any(|it| LOOSENING.contains(&it.as_str()))
            || LOOSENING.contains(&dotted.rsplit('.').next().unwrap_or_default());
        let root = dotted.split('.').next().unwrap_or_default();
        marks.push(Mark {
            code: code_of(what, text),
            root: if dotted.starts_with("pytest.mark.") {
                String::new()
            } else {
                root.to_owned()
            },
            loosens,
        });
    }
    TestPart::Scope(Opened {
        kind,
        name,
        marks,
        rows,
        collects,
        body,
        binds: true,
        names,
        parameters: node
            .field("parameters")
            .map(|it| parameters(it, text))
            .unwrap_or_default(),
    })
}

// The names that a function gets, their defaults and types aside.
fn parameters(node: Node<'_>, text: &[u8]) -> BTreeSet<String> {
    let names = node.named().filter_map(|it| match it.kind() {
        "identifier" => Some(it),
        _ => it.field("name").or_else(|| it.named_child(0)),
    });
    names.flat_map(|it| names_in(it, text)).collect()
}

// Each row with the names that it fills; one where the rows are not written down here.
fn parametrized(call: Node<'_>, text: &[u8], names: &mut BTreeSet<String>) -> Vec<String> {
    let Some(arguments) = call.field("arguments") else {
        return Vec::new();
    };
    let given = |at: usize, key: &str| {
        let mut plain = arguments
            .named()
            .filter(|it| !matches!(it.kind(), "keyword_argument" | "comment"));
        plain.nth(at).or_else(|| {
            let mut keyed = arguments
                .named()
                .filter(|it| it.kind() == "keyword_argument");
            keyed
                .find(|it| it.field_text("name", text) == key)?
                .field("value")
        })
    };
    let filled = given(0, "argnames").map_or_else(String::new, |it| code_of(it, text));
    let Some(values) = given(1, "argvalues") else {
        return Vec::new();
    };
    names.extend(names_in(values, text));
    if matches!(values.kind(), "list" | "tuple" | "set") {
        let rows = values.named().filter(|it| it.kind() != "comment");
        rows.map(|row| format!("{filled}{}", code_of(row, text)))
            .collect()
    } else {
        vec![format!("{filled}{}", code_of(values, text))]
    }
}
