use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::languages::literal::{Syntax, text_of};
use crate::languages::normal_form::code_of;
use crate::languages::test_file::{
    Bound, Ends, Imported, Mark, Opened, ScopeKind, TestPart, bodies_in, names_in, root_of,
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

// Marks of pytest that say neither whether nor what a test asks.
const HARMLESS: &[&str] = &[
    "anyio",
    "asyncio",
    "django_db",
    "filterwarnings",
    "timeout",
    "trio",
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
                "delete_statement" => deleted(node, text),
                _ => Vec::new(),
            },
            value: node.named_child(0).filter(|_| kind == "return_statement"),
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
    let mut names = BTreeSet::new();
    if let Some(target) = node.field("left") {
        names.extend(names_in(target, text));
    }
    let heads = node.named().filter(|it| !bodies.contains(it));
    let mut open: Vec<Node<'t>> = heads.collect();
    while let Some(node) = open.pop() {
        match node.kind() {
            "as_pattern_target" => names.extend(names_in(node, text)),
            "named_expression" => names.extend(node.field("name").map(|it| text_of(it, text))),
            _ => {}
        }
        open.extend(node.named().filter(|it| !bodies.contains(it)));
    }
    TestPart::Compound {
        bodies,
        whole,
        binds: names.into_iter().map(|it| (it, Bound::Value)).collect(),
    }
}

fn deleted(node: Node<'_>, text: &[u8]) -> Vec<(String, Bound)> {
    let parts = node.named().any(|it| it.kind() == "subscript");
    let bound = if parts { Bound::Element } else { Bound::Value };
    let names = names_in(node, text).into_iter();
    names.map(|it| (it, bound)).collect()
}

fn expression<'t>(node: Node<'t>, text: &[u8]) -> TestPart<'t> {
    let inner = node.named_child(0);
    let kind = inner.map_or("", |it| it.kind());
    if matches!(kind, "string" | "concatenated_string") && node.named_child_count() == 1 {
        return TestPart::Nothing;
    }
    let mut value = inner.and_then(|it| it.field("right"));
    let mut binds = match inner.and_then(|it| it.field("left")) {
        Some(target) => targets(target, text),
        None => Vec::new(),
    };
    let walruses = bodies_in(node, &["named_expression"]).into_iter();
    let walruses = walruses.filter_map(|it| it.field("name"));
    binds.extend(walruses.map(|it| (text_of(it, text), Bound::Value)));
    binds.extend(inner.and_then(|it| changed_by_call(it, text)));
    if kind == "augmented_assignment" {
        value = None;
    }
    if kind == "yield" {
        value = inner.and_then(|it| it.named_child(0));
    }
    TestPart::Plain {
        bodies: Vec::new(),
        binds,
        value,
        ends: (kind == "yield").then_some(Ends::Whole),
    }
}

// What is assigned to: names, and of `a.b` and `a[b]` a part of `a`; of `self.a` the name `a`.
fn targets(target: Node<'_>, text: &[u8]) -> Vec<(String, Bound)> {
    match target.kind() {
        "subscript" => {
            let root = root_of(target, text).into_iter();
            root.map(|it| (it, Bound::Element)).collect()
        }
        "attribute" => {
            let object = target.field_text("object", text);
            let name = target.field_text("attribute", text);
            match object.as_str() {
                "self" | "cls" => vec![(name, Bound::Value)],
                _ => vec![(object, Bound::Part)],
            }
        }
        _ => {
            let names = names_in(target, text).into_iter();
            names.map(|it| (it, Bound::Value)).collect()
        }
    }
}

// The name whose value a call changes: `a.update(…)`, `setattr(a, …)`, `monkeypatch.setitem(a, …)`.
fn changed_by_call(node: Node<'_>, text: &[u8]) -> Option<(String, Bound)> {
    let called = (node.kind() == "call").then(|| node.field("function"))??;
    let word = text_of(called.field("attribute").unwrap_or(called), text);
    match word.as_str() {
        "update" | "clear" | "pop" | "popitem" | "setdefault" | "append" | "extend" | "insert"
        | "remove" | "sort" | "reverse" | "discard" | "setitem" | "delitem" => {
            let object = match word.as_str() {
                "setitem" | "delitem" => node.field("arguments")?.named_child(0)?,
                _ => called.field("object")?,
            };
            Some((root_of(object, text)?, Bound::Element))
        }
        "setattr" | "delattr" | "object" => {
            let object = node.field("arguments")?.named_child(0)?;
            Some((text_of(object, text), Bound::Part))
        }
        _ => None,
    }
}

fn imported(node: Node<'_>, text: &[u8]) -> Vec<Imported> {
    let from = node.field_text("module_name", text);
    let one = |name: String, original: String| Imported {
        module: if from.is_empty() {
            original.clone()
        } else {
            from.clone()
        },
        name,
        original,
    };
    if node.named().any(|it| it.kind() == "wildcard_import") {
        return vec![one("*".to_owned(), "*".to_owned())];
    }
    let names = node.fields("name").map(|name| {
        let full = text_of(name.field("name").unwrap_or(name), text);
        match name.field("alias") {
            Some(alias) => one(text_of(alias, text), full),
            None => one(full.split('.').next().unwrap_or_default().to_owned(), full),
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
    let decorators = decorators.filter(|it| it.kind() == "decorator");
    let decorators: Vec<Node<'t>> = decorators.collect();
    let runs_async = |it: &Node<'_>| {
        let said = text_of(*it, text);
        ["asyncio", "anyio", "trio"]
            .iter()
            .any(|word| said.contains(word))
    };
    if node.all().any(|it| it.kind() == "async") && !decorators.iter().any(runs_async) {
        marks.push(Mark {
            code: "async".to_owned(),
            root: String::new(),
            loosens: true,
        });
    }
    for decorator in &decorators {
        let Some(what) = decorator.named_child(0) else {
            continue;
        };
        let called = what.field("function").unwrap_or(what);
        let dotted = text_of(called, text);
        if dotted.ends_with("parametrize") {
            rows.extend(parametrized(what, text, &mut names));
            continue;
        }
        let words = dotted.split(['.', '_']).map(str::to_ascii_lowercase);
        let loosens = words.clone().any(|it| LOOSENING.contains(&it.as_str()))
            || LOOSENING.contains(&dotted.rsplit('.').next().unwrap_or_default());
        let root = dotted.split('.').next().unwrap_or_default();
        let is_mark = dotted.starts_with("pytest.mark.");
        let is_harmless = HARMLESS.contains(&dotted.rsplit('.').next().unwrap_or_default());
        marks.push(Mark {
            code: code_of(what, text),
            root: if is_mark {
                String::new()
            } else {
                root.to_owned()
            },
            loosens: loosens || is_mark && !is_harmless,
        });
    }
    let parameters = node.field("parameters").into_iter().flat_map(Syntax::named);
    let parameters = parameters.map(|it| {
        let name = it.field("name").unwrap_or(it);
        (it, names_in(name, text))
    });
    TestPart::Scope(Opened {
        parameters: parameters.collect(),
        decorators,
        kind,
        name,
        marks,
        rows,
        collects,
        body,
        binds: true,
        names,
    })
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
    let head = format!("={filled}");
    let Some(values) = given(1, "argvalues") else {
        return Vec::new();
    };
    names.extend(names_in(values, text));
    if matches!(values.kind(), "list" | "tuple" | "set") {
        let rows = values.named().filter(|it| it.kind() != "comment");
        let rows: Vec<String> = rows
            .map(|row| format!("{filled}{}", code_of(row, text)))
            .collect();
        [vec![head], rows].concat()
    } else {
        vec![head, format!("{filled}{}", code_of(values, text))]
    }
}
