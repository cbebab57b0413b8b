use std::collections::BTreeMap;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::assertions::{Role, Shape};
use super::facts::Code;
use super::literal::{Syntax, end_line_of, line_of, next, text_of};
use crate::model::RepoPath;

/// The tests of a file, with what their assertions expect: functions that are called `test…`, and calls that are
/// given a title and a function. Empty for a file that cannot be read as code.
#[must_use]
pub fn expected(path: &RepoPath, bytes: &[u8]) -> Vec<ExpectingTest> {
    let Some(code) = Code::read(path, bytes).filter(|it| it.cut.is_none()) else {
        return Vec::new();
    };
    // Places in a file that holds more than code would be others.
    let Some(tree) = code.tree().filter(|_| code.head().len() == bytes.len()) else {
        return Vec::new();
    };
    let shape = Shape::for_language(code.language.name);
    let Some(shape) = shape.filter(|_| !tree.root_node().has_error() && !is_deep(&tree)) else {
        return Vec::new();
    };
    let reader = Reader { shape, text: bytes };
    let root = tree.root_node();
    let bound = reader.bound_in(root, &Bound::new(), false);
    let mut found = Vec::new();
    reader.tests(root, &[], &bound, &mut found);
    found
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

/// What an expression says of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// It is one.
    Value,
    /// It is made of some.
    Made,
    /// What the file keeps for its tests, such as data that it read.
    Kept,
    /// What is computed.
    Nothing,
}

/// What each name is bound to; the least that any of its bindings in a scope says.
pub(super) type Bound = BTreeMap<String, Rank>;

/// What reads the tests of a text.
pub(super) struct Reader<'t> {
    pub(super) shape: &'static Shape,
    pub(super) text: &'t [u8],
}

impl Reader<'_> {
    fn tests(
        &self,
        node: Node<'_>,
        around: &[String],
        bound: &Bound,
        found: &mut Vec<ExpectingTest>,
    ) {
        for child in node.named() {
            let name = child.field_text("name", self.text);
            let named = |name: String| [around, &[name]].concat();
            match self.shape.role(child) {
                Some(Role::Function) if name.starts_with("test") => {
                    let decorated = child
                        .parent()
                        .filter(|it| it.kind() == "decorated_definition");
                    let start = decorated.unwrap_or(child).start_byte();
                    let head = self.text.get(start..child.start_byte());
                    let names = named(name);
                    found.push(self.test([child, child], head, names, bound));
                }
                Some(Role::Function) if !name.is_empty() => {}
                Some(Role::Group) => {
                    self.tests(child, &named(name), bound, found);
                }
                Some(Role::Call) => match self.titled(child) {
                    Some((group, title, function)) => {
                        self.titled_test([child, function], group, named(title), bound, found);
                    }
                    None => self.tests(child, around, bound, found),
                },
                _ => self.tests(child, around, bound, found),
            }
        }
    }

    fn titled_test(
        &self,
        [call, function]: [Node<'_>; 2],
        group: bool,
        names: Vec<String>,
        bound: &Bound,
        found: &mut Vec<ExpectingTest>,
    ) {
        let nested = found.len();
        if let Some(body) = function.field("body") {
            let bound = self.bound_in(body, bound, false);
            self.tests(body, &names, &bound, found);
        }
        if group {
            return;
        }
        // A test in a test is one of its own, and that around it has the rest.
        let inner: Vec<Range<u32>> = found
            .iter()
            .skip(nested)
            .map(|it| it.lines.clone())
            .collect();
        let head = call.field("function").map(|it| it.byte_range());
        let head = head.and_then(|it| self.text.get(it));
        let mut test = self.test([call, function], head, names, bound);
        let is_inner = |line: u32| inner.iter().any(|lines| lines.contains(&line));
        test.assertions.retain(|it| !is_inner(it.line));
        found.insert(nested, test);
    }

    // Whether it groups tests, its title and its function.
    fn titled<'n>(&self, call: Node<'n>) -> Option<(bool, String, Node<'n>)> {
        let mut given = call.field("arguments")?.named();
        let title = given.next().filter(|it| self.is_text(*it))?;
        let function = given.find(|it| self.shape.role(*it) == Some(Role::Function))?;
        let mut root = call.field("function")?;
        let mut last = String::new();
        while let Some(inner) = root.field("object").or_else(|| root.field("function")) {
            if last.is_empty() {
                last = root.field_text("property", self.text);
            }
            root = inner;
        }
        let root = text_of(root, self.text);
        let words = [root.as_str(), last.as_str()];
        let group = words.iter().any(|it| GROUPS.contains(it));
        let title = text_of(title, self.text);
        let plain = title.get(1..title.len().saturating_sub(1));
        (group || words.iter().any(|it| CASES.contains(it)))
            .then(|| (group, plain.unwrap_or_default().to_owned(), function))
    }

    fn test(
        &self,
        [whole, function]: [Node<'_>; 2],
        head: Option<&[u8]>,
        names: Vec<String>,
        bound: &Bound,
    ) -> ExpectingTest {
        let mut bound = self.bound_in(function, bound, true);
        // Fixtures are what they are; columns of a table are written down.
        let head = String::from_utf8_lossy(head.unwrap_or_default());
        let is_word = |it: char| !it.is_alphanumeric() && it != '_';
        for name in self.given(function) {
            let listed = head.contains("parametrize") && head.split(is_word).any(|it| it == name);
            let is_column = listed || head.contains(".each");
            let rank = if is_column { Rank::Made } else { Rank::Nothing };
            bound.insert(name, rank);
        }
        let enter = |node: Node<'_>| self.shape.role(node) != Some(Role::Apart);
        let inside = below(function, enter).into_iter();
        let found = inside.filter_map(|node| {
            let values = match self.shape.role(node)? {
                Role::Statement => self.truth(node.named().next()?, &bound),
                Role::Call => self.call(node, &bound)?,
                _ => return None,
            };
            let line = line_of(node);
            (!self.may_fail(node, function)).then_some(Assertion { line, values })
        });
        ExpectingTest {
            names,
            lines: line_of(whole)..end_line_of(whole) + 1,
            assertions: found.collect(),
        }
    }

    // Names of what a function is given.
    fn given(&self, function: Node<'_>) -> Vec<String> {
        let is_name = |it: &Node<'_>| self.shape.role(*it) == Some(Role::Name);
        let parameters = function
            .field("parameters")
            .into_iter()
            .flat_map(Syntax::named);
        let names = parameters.flat_map(|parameter| {
            let first = parameter.named().next().filter(is_name);
            match first.or(Some(parameter).filter(is_name)) {
                Some(name) => vec![name],
                None => below(parameter, |_| true),
            }
        });
        let names = names.filter(|it| is_name(it) || it.kind().starts_with("shorthand"));
        names.map(|it| text_of(it, self.text)).collect()
    }

    // Names that a scope binds, and those around it; `whole`: also in functions inside it.
    fn bound_in(&self, scope: Node<'_>, outer: &Bound, whole: bool) -> Bound {
        let enter = |node: Node<'_>| {
            whole || !matches!(self.shape.role(node), Some(Role::Function | Role::Group))
        };
        let (mut bound, mut own) = (outer.clone(), Bound::new());
        for node in below(scope, enter) {
            let target = node.field("left").or_else(|| node.field("name"));
            let (target, value) = match self.shape.role(node) {
                Some(Role::Binding) => {
                    (target, node.field("right").or_else(|| node.field("value")))
                }
                Some(Role::Rebinding) => (target.or_else(|| node.named().nth(1)), None),
                _ => continue,
            };
            let Some(target) = target else { continue };
            let least = if whole { Rank::Nothing } else { Rank::Kept };
            let least = value.map_or(Rank::Nothing, |it| self.rank(it, &bound).min(least));
            let mut names = below(target, |it| self.shape.role(it) != Some(Role::Member));
            names.push(target);
            for name in names
                .iter()
                .filter(|it| self.shape.role(**it) == Some(Role::Name))
            {
                let name = text_of(*name, self.text);
                let weakest = own.entry(name.clone()).or_insert(Rank::Made);
                *weakest = least.max(*weakest);
                bound.insert(name, *weakest);
            }
        }
        bound
    }

    // Whether an assertion stands where it may fail: an error is expected around it, or caught.
    fn may_fail(&self, node: Node<'_>, function: Node<'_>) -> bool {
        let mut inner = node;
        while let Some(around) = inner.parent().filter(|it| *it != function) {
            let in_body = around.field("body") == Some(inner);
            let catches = match around.kind() {
                "try_statement" => around
                    .named()
                    .any(|it| matches!(it.kind(), "except_clause" | "catch_clause")),
                "with_statement" => {
                    let head = self.text.get(around.start_byte()..inner.start_byte());
                    let head = String::from_utf8_lossy(head.unwrap_or_default()).to_lowercase();
                    head.contains("raises") || head.contains("suppress")
                }
                _ => false,
            };
            if catches && in_body {
                return true;
            }
            inner = around;
        }
        false
    }
}

const GROUPS: &[&str] = &["describe", "suite", "context"];
const CASES: &[&str] = &["it", "test", "specify"];

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

#[cfg(test)]
mod tests {
    use super::expected;
    use crate::model::RepoPath;

    fn told_py(body: &str) -> Vec<String> {
        let head = "import pytest\nWANT = {'a': 1}\nDATA = read()\n\n@pytest.mark.parametrize('n, want', [(1, 2)])\n";
        let text = format!("{head}def test_a(n, want, tmp_path):\n{body}");
        let path = RepoPath::new("tests/test_a.py").unwrap();
        let found = expected(&path, text.as_bytes());
        assert_eq!(found.len(), 1, "{body}");
        let assertions = found[0].assertions.iter();
        assertions
            .map(|assertion| {
                let values: Vec<&str> = assertion.values.iter().map(|it| it.was.as_str()).collect();
                values.join("|")
            })
            .collect()
    }

    fn told_ts(body: &str) -> Vec<String> {
        let text = format!(
            "const WANT = {{ a: 1 }};\ndescribe('shop', () => {{\n  it('adds', async (t) => {{\n    {body}\n  }});\n}});\n"
        );
        let path = RepoPath::new("test/a.test.ts").unwrap();
        let found = expected(&path, text.as_bytes());
        assert_eq!(found.len(), 1, "{body}");
        assert_eq!(found[0].names, ["shop", "adds"]);
        let assertions = found[0].assertions.iter();
        assertions
            .map(|assertion| {
                let values: Vec<&str> = assertion.values.iter().map(|it| it.was.as_str()).collect();
                values.join("|")
            })
            .collect()
    }

    #[test]
    fn what_python_expects_is_found() {
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
            ("    assert DATA['a'] == f(n)\n", "DATA['a']"),
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
            ("    self.assertTrue(math.isclose(f(), 0.5))\n", "0.5"),
        ] {
            assert_eq!(told_py(body), [values], "{body}");
        }
    }

    #[test]
    fn what_cannot_matter_to_python_is_left() {
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
                told_py(body).iter().all(String::is_empty),
                "{body} {:?}",
                told_py(body)
            );
        }
        let inside = "    with pytest.raises(AssertionError):\n        assert f() == 1\n";
        assert_eq!(told_py(inside), ["AssertionError"]);
    }

    #[test]
    fn what_script_expects_is_found() {
        for (body, values) in [
            ("expect(f(1)).toBe(3)", "3"),
            ("expect(f(1)).toEqual([1, { a: 'x' }])", "1|'x'"),
            ("expect(f(1)).toEqual(WANT)", "WANT"),
            ("await expect(f(1)).resolves.toBe(true)", "true"),
            ("expect(f(1)).to.deep.equal({ a: 1 })", "1"),
            ("expect(f(1)).toHaveLength(2)", "2"),
            ("expect(() => f(1)).toThrow(TypeError)", "TypeError"),
            ("expect(() => f(1)).toThrow('no')", "'no'"),
            ("expect(f(1)).toMatchInlineSnapshot(`\"a\"`)", "`\"a\"`"),
            ("assert.strictEqual(f(1), 3)", "3"),
            ("assert.deepEqual({ a: 1 }, f(1))", "1"),
            ("assert.throws(() => f(1), RangeError)", "RangeError"),
            ("assert(f(1) === 3)", "3"),
            ("assert.ok(f(1) === 3, 'message')", "3"),
            ("t.is(f(1), 'x')", "'x'"),
            ("assert(f(1) === 3 && g() == 'x')", "3|'x'"),
            ("expect(f()).toEqual([expect.closeTo(0.5, 2)])", "0.5"),
            (
                "expect(f(1)).toEqual(new Date('2026-01-01'))",
                "new Date('2026-01-01')",
            ),
        ] {
            assert_eq!(told_ts(body), [values], "{body}");
        }
    }

    #[test]
    fn what_cannot_matter_to_script_is_left() {
        for body in [
            "expect(f(1)).not.toBe(3)",
            "expect(f(1)).toBeTruthy()",
            "expect(f(1)).toBeGreaterThan(3)",
            "expect(f(1)).toEqual(g(3))",
            "expect(f(1)).toEqual(expect.objectContaining({ a: 1 }))",
            "expect(() => f(1)).toThrow(/no/)",
            "assert.ok(f(1))",
            "const r = f(1); assert.equal(r, g(2))",
        ] {
            assert!(
                told_ts(body).iter().all(String::is_empty),
                "{body} {:?}",
                told_ts(body)
            );
        }
    }
}
