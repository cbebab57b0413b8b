use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::languages::expected::{
    Assertion, Asserts, Exchange, ExpectingTest, Says, assertion, asserts, below, expected_side,
    other_literal,
};
use crate::languages::literal::{Syntax, end_line_of, line_of, text_of};

/// The tests of a file: calls that are given a title and a function.
pub(super) fn expected(root: Node<'_>, text: &[u8]) -> Vec<ExpectingTest> {
    let mut found = Vec::new();
    tests(root, text, &[], &mut found);
    found
}

fn tests(node: Node<'_>, text: &[u8], around: &[String], found: &mut Vec<ExpectingTest>) {
    for child in node.named() {
        let titled = (child.kind() == "call_expression")
            .then(|| titled(child, text))
            .flatten();
        let Some((group, title, function)) = titled else {
            tests(child, text, around, found);
            continue;
        };
        let mut names = around.to_vec();
        names.push(title);
        let nested = found.len();
        if let Some(body) = function.field("body") {
            tests(body, text, &names, found);
        }
        // A test in a test is one of its own, and that around it has the rest.
        if !group {
            let inner: Vec<std::ops::Range<u32>> = found
                .get(nested..)
                .unwrap_or_default()
                .iter()
                .map(|it| it.lines.clone())
                .collect();
            let reads = Asserting {
                text,
                bound: bound_in(child, text),
            };
            let mut assertions = reads.assertions(function);
            assertions.retain(|it| !inner.iter().any(|lines| lines.contains(&it.line)));
            found.insert(
                nested,
                ExpectingTest {
                    names,
                    given: Vec::new(),
                    lines: line_of(child)..end_line_of(child) + 1,
                    assertions,
                },
            );
        }
    }
}

// Whether it groups tests, its title and its function.
fn titled<'t>(call: Node<'t>, text: &[u8]) -> Option<(bool, String, Node<'t>)> {
    let arguments = call.field("arguments")?;
    let given: Vec<Node<'t>> = arguments.named().collect();
    let title = given.first().filter(|it| is_text(**it))?;
    let is_function =
        |it: &&Node<'t>| matches!(it.kind(), "arrow_function" | "function_expression");
    let function = *given.iter().skip(1).find(is_function)?;
    let mut root = call.field("function")?;
    let mut last = String::new();
    while let Some(inner) = root.field("object").or_else(|| root.field("function")) {
        if last.is_empty() {
            last = root.field_text("property", text);
        }
        root = inner;
    }
    let root = text_of(root, text);
    let words = [root.as_str(), last.as_str()];
    let group = words.iter().any(|it| GROUPS.contains(it));
    (group || words.iter().any(|it| CASES.contains(it)))
        .then(|| (group, plain(*title, text), function))
}

const GROUPS: &[&str] = &["describe", "suite", "context"];
const CASES: &[&str] = &["it", "test", "specify"];

// A title without its quotes.
fn plain(title: Node<'_>, text: &[u8]) -> String {
    let said = text_of(title, text);
    let inner = said.get(1..said.len().saturating_sub(1));
    inner.unwrap_or_default().to_owned()
}

type Bound = BTreeMap<String, Says>;

// Names by declarations in the file before a place, and in it.
fn bound_in(case: Node<'_>, text: &[u8]) -> Bound {
    let mut scopes = Vec::new();
    let mut next = Some(case);
    while let Some(node) = next {
        scopes.push(node);
        next = node.parent();
    }
    let mut bound = Bound::new();
    for scope in scopes.into_iter().rev() {
        let inner = scope == case;
        let enter = |it: Node<'_>| {
            inner || matches!(it.kind(), "lexical_declaration" | "variable_declaration")
        };
        let declared = below(scope, |it| {
            enter(it)
                || it
                    .parent()
                    .is_some_and(|it| it.kind().ends_with("_declaration"))
        });
        for node in declared {
            let (name, value) = match node.kind() {
                "variable_declarator" => (node.field("name"), node.field("value")),
                "assignment_expression" => (node.field("left"), None),
                _ => continue,
            };
            let Some(name) = name.filter(|it| it.kind() == "identifier") else {
                continue;
            };
            let said = value.map_or(Says::Nothing, |it| says(it, text, &bound));
            bound.insert(text_of(name, text), said.max(Says::Made));
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
        for node in below(function, |it| it.kind() != "try_statement") {
            if node.kind() == "call_expression"
                && let Some(values) = self.call(node)
            {
                found.push(assertion(node, values));
            }
        }
        found
    }

    fn call(&self, node: Node<'_>) -> Option<Vec<Exchange>> {
        let function = node.field("function")?;
        let name = match function.kind() {
            "member_expression" => function.field_text("property", self.text),
            _ => text_of(function, self.text),
        };
        let (how, at) = asserts("typescript", &name)?;
        let head = text_of(function, self.text);
        // Another end than what is said, and tests of types.
        if head.contains(".not.") || head.starts_with("expectTypeOf") {
            return None;
        }
        let given: Vec<Node<'_>> = node
            .field("arguments")?
            .named()
            .filter(|it| it.kind() != "comment")
            .collect();
        let of_subject = head.starts_with("expect(") || head.starts_with("await expect(");
        let one = given.get(if of_subject && how == Asserts::Pair {
            0
        } else {
            at
        });
        let one = one.copied();
        Some(match (how, one) {
            (Asserts::Pair, Some(one)) if of_subject => self.value(one),
            (Asserts::Pair, Some(one)) => {
                let sides = given.get(at + 1).map(|other| [one, *other]);
                let side = sides.and_then(|sides| expected_side(sides, |it| self.says(it)));
                side.map(|it| self.exchanges(it)).unwrap_or_default()
            }
            (Asserts::Value, Some(one)) => self.value(one),
            (Asserts::Length, Some(one)) if one.kind() == "number" => {
                let other = format!("({} + 7919)", text_of(one, self.text));
                vec![Exchange::new(one, self.text, other, Some(RAISES))]
            }
            (Asserts::Text | Asserts::Raises, Some(one)) if is_text(one) => self.value(one),
            (Asserts::Raises, Some(one)) if one.kind() == "identifier" => {
                let is_type = text_of(one, self.text).starts_with(char::is_uppercase);
                let other = Exchange::new(one, self.text, OTHER_ERROR.to_owned(), Some(RAISES));
                is_type.then_some(other).into_iter().collect()
            }
            (Asserts::Raises, Some(one)) if one.kind() == "object" => self.value(one),
            (Asserts::Snapshot, Some(one)) if one.kind() == "template_string" => {
                let was = text_of(one, self.text);
                let kept = was.get(..was.len().saturating_sub(1)).unwrap_or_default();
                let other = format!("{kept}~7919`");
                vec![Exchange::new(one, self.text, other, None)]
            }
            (Asserts::Truth, Some(one)) if one.kind() == "binary_expression" => self.equal(one),
            _ => Vec::new(),
        })
    }

    fn equal(&self, node: Node<'_>) -> Vec<Exchange> {
        let operator = node.field_text("operator", self.text);
        let sides = node.field("left").zip(node.field("right"));
        let side = sides
            .filter(|_| matches!(operator.as_str(), "===" | "=="))
            .and_then(|(left, right)| expected_side([left, right], |it| self.says(it)));
        side.map(|it| self.exchanges(it)).unwrap_or_default()
    }

    fn value(&self, node: Node<'_>) -> Vec<Exchange> {
        if self.says(node) == Says::Nothing {
            return Vec::new();
        }
        self.exchanges(node)
    }

    fn says(&self, node: Node<'_>) -> Says {
        says(node, self.text, &self.bound)
    }

    fn exchanges(&self, node: Node<'_>) -> Vec<Exchange> {
        let members = |node: Node<'_>| -> Vec<Exchange> {
            let members = node.named().filter(|it| it.kind() != "comment");
            members.flat_map(|it| self.exchanges(it)).collect()
        };
        match node.kind() {
            "array" | "object" | "parenthesized_expression"
                if node.named().any(|it| it.kind() != "comment") =>
            {
                members(node)
            }
            "pair" => node
                .field("value")
                .map(|it| self.exchanges(it))
                .unwrap_or_default(),
            "spread_element" | "shorthand_property_identifier" => Vec::new(),
            _ => {
                let was = text_of(node, self.text);
                let other = other_literal(&was);
                let other = other.unwrap_or_else(|| format!("({OTHER})({was})"));
                vec![Exchange::new(node, self.text, other, Some(RAISES))]
            }
        }
    }
}

fn says(node: Node<'_>, text: &[u8], bound: &Bound) -> Says {
    let of_all = |nodes: &mut dyn Iterator<Item = Node<'_>>| {
        let all = nodes.map(|it| says(it, text, bound));
        all.max().unwrap_or(Says::Value)
    };
    match node.kind() {
        "number" | "true" | "false" | "null" | "undefined" | "comment" | "type_identifier"
        | "predefined_type" => Says::Value,
        "string" | "template_string" if is_text(node) => Says::Value,
        "array"
        | "object"
        | "unary_expression"
        | "parenthesized_expression"
        | "as_expression"
        | "satisfies_expression" => of_all(&mut node.named()),
        "pair" => of_all(&mut node.field("value").into_iter()),
        "binary_expression" => of_all(&mut node.named()).max(Says::Made),
        "identifier" | "shorthand_property_identifier" => match text_of(node, text).as_str() {
            "undefined" | "NaN" | "Infinity" => Says::Value,
            name => bound.get(name).copied().unwrap_or(Says::Nothing),
        },
        "member_expression" | "subscript_expression" => {
            let root = node.field("object").map(|it| says(it, text, bound));
            root.unwrap_or(Says::Nothing).max(Says::Made)
        }
        "new_expression" => {
            let given = node.field("arguments").into_iter();
            of_all(&mut given.flat_map(Syntax::named)).max(Says::Made)
        }
        _ => Says::Nothing,
    }
}

// A text in which nothing is put.
fn is_text(node: Node<'_>) -> bool {
    matches!(node.kind(), "string" | "template_string")
        && node.named().all(|it| it.kind() != "template_substitution")
}

// As in Python. Plain script: types would be an error in a file without them, and a number of any kind is
// taken for one.
const OTHER: &str = "(v => typeof v === 'boolean' ? !v : typeof v === 'number' ? (v !== v ? 7919 : v >= 0 ? -v - 7919 : 7919 - v) \
    : typeof v === 'bigint' ? v + BigInt(7919) : typeof v === 'string' ? v + '~7919' : Array.isArray(v) ? [...v, 7919] \
    : v && typeof v === 'object' && Object.getPrototypeOf(v) === Object.prototype ? { ...v, '~7919': 7919 } : Symbol('7919'))";
const OTHER_ERROR: &str = "class extends Error {}";
const RAISES: &str = "(() => { throw new Error('~7919') })()";

#[cfg(test)]
mod tests {
    use crate::languages::expected;
    use crate::model::RepoPath;

    fn told(body: &str) -> Vec<String> {
        let text = format!(
            "const WANT = {{ a: 1 }};\ndescribe('shop', () => {{\n  it('adds', async (t) => {{\n    {body}\n  }});\n}});\n"
        );
        let path = RepoPath::new("test/a.test.ts").unwrap();
        let found = expected(&path, text.as_bytes());
        assert_eq!(found.len(), 1, "{body}");
        assert_eq!(found[0].names, ["shop", "adds"]);
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
            (
                "expect(f(1)).toEqual(new Date('2026-01-01'))",
                "new Date('2026-01-01')",
            ),
        ] {
            assert_eq!(told(body), [values], "{body}");
        }
    }

    #[test]
    fn what_cannot_matter_is_left() {
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
                told(body).iter().all(String::is_empty),
                "{body} {:?}",
                told(body)
            );
        }
    }
}
