use std::collections::HashMap;
use std::iter::Peekable;
use std::str::CharIndices;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use tree_sitter::Node;

use super::literal::{Syntax, text_of};

/// A query of `grammars/`, read when it is first asked. The library's own engine studies the whole grammar
/// before it asks anything, 20 to 45 ms for each of TypeScript's in every run of the program; what we ask stands
/// on the path from a node to its near children and needs none of that.
pub(super) type Query = LazyLock<Patterns>;

/// Patterns by the kind of the node that they begin at, each with its number.
pub(super) struct Patterns(HashMap<&'static str, Vec<(usize, Pattern)>, RandomState>);

#[derive(Default, Clone)]
struct Pattern {
    // One of these, in place of all that follows but captures.
    one_of: Vec<Pattern>,
    // Any named node where it is empty.
    kind: &'static str,
    token: bool,
    // Fields that must not be there.
    without: Vec<&'static str>,
    children: Vec<Child>,
    captures: Vec<&'static str>,
    // Captures, and what one of their texts must be.
    conditions: Vec<Vec<&'static str>>,
}

#[derive(Clone)]
struct Child {
    field: Option<&'static str>,
    first: bool,
    optional: bool,
    pattern: Pattern,
}

/// What a match captures, by names, outer before inner.
pub(super) type Captures<'t> = Vec<(&'static str, Node<'t>)>;

/// The first node that is captured by a name.
pub(super) fn get<'t>(found: &Captures<'t>, name: &str) -> Option<Node<'t>> {
    found.iter().find(|it| it.0 == name).map(|it| it.1)
}

impl Patterns {
    /// Reads a query.
    pub(super) fn new(text: &'static str) -> Self {
        let mut reader = Reader {
            text,
            chars: text.char_indices().peekable(),
        };
        let mut patterns: HashMap<_, Vec<_>, _> = HashMap::default();
        let mut number = 0;
        while let Some(pattern) = reader.pattern() {
            let parts = match pattern.one_of.as_slice() {
                [] => vec![pattern],
                parts => {
                    let with_own = |part: &Pattern| {
                        let mut part = part.clone();
                        part.captures.extend(&pattern.captures);
                        part
                    };
                    parts.iter().map(with_own).collect()
                }
            };
            for part in parts {
                let row = patterns.entry(part.kind).or_default();
                row.push((number, part));
            }
            number += 1;
        }
        Self(patterns)
    }

    /// Gives each match that begins at a node, with the number of its pattern.
    pub(super) fn at<'t>(
        &self,
        node: Node<'t>,
        text: &[u8],
        mut take: impl FnMut(usize, &Captures<'t>),
    ) {
        let Some(rows) = self.0.get(node.kind()) else {
            return;
        };
        let deep = rows.iter().any(|(_, it)| !it.children.is_empty());
        let children = if deep { with_fields(node) } else { Vec::new() };
        let mut captured = Vec::new();
        // The word `type` is of the same kind as what it stands in.
        let named = node.is_named();
        for (number, pattern) in rows.iter().filter(|(_, it)| it.token != named) {
            pattern.below(node, &children, &mut captured, &mut |found| {
                if pattern.holds(found, text) {
                    take(*number, found);
                }
                true
            });
        }
    }
}

// Goes on with a match; whether it became one.
type Then<'a, 't> = &'a mut dyn FnMut(&mut Captures<'t>) -> bool;

impl Pattern {
    fn at<'t>(&self, node: Node<'t>, found: &mut Captures<'t>, then: Then<'_, 't>) -> bool {
        if self.one_of.is_empty() {
            if !self.matches(node) {
                return false;
            }
            let deep = !self.children.is_empty();
            let children = if deep { with_fields(node) } else { Vec::new() };
            return self.below(node, &children, found, then);
        }
        let before = found.len();
        found.extend(self.captures.iter().map(|it| (*it, node)));
        let mut any = false;
        for one in &self.one_of {
            any |= one.at(node, found, then);
        }
        found.truncate(before);
        any
    }

    // Matches of a node that is of this kind.
    fn below<'t>(
        &self,
        node: Node<'t>,
        children: &[(Option<&'t str>, Node<'t>)],
        found: &mut Captures<'t>,
        then: Then<'_, 't>,
    ) -> bool {
        if self.without.iter().any(|it| node.field(it).is_some()) {
            return false;
        }
        let before = found.len();
        found.extend(self.captures.iter().map(|it| (*it, node)));
        let any = below(&self.children, children, 0, found, then);
        found.truncate(before);
        any
    }

    fn matches(&self, node: Node<'_>) -> bool {
        node.is_named() != self.token && (self.kind.is_empty() || node.kind() == self.kind)
    }

    fn holds(&self, found: &Captures<'_>, text: &[u8]) -> bool {
        self.conditions.iter().all(|condition| {
            let Some((name, texts)) = condition.split_first() else {
                return true;
            };
            get(found, name).is_some_and(|it| texts.contains(&text_of(it, text).as_str()))
        })
    }
}

// Matches of the patterns of children in the order of the children from one of them on.
fn below<'t>(
    wanted: &[Child],
    children: &[(Option<&'t str>, Node<'t>)],
    from: usize,
    found: &mut Captures<'t>,
    then: Then<'_, 't>,
) -> bool {
    let Some((first, rest)) = wanted.split_first() else {
        return then(found);
    };
    let mut any = false;
    for (at, (field, child)) in children.iter().enumerate().skip(from) {
        if first.field.is_none() || first.field == *field {
            any |= first.pattern.at(*child, found, &mut |found| {
                below(rest, children, at + 1, found, then)
            });
        }
        if first.first && child.is_named() {
            break;
        }
    }
    any || (first.optional && below(rest, children, from, found, then))
}

fn with_fields(node: Node<'_>) -> Vec<(Option<&str>, Node<'_>)> {
    let mut cursor = node.walk();
    let mut found = Vec::new();
    let mut more = cursor.goto_first_child();
    while more {
        found.push((cursor.field_name(), cursor.node()));
        more = cursor.goto_next_sibling();
    }
    found
}

// The part of the language of queries that is used: kinds, tokens, fields, `!field`, `_`, alternatives, `.` before
// a child that comes first, `?` on a child, captures, `#eq?` and `#any-of?` against texts.
struct Reader {
    text: &'static str,
    chars: Peekable<CharIndices<'static>>,
}

impl Reader {
    fn peek(&mut self) -> Option<char> {
        while let Some((_, next)) = self.chars.peek().copied() {
            if next == ';' {
                while self.chars.next_if(|(_, it)| *it != '\n').is_some() {}
            } else if !next.is_whitespace() {
                return Some(next);
            }
            self.chars.next();
        }
        None
    }

    fn skip(&mut self, mark: char) -> bool {
        let is_next = self.peek() == Some(mark);
        if is_next {
            self.chars.next();
        }
        is_next
    }

    fn word(&mut self) -> &'static str {
        self.peek();
        let is_part = |it: char| it.is_alphanumeric() || "_.#?-".contains(it);
        self.take_while(is_part)
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'static str {
        let start = self.chars.peek().map_or(self.text.len(), |it| it.0);
        while self.chars.next_if(|(_, it)| is_part(*it)).is_some() {}
        let end = self.chars.peek().map_or(self.text.len(), |it| it.0);
        self.text.get(start..end).unwrap_or_default()
    }

    fn quoted(&mut self) -> &'static str {
        self.chars.next();
        let inside = self.take_while(|it| it != '"');
        self.chars.next();
        inside
    }

    fn pattern(&mut self) -> Option<Pattern> {
        let mut pattern = Pattern::default();
        match self.peek()? {
            '(' => {
                self.chars.next();
                self.inside(&mut pattern);
            }
            '[' => {
                self.chars.next();
                while !self.skip(']') {
                    pattern.one_of.push(self.pattern()?);
                }
            }
            '"' => {
                pattern.kind = self.quoted();
                pattern.token = true;
            }
            _ => {
                self.word();
            }
        }
        while self.skip('@') {
            pattern.captures.push(self.word());
        }
        Some(pattern)
    }

    // What stands in brackets, up to their end.
    fn inside(&mut self, pattern: &mut Pattern) {
        // Brackets around a pattern and its conditions.
        if self.peek() == Some('(') {
            *pattern = self.pattern().unwrap_or_default();
        } else {
            pattern.kind = Some(self.word())
                .filter(|it| *it != "_")
                .unwrap_or_default();
        }
        let mut first = false;
        while !self.skip(')') {
            match self.peek() {
                None => return,
                Some('.') => {
                    self.chars.next();
                    first = true;
                }
                Some('!') => {
                    self.chars.next();
                    pattern.without.push(self.word());
                }
                Some('(') if self.is_condition() => pattern.conditions.push(self.condition()),
                Some(next) => {
                    let is_field = next.is_alphabetic();
                    let field = is_field.then(|| self.word());
                    self.skip(':');
                    let Some(child) = self.pattern() else { return };
                    let optional = self.skip('?');
                    let mut child = Child {
                        field,
                        first,
                        optional,
                        pattern: child,
                    };
                    while self.skip('@') {
                        child.pattern.captures.push(self.word());
                    }
                    pattern.children.push(child);
                    first = false;
                }
            }
        }
    }

    fn is_condition(&self) -> bool {
        let mut ahead = self.chars.clone();
        ahead.next();
        ahead.next().is_some_and(|(_, it)| it == '#')
    }

    fn condition(&mut self) -> Vec<&'static str> {
        self.skip('(');
        self.word();
        self.skip('@');
        let mut condition = vec![self.word()];
        while self.peek() == Some('"') {
            condition.push(self.quoted());
        }
        self.skip(')');
        condition
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tree_sitter::{QueryCursor, StreamingIterator};

    use crate::languages::language::{Grammar, LANGUAGES, Language};
    use crate::languages::literal::next;
    use crate::languages::parse::parse;

    type Match = (usize, Vec<(String, [usize; 2])>);

    // What the library's engine finds in all of a text, and ours.
    fn both(
        language: &Language,
        grammar: &'static Grammar,
        query: &str,
        text: &[u8],
    ) -> [BTreeSet<Match>; 2] {
        let tree = parse(grammar, text).unwrap();
        let name = |it: &str| (!it.starts_with('_')).then(|| it.to_owned());
        let path = format!(
            "{}/grammars/{}/{query}.scm",
            env!("CARGO_MANIFEST_DIR"),
            language.name
        );
        let source = std::fs::read_to_string(path).unwrap();
        let theirs = tree_sitter::Query::new(&(grammar.of)(), &source).unwrap();
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(&theirs, tree.root_node(), text);
        let mut found = [BTreeSet::new(), BTreeSet::new()];
        while let Some(one) = matches.next() {
            let captures = one.captures().iter().filter_map(|capture| {
                let named = name(theirs.capture_names()[capture.index as usize])?;
                Some((named, [capture.node.start_byte(), capture.node.end_byte()]))
            });
            let mut captures: Vec<_> = captures.collect();
            captures.sort();
            found[0].insert((one.pattern_index, captures));
        }
        let ours = match query {
            "tags" => &language.tags,
            "outline" => &language.outline,
            _ => &language.uses,
        };
        let mut cursor = tree.walk();
        loop {
            ours.at(cursor.node(), text, |number, captured| {
                let captures = captured.iter().filter_map(|(index, node)| {
                    Some((name(index)?, [node.start_byte(), node.end_byte()]))
                });
                let mut captures: Vec<_> = captures.collect();
                captures.sort();
                found[1].insert((number, captures));
            });
            if !next(&mut cursor, true, &mut Vec::new(), ()) {
                return found;
            }
        }
    }

    const PYTHON: &str = "import a.b as c\nfrom .d import e\nX: int = Y = 1\n@f\ndef g(h, i=1, *j):\n    # so\n    k.l = m\nclass N(O):\n    def p(self):\n        self.q = r(s=t)\nif u:\n    for v, w in x: pass\nmatch y:\n    case A(b=c): pass\npytest_plugins = ['z']\ntype B[C] = D\n";
    const SCRIPT: &str = "import { a as b } from 'c';\nexport { d as e, f } from './g';\nexport * from 'h';\nexport default function i(j, k = 1) { return j.l; }\nexport const { m, n: [o] } = p;\nmodule.exports = { q, r: s };\nmodule.exports = require('t');\nmodule.exports = { ...require('t'), G };\nexports.u = v;\nit('w', async () => { await x(); });\nclass Y { z = 1; A() { this.B = C; } }\nconst D = { E: () => 1 };\n";

    #[test]
    fn queries_mean_what_they_mean_to_the_library() {
        let [typescript, python] = LANGUAGES else {
            panic!("two languages")
        };
        for (language, extension, text) in [(python, "py", PYTHON), (typescript, "tsx", SCRIPT)] {
            let kinds = language.files.iter();
            let mut kinds = kinds.filter(|it| it.extensions.contains(&extension));
            let grammar = kinds.next().unwrap().grammar;
            for query in ["tags", "outline", "uses"] {
                let [theirs, ours] = both(language, grammar, query, text.as_bytes());
                assert!(theirs.len() > 10);
                assert_eq!(ours, theirs, "{} {query}", language.name);
            }
        }
    }
}
