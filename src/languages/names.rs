use std::ops::Range;

use tree_sitter::Node;

use super::literal::Syntax;

/// The list of names in a statement: where it and each of them stands in the file.
pub(super) struct Names {
    spans: Vec<Range<usize>>,
    /// A comma stands after the last one.
    trailing: bool,
}

impl Names {
    /// The named children of a list, as its commas part them; `head`: what stands before the first.
    pub(super) fn from_list(list: Node<'_>, head: usize) -> Option<Self> {
        let (mut spans, mut trailing) = (Vec::new(), false);
        let children = list.all().filter(|child| child.start_byte() >= head);
        for child in children.filter(|child| !child.is_extra()) {
            trailing = match child.kind() {
                "," => true,
                ")" | "}" => trailing,
                _ => false,
            };
            if child.is_named() {
                spans.push(child.byte_range());
            }
        }
        (!spans.is_empty()).then_some(Self { spans, trailing })
    }

    pub(super) fn texts<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let names = self
            .spans
            .iter()
            .map(|span| text.get(span.clone()).unwrap_or_default());
        names.collect()
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
