use std::ops::Range;

use tree_sitter::Node;

use super::literal::Syntax;

/// The list of names in a statement: where it and each of them stands in the file.
pub(super) struct Names {
    /// With its brackets, when it has some.
    pub(super) whole: Range<usize>,
    spans: Vec<Range<usize>>,
    /// The last of them takes all that is left, and stays the last.
    rest: bool,
    /// A comma stands after the last one.
    trailing: bool,
}

impl Names {
    /// The named children of a list, as its commas part them; `head`: what stands before the first.
    pub(super) fn from_list(list: Node<'_>, head: usize) -> Option<Self> {
        let (mut spans, mut trailing, mut end) = (Vec::new(), false, head);
        let mut rest = false;
        let children = list.all().filter(|it| it.start_byte() >= head);
        for child in children.filter(|it| !it.is_extra()) {
            trailing = match child.kind() {
                "," => true,
                ")" | "}" => trailing,
                _ => false,
            };
            if child.is_named() {
                rest |= child.kind() == "rest_pattern";
                spans.push(child.byte_range());
            }
            if child.kind() != ";" {
                end = child.end_byte();
            }
        }
        (!spans.is_empty()).then_some(Self {
            whole: head..end,
            spans,
            rest,
            trailing,
        })
    }

    pub(super) fn texts<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let names = self
            .spans
            .iter()
            .map(|span| text.get(span.clone()).unwrap_or_default());
        names.collect()
    }

    /// The text with one more item, where the order of the others wants it.
    pub(super) fn with(&self, text: &str, new: &str) -> Option<String> {
        let at = place(&self.texts(text), new);
        let at = if self.rest {
            at.min(self.spans.len() - 1)
        } else {
            at
        };
        let mut out = text.to_owned();
        let line_start = |at: usize| {
            text.get(..at)
                .and_then(|it| it.rfind('\n'))
                .map_or(0, |it| it + 1)
        };
        let indent_of = |at: usize| {
            let start = line_start(at);
            let before = text.get(start..at).unwrap_or_default();
            (start > 0 && before.trim().is_empty()).then(|| (start, before.to_owned()))
        };
        if let Some(next) = self.spans.get(at) {
            let (at, new) = match indent_of(next.start) {
                Some((start, indent)) => (start, format!("{indent}{new},{}", end_of(text))),
                None => (next.start, format!("{new}, ")),
            };
            out.insert_str(at, &new);
            return Some(out);
        }
        let last = self.spans.last()?;
        let Some((_, indent)) = indent_of(last.start) else {
            out.insert_str(last.end, &format!(", {new}"));
            return Some(out);
        };
        let end = text
            .get(last.end..)?
            .find('\n')
            .map_or(text.len(), |it| last.end + it);
        let comma = if self.trailing { "," } else { "" };
        let line_end = end_of(text);
        let end = if line_end == "\r\n" {
            end.checked_sub(1)?
        } else {
            end
        };
        out.insert_str(end, &format!("{line_end}{indent}{new}{comma}"));
        if !self.trailing {
            out.insert(last.end, ',');
        }
        Some(out)
    }

    /// The names with one more, where the order of the others wants it.
    pub(super) fn texts_with<'t>(&self, text: &'t str, new: &'t str) -> Vec<&'t str> {
        let mut names = self.texts(text);
        names.insert(place(&names, new), new);
        names
    }

    /// The text with another item in the place of one.
    pub(super) fn with_other(&self, text: &str, at: usize, item: &str) -> Option<String> {
        let span = self.spans.get(at)?;
        let mut out = text.to_owned();
        out.replace_range(span.clone(), item);
        Some(out)
    }

    /// The text without one item and its comma.
    pub(super) fn without(&self, text: &str, at: usize) -> Option<String> {
        let span = self.spans.get(at)?;
        let mut out = text.to_owned();
        match (self.spans.get(at + 1), at.checked_sub(1)) {
            (Some(next), _) => out.replace_range(span.start..next.start, ""),
            (None, Some(before)) => {
                let end = self.spans.get(before)?.end;
                out.replace_range(end..span.end, "");
            }
            (None, None) => {
                let comma = usize::from(self.trailing);
                let rest = text.get(span.end..)?;
                let end = span.end + if comma > 0 { rest.find(',')? + 1 } else { 0 };
                out.replace_range(span.start..end, "");
            }
        }
        Some(out)
    }
}

fn end_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

type Key = fn(&str) -> (u8, String);

// Where a name goes: the first order that the others keep decides, else the end.
fn place(names: &[&str], new: &str) -> usize {
    for key in [by_type as Key, plain, folded] {
        let keys: Vec<_> = names.iter().map(|name| key(bare(name))).collect();
        if keys.is_sorted() {
            let new = key(bare(new));
            return keys
                .iter()
                .position(|other| *other > new)
                .unwrap_or(names.len());
        }
    }
    names.len()
}

fn bare(name: &str) -> &str {
    name.strip_prefix("type ").unwrap_or(name)
}

// Constants, then classes, then the rest, as isort has it.
fn by_type(name: &str) -> (u8, String) {
    let upper = name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase);
    let class = name.starts_with(|c: char| c.is_uppercase());
    let kind = match (upper && name.len() > 1, class) {
        (true, _) => 0,
        (_, true) => 1,
        _ => 2,
    };
    (kind, name.to_lowercase())
}

fn plain(name: &str) -> (u8, String) {
    (0, name.to_owned())
}

fn folded(name: &str) -> (u8, String) {
    (0, name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use crate::languages::statements::tests::names;

    fn with(text: &str, new: &str) -> String {
        let (head, tail) = if text.starts_with('{') {
            ("import ", " from 'x'")
        } else {
            ("from x import ", "")
        };
        let file = if tail.is_empty() { "a.py" } else { "a.ts" };
        let text = format!("{head}{text}{tail}");
        let changed = names(file, &text).with(&text, new).unwrap();
        let inner = changed.strip_prefix(head).unwrap();
        inner.strip_suffix(tail).unwrap().to_owned()
    }

    #[test]
    fn items_go_where_the_order_wants_them() {
        for (text, new, expected) in [
            ("a, c", "b", "a, b, c"),
            ("a", "b", "a, b"),
            ("{ b }", "a", "{ a, b }"),
            ("{b, a}", "c", "{b, a, c}"),
            ("MAX, Class, run", "Other", "MAX, Class, Other, run"),
            ("{ type A, b }", "type C", "{ type A, type C, b }"),
            ("(\n    a,\n    c,\n)", "b", "(\n    a,\n    b,\n    c,\n)"),
            (
                "(\n    a,  # one, two\n)",
                "b",
                "(\n    a,  # one, two\n    b,\n)",
            ),
            ("{\n  a,\n  b\n}", "c", "{\n  a,\n  b,\n  c\n}"),
            ("{\r\n  a,\r\n}", "b", "{\r\n  a,\r\n  b,\r\n}"),
            ("a as x, c", "b", "a as x, b, c"),
        ] {
            assert_eq!(with(text, new), expected);
        }
    }
}
