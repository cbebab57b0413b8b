//! Changes what an assertion expects, for the mutation check.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::facts::Code;
use super::literal::{Syntax, end_line_of, line_of, next, text_of};
use crate::model::RepoPath;

/// Finds the tests of a file and, for each assertion statement in them, a text that makes it expect something else.
///
/// Assertions are recognized by syntax: a statement that asserts, or that calls something named like an assertion.
/// There is no list of matchers: the expected side is perturbed as a value when the test runs.
pub fn perturbable_tests(path: &RepoPath, bytes: &[u8]) -> Vec<PerturbableTest> {
    let Some(code) = Code::read(path, bytes).filter(|code| code.cut.is_none()) else {
        return Vec::new();
    };
    // Code alone, because elsewhere places in the tree are not places in the file.
    let tree = code.tree().filter(|_| code.head().len() == bytes.len());
    let Some(tree) = tree.filter(|tree| !tree.root_node().has_error()) else {
        return Vec::new();
    };
    let finder = Finder {
        text: bytes,
        is_python: code.language.name == "python",
        is_typed: path.extension().is_some_and(|extension| extension.contains("ts")),
    };
    finder.find_tests(&tree)
}

/// A test with its assertions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerturbableTest {
    /// Names or titles, the outermost first.
    pub names: Vec<String>,
    /// 1-based.
    pub lines: Range<u32>,
    /// In source order.
    pub assertions: Vec<Perturbation>,
}

/// An assertion and how its text is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Perturbation {
    /// 1-based.
    pub line: u32,
    /// The bytes that are replaced.
    pub place: Range<usize>,
    /// The text that is there.
    pub was: String,
    /// The text that expects something else.
    pub perturbed: String,
}

/// Calls that give a title to a group of tests, and to a test.
const GROUPS: &[&str] = &["describe", "suite", "context"];
const CASES: &[&str] = &["it", "test", "specify"];
/// How names of assertions begin.
const ASSERTS: &[&str] = &["assert", "expect", "should", "check", "verify", "ensure"];
/// Objects with assertions as members.
const ASSERTING: &[&str] = &["t", "chai", "strict"];
/// Words in the names of assertions that order their two sides.
const ORDERS: &[&str] = &[
    "less", "greater", "above", "below", "least", "most", "within",
];
/// Words in the names of assertions that compare two sides of which one may be a text.
const COMPARES: &[&str] = &["eq", "same", "match", "incl", "deep", "like"];

struct Finder<'t> {
    text: &'t [u8],
    is_python: bool,
    is_typed: bool,
}

impl Finder<'_> {
    fn find_tests(&self, tree: &Tree) -> Vec<PerturbableTest> {
        let mut found: Vec<(Range<usize>, PerturbableTest)> = Vec::new();
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            if let Some((names, function)) = self.test_at(node) {
                let lines = line_of(function)..end_line_of(function) + 1;
                let assertions = Vec::new();
                let test = PerturbableTest {
                    names,
                    lines,
                    assertions,
                };
                found.push((function.byte_range(), test));
            } else if let Some(assertion) =
                self.perturb_node(node).filter(|_| !is_failure_caught(node, self.text))
            {
                // The innermost test comes last.
                let start = assertion.place.start;
                let mut around = found.iter_mut().rev();
                if let Some((_, test)) = around.find(|(range, _)| range.contains(&start)) {
                    test.assertions.push(assertion);
                }
            }
            if !next(&mut cursor, true, &mut Vec::new(), ()) {
                return found.into_iter().map(|(_, test)| test).collect();
            }
        }
    }

    // The names of a test, the outermost first, and its function.
    fn test_at<'n>(&self, node: Node<'n>) -> Option<(Vec<String>, Node<'n>)> {
        let (title, function, is_group) = self.find_title(node)?;
        let mut names = vec![title];
        let mut inner = node;
        while let Some(around) = inner.parent() {
            if around.kind() == "function_definition" {
                return None;
            }
            names.extend(self.find_title(around).map(|(title, ..)| title));
            inner = around;
        }
        names.reverse();
        (!is_group).then_some((names, function))
    }

    // The name, the function and whether it holds tests, of a test or of what holds tests.
    fn find_title<'n>(&self, node: Node<'n>) -> Option<(String, Node<'n>, bool)> {
        match node.kind() {
            "function_definition" | "class_definition" => {
                let name = node.field_text("name", self.text);
                let is_class = node.kind() == "class_definition";
                (is_class || name.starts_with("test")).then_some((name, node, is_class))
            }
            "call_expression" => {
                let mut arguments = node.field("arguments")?.named();
                let title = arguments
                    .next()
                    .filter(|title| matches!(title.kind(), "string" | "template_string"))?;
                let functions = ["arrow_function", "function_expression"];
                let function = arguments.find(|given| functions.contains(&given.kind()))?;
                let callee = self.callee(node);
                let [is_group, is_case] = [GROUPS, CASES]
                    .map(|words| words.contains(&&*callee.root) || words.contains(&&*callee.name));
                let title = text_of(title, self.text);
                let title = title.get(1..title.len().saturating_sub(1))?.to_owned();
                (is_group || is_case).then_some((title, function, is_group))
            }
            _ => None,
        }
    }

    fn perturb_node(&self, node: Node<'_>) -> Option<Perturbation> {
        match node.kind() {
            "assert_statement" => Some(self.perturb_condition(node.named().next()?)),
            "with_item" => {
                let context = node.field("value")?;
                let context = match context.kind() {
                    "as_pattern" => context.named().next()?,
                    _ => context,
                };
                let raises = self.callee(context).name.to_lowercase().contains("raises");
                let first = self.arguments(context).first().copied();
                first.filter(|_| raises).map(|first| self.wrap_value(first))
            }
            "call" | "call_expression" if is_statement(node) => self.perturb_call(node),
            _ => None,
        }
    }

    /// Changes the expected side of an equation, negates any other condition.
    fn perturb_condition(&self, condition: Node<'_>) -> Perturbation {
        let inner = condition.named().next();
        if let Some(inner) = inner.filter(|_| condition.kind() == "parenthesized_expression") {
            return self.perturb_condition(inner);
        }
        let sides: Vec<Node<'_>> = condition.named().collect();
        if let [left, right] = sides[..]
            && condition.kind() == "comparison_operator"
        {
            let between = self.text.get(left.end_byte()..right.start_byte());
            if between.is_some_and(|between| between.trim_ascii() == b"==") {
                return self.wrap_equal(expected_side(left, right));
            }
        }
        let text = text_of(condition, self.text);
        self.replace_node(condition, format!("not ({text})"))
    }

    fn perturb_call(&self, call: Node<'_>) -> Option<Perturbation> {
        let callee = self.callee(call);
        let name = callee.name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let arguments = self.arguments(call);
        // Skipped because what must not be so passes with any other value, too.
        if callee.is_negated || name.contains("not") || name.contains("snapshot") {
            return None;
        }
        let orders = has(ORDERS) || matches!(&*name, "lt" | "gt" | "lte" | "gte");
        let side = |node: Node<'_>| {
            if orders {
                let not_a_number = if self.is_python { "float('nan')" } else { "NaN" };
                self.replace_node(node, not_a_number.to_owned())
            } else if has(COMPARES) {
                self.wrap_equal(node)
            } else {
                self.wrap_value(node)
            }
        };
        if let Some(subject) = callee.expect {
            let Some(first) = arguments.first() else {
                let text = text_of(call, self.text);
                let head = subject.end_byte() - call.start_byte();
                let (head, tail) = (text.get(..head)?, text.get(head..)?);
                return Some(self.replace_node(call, format!("{head}.not{tail}")));
            };
            return (first.kind() != "spread_element").then(|| side(*first));
        }
        let is_member = ASSERTING.contains(&callee.root.as_str())
            && (has(COMPARES) || has(&["is", "true", "false", "ok", "truthy", "falsy", "throw"]));
        if !ASSERTS.iter().any(|word| name.starts_with(word))
            && !ASSERTS.iter().any(|word| callee.root.to_lowercase().starts_with(word))
            && !is_member
        {
            return None;
        }
        let raises = has(&["raises", "throw", "reject", "warns"]);
        match arguments[..] {
            [first, _, ..] if raises && self.is_python => Some(self.wrap_value(first)),
            [_, second, ..] if raises => Some(self.wrap_value(second)),
            [first] if raises && self.is_python => Some(self.wrap_value(first)),
            [first, second, ..]
                if self.is_python
                    || second.kind() != "string"
                    || has(COMPARES)
                    || name.starts_with("is") =>
            {
                Some(side(expected_side(first, second)))
            }
            [condition, ..] if !raises => {
                let not = if self.is_python { "not " } else { "!" };
                let text = text_of(condition, self.text);
                Some(self.replace_node(condition, format!("{not}({text})")))
            }
            _ => None,
        }
    }

    /// Perturbs an expression: a plain literal by another one of its form, since code may read the test's text; any
    /// other as a value at run time.
    fn wrap_value(&self, node: Node<'_>) -> Perturbation {
        let text = text_of(node, self.text);
        let perturbed = self.other_literal(node, &text).unwrap_or_else(|| {
            let function = match (self.is_python, self.is_typed) {
                (true, _) => PERTURB_PYTHON.to_owned(),
                (false, true) => format!("((v: any): any => {PERTURB_SCRIPT})"),
                (false, false) => format!("((v) => {PERTURB_SCRIPT})"),
            };
            format!("{function}({text})")
        });
        self.replace_node(node, perturbed)
    }

    fn other_literal(&self, node: Node<'_>, text: &str) -> Option<String> {
        let holes = ["interpolation", "template_substitution"];
        match node.kind() {
            "integer" | "number" => {
                let number: u32 = text.parse().ok()?;
                Some((u64::from(number) * 3 + 7).to_string())
            }
            "string" | "template_string" => {
                let is_bytes = self.is_python && text.starts_with(['b', 'B']);
                let other = if is_bytes { "b'~7919'" } else { "'~7919'" };
                let is_plain = !node.named().any(|part| holes.contains(&part.kind()));
                is_plain.then(|| other.to_owned())
            }
            _ => None,
        }
    }

    // Perturbs what something is equal to: where it is a collection of numbers and texts alone, in its text, so that a
    // change that reads the test finds the other value there.
    fn wrap_equal(&self, node: Node<'_>) -> Perturbation {
        match self.other_members(node) {
            Some(other) => self.replace_node(node, other),
            None => self.wrap_value(node),
        }
    }

    fn other_members(&self, collection: Node<'_>) -> Option<String> {
        const KINDS: [&str; 6] = ["list", "tuple", "set", "dictionary", "array", "object"];
        let members: Vec<Node<'_>> = collection.named().collect();
        if members.is_empty() || !KINDS.contains(&collection.kind()) {
            return None;
        }
        let (mut other, start) = (text_of(collection, self.text), collection.start_byte());
        // The last first, because a replacement moves the bytes behind it.
        for member in members.into_iter().rev() {
            let value = member.field("value").unwrap_or(member);
            let literal = self.other_literal(value, &text_of(value, self.text));
            let changed = literal.or_else(|| self.other_members(value))?;
            let place = value.start_byte() - start..value.end_byte() - start;
            other.replace_range(place, &changed);
        }
        Some(other)
    }

    fn replace_node(&self, node: Node<'_>, perturbed: String) -> Perturbation {
        Perturbation {
            line: line_of(node),
            place: node.byte_range(),
            was: text_of(node, self.text),
            perturbed,
        }
    }

    fn arguments<'n>(&self, call: Node<'n>) -> Vec<Node<'n>> {
        let arguments = call.field("arguments").into_iter().flat_map(Syntax::named);
        arguments
            .filter(|given| !matches!(given.kind(), "keyword_argument" | "comment"))
            .collect()
    }

    fn callee<'n>(&self, call: Node<'n>) -> Callee<'n> {
        let function = call.field("function");
        let text = function.map_or_else(String::new, |node| text_of(node, self.text));
        let mut inner = function;
        // The innermost call is the one of `expect`.
        while let Some(node) =
            inner.filter(|node| node.field_text("function", self.text) != "expect")
        {
            inner = node.field("function").or_else(|| node.field("object"));
        }
        Callee {
            root: text.split(is_joint).next().unwrap_or_default().to_owned(),
            name: text.rsplit(is_joint).next().unwrap_or_default().to_owned(),
            expect: inner,
            is_negated: text.contains(".not."),
        }
    }
}

fn is_joint(letter: char) -> bool {
    !letter.is_alphanumeric() && !matches!(letter, '_' | '$')
}

/// The function that a call names: `expect(x).not.toBe` has the root `expect` and the name `toBe`.
struct Callee<'n> {
    root: String,
    name: String,
    expect: Option<Node<'n>>,
    is_negated: bool,
}

// A number becomes another number, a collection one of other members, an exception another one, anything else an
// object that equals nothing. `v == v` and the comparison with `v` leave out infinities and what is not a number.
const PERTURB_PYTHON: &str = "(lambda v: not v if isinstance(v, bool) \
    else (v * 3 + 7 if v == v and v * 3 + 7 != v else 0) if isinstance(v, (int, float, complex)) \
    else v * 3 + 7 if getattr(getattr(v, 'dtype', None), 'kind', 'O') in 'iufc' \
    else '~7919' if isinstance(v, str) else b'~7919' if isinstance(v, bytes) \
    else [x * 3 + 7 for x in v] if isinstance(v, list) and v and all(isinstance(x, (int, float)) for x in v) \
    else [object()] if isinstance(v, list) else (object(),) if isinstance(v, tuple) \
    else {'~7919': object()} if isinstance(v, dict) else {object()} if isinstance(v, (set, frozenset)) \
    else type('Other', (Exception,), {}) if isinstance(v, type) and issubclass(v, BaseException) else object())";
const PERTURB_SCRIPT: &str = "typeof v === 'number' ? (v === v && v * 3 + 7 !== v ? v * 3 + 7 : 0) \
    : typeof v === 'bigint' ? v * BigInt(3) + BigInt(7) : typeof v === 'boolean' ? !v \
    : typeof v === 'string' ? '~7919' : Array.isArray(v) ? [{ zz: 1 }] \
    : typeof v === 'function' ? class Other extends Error {} : v instanceof RegExp ? /~7919/ : { zz: Symbol('zz') }";

// The side without a call says what is expected; of two that are alike the second.
fn expected_side<'n>(first: Node<'n>, second: Node<'n>) -> Node<'n> {
    if holds_call(second) && !holds_call(first) { first } else { second }
}

fn holds_call(side: Node<'_>) -> bool {
    let mut nodes = nodes_below(side);
    nodes.push(side);
    nodes
        .iter()
        .any(|node| matches!(node.kind(), "call" | "call_expression" | "await"))
}

// Checks whether a statement is where an error is caught or expected.
fn is_failure_caught(node: Node<'_>, text: &[u8]) -> bool {
    let mut inner = node;
    while let Some(around) = inner.parent() {
        let catches = match around.kind() {
            "try_statement" => around
                .named()
                .any(|part| matches!(part.kind(), "except_clause" | "catch_clause")),
            "with_statement" => {
                let head = text.get(around.start_byte()..inner.start_byte());
                let head = String::from_utf8_lossy(head.unwrap_or_default()).to_lowercase();
                head.contains("raises") || head.contains("suppress")
            }
            "lambda" => return true,
            _ => false,
        };
        if catches && around.field("body") == Some(inner) {
            return true;
        }
        inner = around;
    }
    false
}

fn is_statement(call: Node<'_>) -> bool {
    let mut node = call;
    while let Some(parent) = node.parent() {
        match parent.kind() {
            "await" | "await_expression" | "parenthesized_expression" => node = parent,
            "arrow_function" => return parent.field("body") == Some(node),
            kind => return matches!(kind, "expression_statement" | "return_statement"),
        }
    }
    false
}

/// Returns all nodes below one.
fn nodes_below(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut open: Vec<Node<'_>> = node.named().collect();
    while let Some(next) = open.pop() {
        open.extend(next.named());
        found.push(next);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::perturbable_tests;
    use crate::model::RepoPath;

    // The line of a test with its only assertion perturbed; empty where nothing is.
    fn perturbed(path: &str, head: &str, line: &str, tail: &str) -> String {
        let text = format!("{head}{line}\n{tail}");
        let tests = perturbable_tests(&RepoPath::new(path).unwrap(), text.as_bytes());
        assert_eq!(tests.len(), 1, "{line}");
        let [one] = &tests[0].assertions[..] else {
            assert!(tests[0].assertions.is_empty(), "{line}: {:?}", tests[0]);
            return String::new();
        };
        let mut changed = text;
        changed.replace_range(one.place.clone(), &one.perturbed);
        let changed = changed.strip_prefix(head).unwrap();
        let changed = changed.strip_suffix(&format!("\n{tail}")).unwrap();
        changed
            .trim()
            .replace(super::PERTURB_PYTHON, "P")
            .replace(&format!("((v) => {})", super::PERTURB_SCRIPT), "P")
    }

    #[test]
    fn perturbs_assertions_of_python() {
        for (line, expected) in [
            ("assert f(1) == 3", "assert f(1) == 16"),
            ("assert 3 == f(1)", "assert 16 == f(1)"),
            ("assert f() == [1, 2]", "assert f() == [10, 13]"),
            ("assert f() == {'a': (1,)}", "assert f() == {'a': (10,)}"),
            ("assert f() == [1, x]", "assert f() == P([1, x])"),
            ("assert f() == [True]", "assert f() == P([True])"),
            (
                "self.assertIn(f(), {'a': 1})",
                "self.assertIn(f(), P({'a': 1}))",
            ),
            (
                "assert f() == 'x' 'y', 'why'",
                "assert f() == P('x' 'y'), 'why'",
            ),
            ("assert f() is None", "assert not (f() is None)"),
            ("assert 'x' not in f()", "assert not ('x' not in f())"),
            ("assert f(1) < 3", "assert not (f(1) < 3)"),
            ("assert f() and g()", "assert not (f() and g())"),
            (
                "self.assertEqual(f(), 2, 'why')",
                "self.assertEqual(f(), 13, 'why')",
            ),
            ("self.assertEqual(-2, f())", "self.assertEqual(P(-2), f())"),
            (
                "self.assertLess(f(), 9)",
                "self.assertLess(f(), float('nan'))",
            ),
            ("self.assertTrue(f())", "self.assertTrue(not (f()))"),
            ("self.assertNotEqual(f(), 2)", ""),
            (
                "self.assertRaises(ValueError, f, 1)",
                "self.assertRaises(P(ValueError), f, 1)",
            ),
            (
                "mock.assert_called_with(3, 'a')",
                "mock.assert_called_with(3, '~7919')",
            ),
            (
                "np.testing.assert_allclose(f(), want)",
                "np.testing.assert_allclose(f(), P(want))",
            ),
            ("cart.add(5, 6)", ""),
        ] {
            let found = perturbed("tests/test_a.py", "def test_a(self):\n    ", line, "");
            assert_eq!(found, expected, "{line}");
        }
        let head = "def test_a():\n    with pytest.raises(";
        let found = perturbed("tests/test_a.py", head, "ValueError):", "        f()\n");
        assert_eq!(found, "P(ValueError)):");
        let head = "def test_a():\n    try:\n        ";
        let tail = "    except AssertionError:\n        pass\n";
        assert_eq!(perturbed("test_a.py", head, "assert f() == 1", tail), "");
    }

    #[test]
    fn perturbs_assertions_of_scripts() {
        for (line, expected) in [
            ("expect(f(1)).toBe(3)", "expect(f(1)).toBe(16)"),
            (
                "await expect(f()).resolves.toEqual({ a: 1 })",
                "await expect(f()).resolves.toEqual({ a: 10 })",
            ),
            ("expect(f(1)).not.toBe(3)", ""),
            ("expect(f(1)).toBeTruthy()", "expect(f(1)).not.toBeTruthy()"),
            (
                "expect(f(1)).toBeLessThan(3)",
                "expect(f(1)).toBeLessThan(NaN)",
            ),
            (
                "expect(() => f(1)).toThrow(/no/)",
                "expect(() => f(1)).toThrow(P(/no/))",
            ),
            ("expect(f(1)).toMatchSnapshot()", ""),
            ("assert.equal(f(1), 3)", "assert.equal(f(1), 16)"),
            (
                "assert.strictEqual('a', f())",
                "assert.strictEqual('~7919', f())",
            ),
            ("assert.ok(f(1), 'why')", "assert.ok(!(f(1)), 'why')"),
            ("assert(f(1) === 3)", "assert(!(f(1) === 3))"),
            (
                "assert.throws(() => f(1), TypeError)",
                "assert.throws(() => f(1), P(TypeError))",
            ),
            ("t.is(f(), 2)", "t.is(f(), 13)"),
            ("t.plan(2)", ""),
            ("f(1).should.equal(3)", ""),
        ] {
            let head = "describe('shop', () => {\n  it('adds', async (t) => {\n    ";
            let found = perturbed("test/a.test.js", head, line, "  });\n});\n");
            assert_eq!(found, expected, "{line}");
        }
        let text = "describe('shop', () => {\n  test('adds', () => expect(1).toBe(x));\n});\n";
        let tests = perturbable_tests(&RepoPath::new("a.test.ts").unwrap(), text.as_bytes());
        assert_eq!(tests[0].names, ["shop", "adds"]);
        assert!(tests[0].assertions[0].perturbed.starts_with("((v: any): any =>"));
    }
}
