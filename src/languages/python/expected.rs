use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::languages::expected::{
    Assertion, Asserts, Exchange, ExpectingTest, Says, assertion, asserts, below, expected_side,
    other_literal,
};
use crate::languages::literal::{Syntax, end_line_of, line_of, text_of};

/// The tests of a file: functions of the module and of its classes whose names begin with `test`.
pub(super) fn expected(root: Node<'_>, text: &[u8]) -> Vec<ExpectingTest> {
    let mut reader = Reader {
        text,
        module: bound_in(root, text),
        found: Vec::new(),
    };
    reader.definitions(root, &[]);
    reader.found
}

// What each name is bound to in a scope; the least that any of its bindings says.
type Bound = BTreeMap<String, Says>;

struct Reader<'t> {
    text: &'t [u8],
    module: Bound,
    found: Vec<ExpectingTest>,
}

impl Reader<'_> {
    fn definitions(&mut self, node: Node<'_>, around: &[String]) {
        for child in node.named() {
            let (definition, decorators) = match child.kind() {
                "decorated_definition" => match child.field("definition") {
                    Some(definition) => (definition, decorators(child, self.text)),
                    None => continue,
                },
                _ => (child, String::new()),
            };
            match definition.kind() {
                "class_definition" => {
                    let mut names = around.to_vec();
                    names.push(definition.field_text("name", self.text));
                    if let Some(body) = definition.field("body") {
                        self.definitions(body, &names);
                    }
                }
                "function_definition" => {
                    let name = definition.field_text("name", self.text);
                    if name.starts_with("test") {
                        let test = self.test(definition, &decorators, around, name);
                        self.found.push(test);
                    }
                }
                "if_statement" | "block" | "try_statement" | "else_clause" => {
                    self.definitions(definition, around);
                }
                _ => {}
            }
        }
    }

    fn test(
        &self,
        function: Node<'_>,
        decorators: &str,
        around: &[String],
        name: String,
    ) -> ExpectingTest {
        let given = function.field("parameters").map(|it| {
            let names = it.named().map(|it| match it.kind() {
                "identifier" => text_of(it, self.text),
                _ => it
                    .named()
                    .next()
                    .map_or(String::new(), |it| text_of(it, self.text)),
            });
            names.filter(|it| it != "self" && !it.is_empty()).collect()
        });
        let given: Vec<String> = given.unwrap_or_default();
        let mut bound = self.module.clone();
        bound.extend(bound_in(function, self.text));
        let words: BTreeSet<&str> = decorators
            .split(|it: char| !it.is_alphanumeric() && it != '_')
            .collect();
        for name in &given {
            let is_column = decorators.contains("parametrize") && words.contains(name.as_str());
            let says = if is_column { Says::Made } else { Says::Nothing };
            bound.insert(name.clone(), says);
        }
        let reads = Asserting {
            text: self.text,
            bound,
        };
        let mut names = around.to_vec();
        names.push(name);
        ExpectingTest {
            names,
            given,
            lines: line_of(function)..end_line_of(function) + 1,
            assertions: reads.assertions(function),
        }
    }
}

fn decorators(node: Node<'_>, text: &[u8]) -> String {
    let own = node.named().filter(|it| it.kind() == "decorator");
    own.map(|it| text_of(it, text))
        .collect::<Vec<_>>()
        .join("\n")
}

// Names by assignments and loops right in a scope; values in nested ones count, too, where they are of the
// function.
fn bound_in(scope: Node<'_>, text: &[u8]) -> Bound {
    let is_module = scope.kind() == "module";
    let enter = |node: Node<'_>| {
        !(is_module && matches!(node.kind(), "function_definition" | "class_definition"))
    };
    let mut bound = Bound::new();
    for node in below(scope, enter) {
        let (target, value) = match node.kind() {
            "assignment" | "for_statement" => (node.field("left"), node.field("right")),
            "augmented_assignment" => (node.field("left"), None),
            "as_pattern" => (node.named().nth(1), None),
            _ => continue,
        };
        let Some(target) = target else { continue };
        let said = value.map_or(Says::Nothing, |it| says(it, text, &bound));
        let said = said.max(Says::Made);
        let mut names = vec![target];
        names.extend(below(target, |it| {
            !matches!(it.kind(), "attribute" | "subscript")
        }));
        for name in names.iter().filter(|it| it.kind() == "identifier") {
            let known = bound.entry(text_of(*name, text)).or_insert(said);
            *known = said.max(*known);
        }
    }
    bound
}

struct Asserting<'t> {
    text: &'t [u8],
    bound: Bound,
}

impl Asserting<'_> {
    fn assertions(&self, function: Node<'_>) -> Vec<Assertion> {
        let mut found = Vec::new();
        let enter = |node: Node<'_>| node.kind() != "lambda";
        for node in below(function, enter) {
            if is_expected_to_fail(node, function, self.text) {
                continue;
            }
            match node.kind() {
                "assert_statement" => {
                    if let Some(asked) = node.named().next() {
                        let mut values = Vec::new();
                        self.asked(asked, &mut values);
                        found.push(assertion(node, values));
                    }
                }
                "call" => {
                    if let Some(values) = self.call(node) {
                        found.push(assertion(node, values));
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn asked(&self, node: Node<'_>, values: &mut Vec<Exchange>) {
        match node.kind() {
            "parenthesized_expression" => {
                node.named().for_each(|it| self.asked(it, values));
            }
            "boolean_operator" if node.field_text("operator", self.text) == "and" => {
                node.named().for_each(|it| self.asked(it, values));
            }
            "comparison_operator" => {
                let operands: Vec<Node<'_>> = node.named().collect();
                let [left, right] = operands[..] else { return };
                let between = self.text.get(left.end_byte()..right.start_byte());
                match between.unwrap_or_default().trim_ascii() {
                    b"==" | b"is" => {
                        let side = expected_side([left, right], |it| self.says(it));
                        values.extend(side.into_iter().flat_map(|it| self.exchanges(it)));
                    }
                    b"in" if is_text(left) => values.push(self.exchange(left)),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn call(&self, node: Node<'_>) -> Option<Vec<Exchange>> {
        let function = node.field("function")?;
        let name = match function.kind() {
            "attribute" => function.field_text("attribute", self.text),
            _ => text_of(function, self.text),
        };
        let (how, at) = asserts("python", &name)?;
        let given = node.field("arguments")?;
        let given: Vec<Node<'_>> = given
            .named()
            .filter(|it| !matches!(it.kind(), "keyword_argument" | "comment"))
            .collect();
        let one = given.get(at).copied();
        Some(match (how, one) {
            (Asserts::Pair, Some(one)) => {
                let sides = given.get(at + 1).map(|other| [one, *other]);
                let side = sides.and_then(|sides| expected_side(sides, |it| self.says(it)));
                side.map(|it| self.exchanges(it)).unwrap_or_default()
            }
            (Asserts::Text, Some(one)) if is_text(one) => vec![self.exchange(one)],
            (Asserts::Raises, Some(one)) => {
                let is_type = matches!(one.kind(), "identifier" | "attribute" | "tuple");
                let other = Exchange::new(one, self.text, OTHER_ERROR.to_owned(), Some(RAISES));
                is_type.then_some(other).into_iter().collect()
            }
            _ => Vec::new(),
        })
    }

    fn says(&self, node: Node<'_>) -> Says {
        says(node, self.text, &self.bound)
    }

    // Of a collection each member, of anything else the whole.
    fn exchanges(&self, node: Node<'_>) -> Vec<Exchange> {
        match node.kind() {
            "parenthesized_expression" | "list" | "tuple" | "set" | "dictionary" | "pair"
                if node.named().any(|it| it.kind() != "comment") =>
            {
                let members = node.named().filter(|it| it.kind() != "comment");
                let members = members.skip(usize::from(node.kind() == "pair"));
                members.flat_map(|it| self.exchanges(it)).collect()
            }
            "call" if is_approx(node, self.text) => {
                let arguments = node.field("arguments").into_iter();
                let first = arguments.filter_map(|it| it.named().next());
                first.flat_map(|it| self.exchanges(it)).collect()
            }
            _ => vec![self.exchange(node)],
        }
    }

    fn exchange(&self, node: Node<'_>) -> Exchange {
        let was = text_of(node, self.text);
        let plain = (node.kind() != "concatenated_string").then(|| other_literal(&was));
        let other = plain
            .flatten()
            .unwrap_or_else(|| format!("(({OTHER})({was}))"));
        Exchange::new(node, self.text, other, Some(RAISES))
    }
}

fn says(node: Node<'_>, text: &[u8], bound: &Bound) -> Says {
    let of_all = |nodes: &mut dyn Iterator<Item = Node<'_>>| {
        let all = nodes.map(|it| says(it, text, bound));
        all.max().unwrap_or(Says::Value)
    };
    match node.kind() {
        "integer" | "float" | "true" | "false" | "none" | "ellipsis" | "comment" => Says::Value,
        "string" | "concatenated_string" if is_text(node) => Says::Value,
        "parenthesized_expression"
        | "list"
        | "tuple"
        | "set"
        | "dictionary"
        | "pair"
        | "unary_operator"
        | "expression_list" => of_all(&mut node.named()),
        "binary_operator" => of_all(&mut node.named()).max(Says::Made),
        "identifier" => {
            let name = text_of(node, text);
            bound.get(&name).copied().unwrap_or(Says::Nothing)
        }
        "attribute" => {
            // A member of an enumeration or a constant.
            let name = node.field_text("attribute", text);
            let is_constant = name
                .chars()
                .all(|it| it.is_uppercase() || it == '_' || it.is_numeric());
            let root = node.field("object").map(|it| says(it, text, bound));
            if is_constant {
                Says::Made
            } else {
                root.unwrap_or(Says::Nothing).max(Says::Made)
            }
        }
        "subscript" => {
            let root = node.field("value").map(|it| says(it, text, bound));
            root.unwrap_or(Says::Nothing).max(Says::Made)
        }
        "call" => {
            let Some((function, arguments)) = node.field("function").zip(node.field("arguments"))
            else {
                return Says::Nothing;
            };
            let makes = is_approx(node, text)
                || match function.kind() {
                    "identifier" => {
                        let name = text_of(function, text);
                        name.starts_with(char::is_uppercase) || BUILT.contains(&name.as_str())
                    }
                    "attribute" => {
                        let name = function.field_text("attribute", text);
                        let on = function.field("object").map(|it| says(it, text, bound));
                        name.starts_with(char::is_uppercase) || on == Some(Says::Value)
                    }
                    _ => false,
                };
            let mut values = arguments.named().map(|it| match it.kind() {
                "keyword_argument" => it.field("value").unwrap_or(it),
                _ => it,
            });
            if makes {
                of_all(&mut values).max(Says::Made)
            } else {
                Says::Nothing
            }
        }
        _ => Says::Nothing,
    }
}

// What makes values of values.
const BUILT: &[&str] = &[
    "bytes",
    "date",
    "dict",
    "float",
    "frozenset",
    "list",
    "set",
    "tuple",
];

fn is_approx(node: Node<'_>, text: &[u8]) -> bool {
    let function = node.field("function").map(|it| text_of(it, text));
    function.is_some_and(|it| it == "approx" || it.ends_with(".approx"))
}

// A text in which nothing is put.
fn is_text(node: Node<'_>) -> bool {
    matches!(node.kind(), "string" | "concatenated_string")
        && below(node, |it| it.kind() != "interpolation")
            .iter()
            .all(|it| it.kind() != "interpolation")
        && !below(node, |_| true)
            .iter()
            .any(|it| it.kind() == "interpolation")
}

// Whether an assertion stands where it may fail: an error is expected around it, or caught.
fn is_expected_to_fail(node: Node<'_>, function: Node<'_>, text: &[u8]) -> bool {
    let mut inner = node;
    while let Some(around) = inner.parent().filter(|it| *it != function) {
        let catches = match around.kind() {
            "try_statement" => {
                around.field("body") == Some(inner)
                    && around.named().any(|it| it.kind() == "except_clause")
            }
            "with_statement" if around.field("body") == Some(inner) => {
                let head = text.get(around.start_byte()..inner.start_byte());
                let head = String::from_utf8_lossy(head.unwrap_or_default()).to_lowercase();
                head.contains("raises") || head.contains("suppress")
            }
            _ => false,
        };
        if catches {
            return true;
        }
        inner = around;
    }
    false
}

// A value that is far from another, of the same kind where it has one that is known; numbers change their
// sign, so that infinities change, too.
const OTHER: &str = "lambda v: not v if isinstance(v, bool) \
    else (7919 if v != v else -v - 7919 if v >= 0 else 7919 - v) if isinstance(v, (int, float)) \
    else v + '~7919' if isinstance(v, str) else v + b'~7919' if isinstance(v, bytes) \
    else [*v, 7919] if isinstance(v, list) else (*v, 7919) if isinstance(v, tuple) \
    else {*v, 7919} if isinstance(v, (set, frozenset)) \
    else {**v, 7919: 7919} if isinstance(v, dict) else object()";
const OTHER_ERROR: &str = "StopAsyncIteration";
const RAISES: &str = "(1 // 0)";

#[cfg(test)]
mod tests {
    use crate::languages::expected;
    use crate::model::RepoPath;

    fn told(body: &str) -> Vec<String> {
        let head =
            "import pytest\nWANT = {'a': 1}\n\n@pytest.mark.parametrize('n, want', [(1, 2)])\n";
        let text = format!("{head}def test_a(n, want, tmp_path):\n{body}");
        let path = RepoPath::new("tests/test_a.py").unwrap();
        let found = expected(&path, text.as_bytes());
        assert_eq!(found.len(), 1, "{body}");
        let assertions = found[0].assertions.iter();
        assertions
            .map(|it| {
                let values: Vec<&str> = it.values.iter().map(|it| it.was.as_str()).collect();
                values.join("|")
            })
            .collect()
    }

    #[test]
    fn what_is_expected_is_found() {
        for (body, values) in [
            ("    assert f(1) == 3\n", "3"),
            ("    assert 3 == f(1)\n", "3"),
            ("    assert f(1) == [1, {'a': (2, -3)}]\n", "1|2|-3"),
            (
                "    assert f(1) is True and g() == 'x' 'y'\n",
                "True|'x' 'y'",
            ),
            ("    assert f(n) == want\n", "want"),
            ("    assert f(n) == WANT\n", "WANT"),
            ("    assert f(n) == WANT['a']\n", "WANT['a']"),
            ("    w = 'x'\n    assert w == f(n)\n", "w"),
            ("    assert f() == Decimal('1.0')\n", "Decimal('1.0')"),
            ("    assert f() == pytest.approx(1.5, abs=1e-3)\n", "1.5"),
            ("    assert 'x' in f()\n", "'x'"),
            ("    self.assertEqual(f(), 2)\n", "2"),
            ("    self.assertEqual(2, f(), 'message')\n", "2"),
            ("    self.assertIn('a', f())\n", "'a'"),
            (
                "    with pytest.raises(ValueError, match='x'):\n        f()\n",
                "ValueError",
            ),
            ("    self.assertRaises(ValueError, f, 1)\n", "ValueError"),
        ] {
            assert_eq!(told(body), [values], "{body}");
        }
    }

    #[test]
    fn what_cannot_matter_is_left() {
        for body in [
            "    assert f()\n",
            "    assert not f()\n",
            "    assert f() != 3\n",
            "    assert abs(f() - 1) < 0.1\n",
            "    assert f() in (1, 2)\n",
            "    assert f() == g()\n",
            "    assert f() == 1 or f() == 2\n",
            "    r = f()\n    assert r == tmp_path\n",
            "    self.assertTrueish(f(3))\n    assert isinstance(f(), int)\n",
        ] {
            assert!(
                told(body).iter().all(String::is_empty),
                "{body} {:?}",
                told(body)
            );
        }
        let inside = "    with pytest.raises(AssertionError):\n        assert f() == 1\n";
        assert_eq!(told(inside), ["AssertionError"]);
    }
}
