use tree_sitter::Node;

use super::assertions::{Asserts, Role};
use super::expected::{Bound, Exchange, Rank, Reader, below};
use super::literal::{Syntax, text_of};

impl Reader<'_> {
    // What is expected of an expression that must be true.
    pub(super) fn truth(&self, node: Node<'_>, bound: &Bound) -> Vec<Exchange> {
        if node.kind() == "parenthesized_expression" {
            return node.named().flat_map(|it| self.truth(it, bound)).collect();
        }
        if self.shape.role(node) == Some(Role::Call) {
            let asserts = self.called(node).and_then(|it| self.shape.asserts(&it));
            return match asserts {
                Some((Asserts::Agrees, at)) => self.one_of_two(&self.arguments(node), at, bound),
                _ => Vec::new(),
            };
        }
        let parts: Vec<Node<'_>> = node.named().filter(|it| it.kind() != "comment").collect();
        let [left, right] = parts[..] else {
            return Vec::new();
        };
        let between = self.text.get(left.end_byte()..right.start_byte());
        match between.unwrap_or_default().trim_ascii() {
            b"==" | b"===" | b"is" => self.one_of_two(&parts, 0, bound),
            b"and" | b"&&" => parts.iter().flat_map(|it| self.truth(*it, bound)).collect(),
            b"in" if self.is_text(left) => vec![self.exchange(left)],
            _ => Vec::new(),
        }
    }

    // The side that says what is expected: the one that comes nearest to a value, else the second.
    fn one_of_two(&self, nodes: &[Node<'_>], at: usize, bound: &Bound) -> Vec<Exchange> {
        let Some([first, second]) = nodes.get(at..at + 2) else {
            return Vec::new();
        };
        let nearer = self.rank(*first, bound) < self.rank(*second, bound);
        self.value(if nearer { *first } else { *second }, bound)
    }

    // The name of what is called.
    fn called(&self, call: Node<'_>) -> Option<String> {
        let function = call
            .field("function")
            .or_else(|| call.field("constructor"))?;
        let last = function.named().last();
        let last = last.filter(|_| self.shape.role(function) == Some(Role::Member));
        Some(text_of(last.unwrap_or(function), self.text))
    }

    fn arguments<'n>(&self, call: Node<'n>) -> Vec<Node<'n>> {
        let given = call.field("arguments").into_iter().flat_map(Syntax::named);
        let given = given.filter(|it| !matches!(it.kind(), "keyword_argument" | "comment"));
        given.collect()
    }

    pub(super) fn call(&self, node: Node<'_>, bound: &Bound) -> Option<Vec<Exchange>> {
        let (how, at) = self.shape.asserts(&self.called(node)?)?;
        let head = node.field_text("function", self.text);
        // Another end than what is said, tests of types, and what asserts nothing by itself.
        if head.contains(".not.") || head.starts_with("expectTypeOf") || how == Asserts::Agrees {
            return None;
        }
        let given = self.arguments(node);
        let of_subject = head.starts_with("expect(") || head.starts_with("await expect(");
        if how == Asserts::Pair && !of_subject {
            return Some(self.one_of_two(&given, at, bound));
        }
        let Some(one) = given
            .get(if how == Asserts::Pair { 0 } else { at })
            .copied()
        else {
            return Some(Vec::new());
        };
        let role = self.shape.role(one);
        let by = |other: String, raises: bool| vec![self.exchanged(one, other, raises)];
        Some(match how {
            Asserts::Pair | Asserts::Value => self.value(one, bound),
            Asserts::Length if role == Some(Role::Value) => {
                by(format!("({} + 7919)", text_of(one, self.text)), true)
            }
            Asserts::Text if self.is_text(one) => self.value(one, bound),
            Asserts::Raises => match role {
                Some(Role::Name | Role::Member) => by(self.shape.other_error.clone(), true),
                Some(Role::List) if self.rank(one, bound) == Rank::Nothing => {
                    by(self.shape.other_error.clone(), true)
                }
                _ => self.value(one, bound),
            },
            Asserts::Snapshot if one.kind() == "template_string" => {
                let text = text_of(one, self.text);
                let kept = text.get(..text.len().saturating_sub(1)).unwrap_or_default();
                by(format!("{kept}~7919`"), false)
            }
            Asserts::Truth => self.truth(one, bound),
            _ => Vec::new(),
        })
    }

    fn value(&self, node: Node<'_>, bound: &Bound) -> Vec<Exchange> {
        if self.rank(node, bound) == Rank::Nothing {
            return Vec::new();
        }
        self.exchanges(node)
    }

    // Of a collection each member, of anything else the whole.
    fn exchanges(&self, node: Node<'_>) -> Vec<Exchange> {
        let is_said = |it: &Node<'_>| it.kind() != "comment";
        match self.shape.role(node) {
            Some(Role::List) if node.named().any(|it| is_said(&it)) => {
                let members = node.named().filter(is_said);
                members.flat_map(|it| self.exchanges(it)).collect()
            }
            Some(Role::Pair) => {
                let value = node.field("value").into_iter();
                value.flat_map(|it| self.exchanges(it)).collect()
            }
            Some(Role::Call) if self.is_around(node) => {
                let first = self.arguments(node).into_iter().take(1);
                first.flat_map(|it| self.exchanges(it)).collect()
            }
            Some(Role::Name) if node.kind().starts_with("shorthand") => Vec::new(),
            _ => vec![self.exchange(node)],
        }
    }

    fn exchange(&self, node: Node<'_>) -> Exchange {
        let text = text_of(node, self.text);
        let plain = (node.kind() != "concatenated_string").then(|| other_literal(&text));
        let other = plain.flatten();
        let other = other.unwrap_or_else(|| format!("({}({text}))", self.shape.other));
        self.exchanged(node, other, true)
    }

    fn exchanged(&self, node: Node<'_>, other: String, raises: bool) -> Exchange {
        Exchange {
            place: node.byte_range(),
            was: text_of(node, self.text),
            other,
            raises: raises.then(|| self.shape.raises.clone()),
        }
    }

    pub(super) fn rank(&self, node: Node<'_>, bound: &Bound) -> Rank {
        let of_all = |nodes: &mut dyn Iterator<Item = Node<'_>>| {
            let all = nodes.map(|it| self.rank(it, bound));
            all.max().unwrap_or(Rank::Value)
        };
        match self.shape.role(node) {
            Some(Role::Value) => Rank::Value,
            Some(Role::Text) if self.is_text(node) => Rank::Value,
            Some(Role::List | Role::Same) => of_all(&mut node.named()),
            Some(Role::Pair) => of_all(&mut node.field("value").into_iter()),
            Some(Role::Computed) => of_all(&mut node.named()).max(Rank::Made),
            Some(Role::Name) => {
                let name = text_of(node, self.text);
                let makes = self.shape.makes.contains(&name);
                let own = if makes { Rank::Value } else { Rank::Nothing };
                bound.get(&name).copied().unwrap_or(own)
            }
            Some(Role::Member) => {
                // A member of an enumeration or a constant.
                let name = node.named().last().map(|it| text_of(it, self.text));
                let is_capital = |it: char| it.is_uppercase() || it == '_' || it.is_numeric();
                let is_constant = name.is_some_and(|name| {
                    name.starts_with(char::is_uppercase) && name.chars().all(is_capital)
                });
                let root = node.named().next().filter(|_| !is_constant);
                root.map_or(Rank::Value, |it| self.rank(it, bound))
                    .max(Rank::Made)
            }
            Some(Role::Call) if self.makes(node, bound) => {
                let given = node.field("arguments").into_iter().flat_map(Syntax::named);
                let mut values = given.map(|value| match value.kind() {
                    "keyword_argument" => value.field("value").unwrap_or(value),
                    _ => value,
                });
                of_all(&mut values).max(Rank::Made)
            }
            _ => Rank::Nothing,
        }
    }

    // Whether a call makes a value of what it is given.
    fn makes(&self, call: Node<'_>, bound: &Bound) -> bool {
        let Some(name) = self.called(call) else {
            return false;
        };
        let on = call.field("function").and_then(|it| it.named().next());
        let is_member =
            |it: &Node<'_>| it.parent().map(|it| self.shape.role(it)) == Some(Some(Role::Member));
        self.is_around(call)
            || call.field("constructor").is_some()
            || name.starts_with(char::is_uppercase)
            || self.shape.makes.contains(&name)
            || on
                .filter(is_member)
                .is_some_and(|it| self.rank(it, bound) == Rank::Value)
    }

    fn is_around(&self, call: Node<'_>) -> bool {
        let name = self.called(call);
        name.is_some_and(|it| self.shape.around.contains(&it))
    }

    // A text in which nothing is put.
    pub(super) fn is_text(&self, node: Node<'_>) -> bool {
        let has = |it: Node<'_>, role| self.shape.role(it) == Some(role);
        has(node, Role::Text) && !below(node, |_| true).iter().any(|it| has(*it, Role::Hole))
    }
}

// Another literal in the form of one, far from it: what reads the test's text finds the other value.
// `None` for what has none that is as plain.
fn other_literal(text: &str) -> Option<String> {
    match text {
        "True" => return Some("False".to_owned()),
        "False" => return Some("True".to_owned()),
        "true" => return Some("false".to_owned()),
        "false" => return Some("true".to_owned()),
        _ => {}
    }
    if let Some(start) = text.find(['\'', '"', '`']) {
        let quote = text.get(start..=start)?;
        let triple = quote.repeat(3);
        let (head, body) = text.split_at(start);
        let closing = if body.len() >= 6 && body.starts_with(&triple) {
            &triple
        } else {
            quote
        };
        let kept = body.strip_suffix(closing)?;
        return (head.len() <= 2 && kept.len() >= closing.len())
            .then(|| format!("{head}{kept}~7919{closing}"));
    }
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |it| ("-", it));
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

#[cfg(test)]
mod tests {
    use super::other_literal;

    #[test]
    fn a_literal_is_exchanged_by_another() {
        for (text, other) in [
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
            assert_eq!(other_literal(text).as_deref(), other, "{text}");
        }
    }
}
