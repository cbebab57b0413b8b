use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;
use tree_sitter::{Node, Tree};

use super::facts::Code;
use super::literal::{Syntax, line_of, next, text_of};
use crate::model::RepoPath;

/// The tests of a file, with what their assertions expect. Empty for a file that cannot be read as code.
#[must_use]
pub fn expected(path: &RepoPath, bytes: &[u8]) -> Vec<ExpectingTest> {
    let Some(code) = Code::of(path, bytes).filter(|it| it.cut.is_none()) else {
        return Vec::new();
    };
    // Places in a file that holds more than code would be others.
    let Some(tree) = code.tree().filter(|_| code.head().len() == bytes.len()) else {
        return Vec::new();
    };
    if tree.root_node().has_error() || is_deep(&tree) {
        return Vec::new();
    }
    (code.language.expected)(tree.root_node(), bytes)
}

/// Nodes inside nodes that are looked into.
const MAX_DEPTH: u32 = 400;

fn is_deep(tree: &Tree) -> bool {
    let mut cursor = tree.walk();
    loop {
        if cursor.depth() > MAX_DEPTH {
            return true;
        }
        if !next(&mut cursor, true, &mut Vec::new(), ()) {
            return false;
        }
    }
}

/// A test as its file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectingTest {
    /// Names or titles, the outermost first.
    pub names: Vec<String>,
    /// Names of what a function of it is given: fixtures, or the columns of a table.
    pub given: Vec<String>,
    /// 1-based.
    pub lines: Range<u32>,
    /// In source order.
    pub assertions: Vec<Assertion>,
}

/// One assertion of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assertion {
    /// 1-based.
    pub line: u32,
    /// What it expects and what can be exchanged; empty where that is no value that is written down.
    pub values: Vec<Exchange>,
}

/// A value that an assertion expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Where it stands.
    pub place: Range<usize>,
    /// As it is written.
    pub was: String,
    /// An expression for a value that is far from it.
    pub other: String,
    /// An expression that raises an error of its own; `None` where only a value may stand.
    pub raises: Option<String>,
}

impl Exchange {
    pub(super) fn new(node: Node<'_>, text: &[u8], other: String, raises: Option<&str>) -> Self {
        Self {
            place: node.byte_range(),
            was: text_of(node, text),
            other,
            raises: raises.map(str::to_owned),
        }
    }
}

/// What an expression says of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Says {
    /// It is one.
    Value,
    /// It is made of some.
    Made,
    /// What is computed.
    Nothing,
}

/// The side of a comparison that says what is expected: the one that comes nearest to a value, else the
/// second. `None` where both are computed.
pub(super) fn expected_side<'t>(
    sides: [Node<'t>; 2],
    says: impl Fn(Node<'t>) -> Says,
) -> Option<Node<'t>> {
    let [first, second] = sides;
    let (one, other) = (says(first), says(second));
    let (side, said) = if one < other {
        (first, one)
    } else {
        (second, other)
    };
    (said != Says::Nothing).then_some(side)
}

/// How a call asserts something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Asserts {
    /// Two of its arguments are the same.
    Pair,
    /// Its argument is what is expected.
    Value,
    /// The same, and it must stay one of a length.
    Length,
    /// Only a text says what is expected.
    Text,
    /// A type of errors, or their text.
    Raises,
    /// A text that the runner wrote.
    Snapshot,
    /// Its argument is true.
    Truth,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    language: String,
    names: Vec<String>,
    asserts: Asserts,
    /// The place of the argument that counts, from 0.
    #[serde(default)]
    at: usize,
    #[serde(rename = "seen")]
    _seen: String,
}

#[derive(Deserialize)]
struct Table {
    assertion: Vec<Row>,
}

#[expect(clippy::expect_used, reason = "embedded and tested")]
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let table: Table =
        toml::from_str(include_str!("assertions.toml")).expect("assertions.toml parses");
    table.assertion
});

/// What a call of this name asserts, and by which argument.
pub(super) fn asserts(language: &str, name: &str) -> Option<(Asserts, usize)> {
    let of = |row: &&Row| row.language == language && row.names.iter().any(|it| it == name);
    let row = ROWS.iter().find(of)?;
    Some((row.asserts, row.at))
}

/// Another literal in the form of one, far from it: what reads the test's text finds the other value.
/// `None` for what has none that is as plain.
pub(super) fn other_literal(was: &str) -> Option<String> {
    match was {
        "True" => return Some("False".to_owned()),
        "False" => return Some("True".to_owned()),
        "true" => return Some("false".to_owned()),
        "false" => return Some("true".to_owned()),
        _ => {}
    }
    if let Some(start) = was.find(['\'', '"', '`']) {
        let quote = was.get(start..=start)?;
        let triple = quote.repeat(3);
        let (head, body) = was.split_at(start);
        let closing = if body.len() >= 6 && body.starts_with(&triple) {
            &triple
        } else {
            quote
        };
        let kept = body.strip_suffix(closing)?;
        return (head.len() <= 2 && kept.len() >= closing.len())
            .then(|| format!("{head}{kept}~7919{closing}"));
    }
    let (sign, digits) = was.strip_prefix('-').map_or(("", was), |it| ("-", it));
    let is_plain = digits.len() <= 12 && digits.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    if !is_plain || digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.") {
        return None;
    }
    if let Ok(value) = digits.parse::<u64>() {
        return Some(format!("{sign}{}", value * 2 + 7919));
    }
    let value: f64 = digits.parse().ok()?;
    Some(format!("{sign}{:.1}", value * 2.0 + 7919.0))
}

/// All nodes below one in source order, those that `enter` refuses and what is below them aside.
pub(super) fn below<'t>(node: Node<'t>, enter: impl Fn(Node<'t>) -> bool) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    let mut open: Vec<Node<'t>> = node.named().collect();
    open.reverse();
    while let Some(next) = open.pop() {
        if !enter(next) {
            continue;
        }
        found.push(next);
        let at = open.len();
        open.extend(next.named());
        if let Some(rest) = open.get_mut(at..) {
            rest.reverse();
        }
    }
    found
}

/// An assertion on a line, with what of it can be exchanged.
pub(super) fn assertion(node: Node<'_>, values: Vec<Exchange>) -> Assertion {
    Assertion {
        line: line_of(node),
        values,
    }
}

#[cfg(test)]
mod tests {
    use super::{ROWS, other_literal};

    #[test]
    fn a_literal_is_exchanged_by_another() {
        assert!(!ROWS.is_empty());
        for (was, other) in [
            ("3", Some("7925")),
            ("-3", Some("-7925")),
            ("1.5", Some("7922.0")),
            ("True", Some("False")),
            ("'a'", Some("'a~7919'")),
            ("b\"\"", Some("b\"~7919\"")),
            ("\"\"\"a\nb\"\"\"", Some("\"\"\"a\nb~7919\"\"\"")),
            ("`a`", Some("`a~7919`")),
            ("0x1f", None),
            ("None", None),
            ("1e309", None),
        ] {
            assert_eq!(other_literal(was).as_deref(), other, "{was}");
        }
    }
}
