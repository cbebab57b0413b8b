//! Runs the queries of `grammars/`. It replaces tree-sitter's engine because that takes 20 to 45 ms to
//! start.

use std::collections::HashMap;
use std::iter::Peekable;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use tree_sitter::Node;

use super::literal::{Syntax, text_of};

/// A query of `grammars/`, read when it is first asked. The library's own engine studies the whole grammar
/// before it asks anything, 20 to 45 ms for each of TypeScript's in every run of the program; our queries look only
/// at a node's near children and need none of that.
pub(super) type Query = LazyLock<Patterns>;

/// Patterns by the kind of the node that they begin at, each with its number.
pub(super) struct Patterns(HashMap<&'static str, Vec<(usize, Pattern)>, RandomState>);

#[derive(Default, Clone)]
struct Pattern {
    // One of these, in place of the kind and all below it.
    one_of: Vec<Pattern>,
    // Any named node where it is empty.
    kind: &'static str,
    is_token: bool,
    // Fields that must not be there.
    without: Vec<&'static str>,
    children: Vec<Pattern>,
    captures: Vec<&'static str>,
    // Captures, and what one of their texts must be.
    conditions: Vec<Vec<&'static str>>,
    // Its state among the children of the node above.
    field: Option<&'static str>,
    is_first: bool,
    is_optional: bool,
}

/// What a match captures, by names, outer before inner.
pub(super) type Captures<'t> = Vec<(&'static str, Node<'t>)>;

/// The first node that is captured by a name.
pub(super) fn get<'t>(found: &Captures<'t>, name: &str) -> Option<Node<'t>> {
    let mut named = found.iter().filter(|(captured, _)| *captured == name);
    named.next().map(|(_, node)| *node)
}

impl Patterns {
    /// Reads a query.
    pub(super) fn new(text: &'static str) -> Self {
        let mut tokens = tokens_of(text).filter(|token| !token.starts_with(';')).peekable();
        let mut patterns: HashMap<_, Vec<_>, _> = HashMap::default();
        let mut number = 0;
        while let Some(pattern) = read_pattern(&mut tokens) {
            let mut parts = pattern.one_of.clone();
            for part in &mut parts {
                part.captures.extend(&pattern.captures);
            }
            if parts.is_empty() {
                parts.push(pattern);
            }
            for part in parts {
                patterns.entry(part.kind).or_default().push((number, part));
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
        let mut captured = Vec::new();
        for (number, pattern) in rows {
            pattern.at(node, &mut captured, &mut |found| {
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
        let before = found.len();
        let mut any = false;
        if !self.one_of.is_empty() {
            found.extend(self.captures.iter().map(|name| (*name, node)));
            for one in &self.one_of {
                any |= one.at(node, found, then);
            }
        } else if self.matches(node) {
            found.extend(self.captures.iter().map(|name| (*name, node)));
            let is_deep = !self.children.is_empty();
            let children = if is_deep { with_fields(node) } else { Vec::new() };
            any = match_children(&self.children, &children, 0, found, then);
        }
        found.truncate(before);
        any
    }

    // The word `type` is of the same kind as what it is in.
    fn matches(&self, node: Node<'_>) -> bool {
        node.is_named() != self.is_token
            && (self.kind.is_empty() || node.kind() == self.kind)
            && !self.without.iter().any(|name| node.field(name).is_some())
    }

    fn holds(&self, found: &Captures<'_>, text: &[u8]) -> bool {
        self.conditions.iter().all(|condition| {
            let Some((name, texts)) = condition.split_first() else {
                return true;
            };
            get(found, name).is_some_and(|node| texts.contains(&text_of(node, text).as_str()))
        })
    }
}

// Matches of the patterns of children in the order of the children from one of them on.
fn match_children<'t>(
    wanted: &[Pattern],
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
            any |= first.at(*child, found, &mut |found| {
                match_children(rest, children, at + 1, found, then)
            });
        }
        if first.is_first && child.is_named() {
            break;
        }
    }
    any || (first.is_optional && match_children(rest, children, from, found, then))
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

// The part of the language of queries that is used: comments, tokens, captures, `!field`, predicates, fields, kinds
// and `_`, alternatives, `.` before a child that comes first, `?`.
fn tokens_of(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        text = text.trim_start();
        let length = match text.as_bytes() {
            [b';', ..] => text.find('\n')?,
            [b'"', ..] => text[1..].find('"')? + 2,
            [b'(', b'#', ..] => text.find('?')? + 1,
            [b'(' | b')' | b'[' | b']' | b'.' | b'?', ..] => 1,
            _ => {
                let rest = text.get(1..)?;
                rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_.:".contains(c)))? + 1
            }
        };
        let (token, rest) = text.split_at(length);
        text = rest;
        Some(token)
    })
}

fn read_pattern(tokens: &mut Peekable<impl Iterator<Item = &'static str>>) -> Option<Pattern> {
    let field = tokens.next_if(|token| token.ends_with(':'));
    let mut pattern = Pattern {
        field: field.map(|field| field.trim_end_matches(':')),
        ..Pattern::default()
    };
    match tokens.next()? {
        "(" => read_inside(&mut pattern, tokens)?,
        "[" => {
            while tokens.next_if_eq(&"]").is_none() {
                pattern.one_of.push(read_pattern(tokens)?);
            }
        }
        token => {
            pattern.kind = token.trim_matches('"');
            pattern.is_token = true;
        }
    }
    pattern.is_optional = tokens.next_if_eq(&"?").is_some();
    while let Some(capture) = tokens.next_if(|token| token.starts_with('@')) {
        pattern.captures.push(capture.trim_start_matches('@'));
    }
    Some(pattern)
}

// What is in brackets, up to their end.
fn read_inside(
    pattern: &mut Pattern,
    tokens: &mut Peekable<impl Iterator<Item = &'static str>>,
) -> Option<()> {
    pattern.kind = Some(tokens.next()?).filter(|kind| *kind != "_").unwrap_or_default();
    let mut is_first = false;
    while tokens.next_if_eq(&")").is_none() {
        let token = *tokens.peek()?;
        if token == "." {
            tokens.next();
            is_first = true;
        } else if let Some(field) = token.strip_prefix('!') {
            tokens.next();
            pattern.without.push(field);
        } else if token.starts_with("(#") {
            tokens.next();
            let mut condition = Vec::new();
            while let Some(part) = tokens.next_if(|part| *part != ")") {
                condition.push(part.trim_matches(['@', '"']));
            }
            tokens.next();
            pattern.conditions.push(condition);
        } else {
            let child = read_pattern(tokens)?;
            pattern.children.push(Pattern { is_first, ..child });
            is_first = false;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tree_sitter::{QueryCursor, StreamingIterator};

    use crate::languages::language::{Grammar, Language};
    use crate::languages::literal::next;
    use crate::languages::parse::parse;
    use crate::languages::python::PYTHON;
    use crate::languages::typescript::TYPESCRIPT;

    type Match = (usize, Vec<(String, [usize; 2])>);

    // What the library's engine finds in all of a text, and ours.
    fn both(
        language: &Language,
        grammar: &'static Grammar,
        query: &str,
        text: &[u8],
    ) -> [BTreeSet<Match>; 2] {
        let tree = parse(grammar, text).unwrap();
        let name = |name: &str| (!name.starts_with('_')).then(|| name.to_owned());
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

    const MODULE: &str = "import a.b as c\nfrom .d import e\nX: int = Y = 1\n@f\ndef g(h, i=1, *j):\n    # so\n    k.l = m\nclass N(O):\n    def p(self):\n        self.q = r(s=t)\nif u:\n    for v, w in x: pass\nmatch y:\n    case A(b=c): pass\npytest_plugins = ['z']\ntype B[C] = D\n";
    const SCRIPT: &str = "import { a as b } from 'c';\nexport { d as e, f } from './g';\nexport * from 'h';\nexport default function i(j, k = 1) { return j.l; }\nexport const { m, n: [o] } = p;\nmodule.exports = { q, r: s };\nmodule.exports = require('t');\nmodule.exports = { ...require('t'), G };\nexports.u = v;\nit('w', async () => { await x(); });\nclass Y { z = 1; A() { this.B = C; } }\nconst D = { E: () => 1 };\n";

    #[test]
    fn queries_match_like_library() {
        let (typescript, python) = (&TYPESCRIPT, &PYTHON);
        for (language, extension, text) in [(python, "py", MODULE), (typescript, "tsx", SCRIPT)] {
            let kinds = language.files.iter();
            let mut kinds = kinds.filter(|kind| kind.extensions.contains(&extension));
            let grammar = kinds.next().unwrap().grammar;
            for query in ["tags", "outline", "uses"] {
                let [theirs, ours] = both(language, grammar, query, text.as_bytes());
                assert!(theirs.len() > 10);
                assert_eq!(ours, theirs, "{} {query}", language.name);
            }
        }
    }
}
