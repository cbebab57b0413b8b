//! Walks syntax trees and reads string literals.

use tree_sitter::{Node, TreeCursor};

/// What is asked of a node of a tree.
pub(super) trait Syntax<'t> {
    /// The first child of this field.
    fn field(self, name: &str) -> Option<Node<'t>>;
    /// Its text; empty when there is none.
    fn field_text(self, name: &str, text: &[u8]) -> String;
    /// All children of this field.
    fn fields(self, name: &'static str) -> impl Iterator<Item = Node<'t>>;
    /// All children, tokens such as brackets included.
    fn all(self) -> impl Iterator<Item = Node<'t>>;
    /// All children that the grammar names.
    fn named(self) -> impl Iterator<Item = Node<'t>>;
}

impl<'t> Syntax<'t> for Node<'t> {
    fn field(self, name: &str) -> Option<Node<'t>> {
        self.child_by_field_name(name)
    }

    fn field_text(self, name: &str, text: &[u8]) -> String {
        self.field(name).map_or_else(String::new, |child| text_of(child, text))
    }

    fn fields(self, name: &'static str) -> impl Iterator<Item = Node<'t>> {
        children(self, move |cursor| cursor.field_name() == Some(name))
    }

    fn all(self) -> impl Iterator<Item = Node<'t>> {
        children(self, |_| true)
    }

    fn named(self) -> impl Iterator<Item = Node<'t>> {
        children(self, |cursor| cursor.node().is_named())
    }
}

// Uses a cursor because asking for children by their number walks from the first each time.
fn children<'t>(
    node: Node<'t>,
    is_meant: impl Fn(&TreeCursor<'t>) -> bool,
) -> impl Iterator<Item = Node<'t>> {
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    std::iter::from_fn(move || {
        while more {
            let child = is_meant(&cursor).then(|| cursor.node());
            more = cursor.goto_next_sibling();
            if child.is_some() {
                return child;
            }
        }
        None
    })
}

/// Moves a cursor on in the order of the text: into its node when `down`, else past it. `above` holds what
/// the nodes around it are known by, and `here` is that of its own. `false` at the end.
pub(super) fn next<T>(
    cursor: &mut TreeCursor<'_>,
    down: bool,
    above: &mut Vec<T>,
    here: T,
) -> bool {
    if down && cursor.goto_first_child() {
        above.push(here);
        return true;
    }
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
        above.pop();
    }
    true
}

/// The 1-based line a node starts on.
pub(super) fn line_of(node: Node<'_>) -> u32 {
    node.start_position().row as u32 + 1
}

/// The 1-based line a node ends on.
pub(super) fn end_line_of(node: Node<'_>) -> u32 {
    node.end_position().row as u32 + 1
}

/// The node's source text, lossily decoded.
pub(super) fn text_of(node: Node<'_>, text: &[u8]) -> String {
    String::from_utf8_lossy(text.get(node.byte_range()).unwrap_or_default()).into_owned()
}

/// A string with its escapes decoded, as both languages write them.
pub(super) fn unescape_text(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('x') => out.extend(code_point(chars.by_ref().take(2))),
            Some('u') => {
                if chars.as_str().starts_with('{') {
                    let digits = chars.by_ref().skip(1).take_while(|c| *c != '}');
                    out.extend(code_point(digits));
                } else {
                    out.extend(code_point(chars.by_ref().take(4)));
                }
            }
            Some('\n') | None => {}
            Some(other) => out.push(other),
        }
    }
    out
}

fn code_point(digits: impl Iterator<Item = char>) -> Option<char> {
    let digits: String = digits.collect();
    char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::unescape_text;

    #[test]
    fn escapes_are_decoded() {
        for (text, value) in [
            (r"a\x2fb", "a/b"),
            (r"\u002e/\u{78}", "./x"),
            (r"\/\q\", "/q"),
            (r"\u{110000}", ""),
        ] {
            assert_eq!(unescape_text(text), value, "{text}");
        }
    }
}
