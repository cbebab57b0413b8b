use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::languages::literal::{Syntax, text_of};
use crate::languages::test_file::{
    Ends, Mark, Opened, ScopeKind, TestPart, bodies_in, code_of, is_literal, names_in,
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
        | "match_statement" => compound(node, Vec::new()),
        "try_statement" => {
            let body = node.field("body");
            let rest = node.named().filter(|it| Some(*it) != body);
            compound(node, rest.collect())
        }
        "expression_statement" => expression(node, text),
        kind => TestPart::Plain {
            bodies: Vec::new(),
            binds: match kind {
                "delete_statement" => names_in(node, text)
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

fn compound<'t>(node: Node<'t>, whole: Vec<Node<'t>>) -> TestPart<'t> {
    let bodies = bodies_in(node, BLOCKS);
    TestPart::Compound { bodies, whole }
}

fn expression<'t>(node: Node<'t>, text: &[u8]) -> TestPart<'t> {
    let inner = node.named_child(0);
    let kind = inner.map_or("", |it| it.kind());
    if matches!(kind, "string" | "concatenated_string") && node.named_child_count() == 1 {
        return TestPart::Nothing;
    }
    let target = inner.and_then(|it| it.field("left"));
    let is_bound = target.is_some_and(|it| !matches!(it.kind(), "attribute" | "subscript"));
    let value = inner.and_then(|it| it.field("right"));
    let literal = kind == "assignment" && value.is_some_and(is_literal);
    let names = match target {
        Some(target) if is_bound => names_in(target, text),
        _ => BTreeSet::new(),
    };
    TestPart::Plain {
        bodies: Vec::new(),
        binds: names.into_iter().map(|it| (it, literal)).collect(),
        ends: (kind == "yield").then_some(Ends::Whole),
    }
}

fn imported(node: Node<'_>, text: &[u8]) -> Vec<(String, String)> {
    if node.named().any(|it| it.kind() == "wildcard_import") {
        return vec![("*".to_owned(), "*".to_owned())];
    }
    let names = node.fields("name").map(|name| {
        let full = text_of(name.field("name").unwrap_or(name), text);
        match name.field("alias") {
            Some(alias) => (text_of(alias, text), full),
            None => (full.split('.').next().unwrap_or_default().to_owned(), full),
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
