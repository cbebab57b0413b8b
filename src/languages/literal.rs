use tree_sitter::Node;

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

/// Names as a list writes them, with their aliases.
#[cfg(feature = "program")]
pub(super) fn listed(names: &[crate::model::ImportedName]) -> String {
    let written = names.iter().map(|one| match &one.alias {
        Some(alias) => format!("{} as {alias}", one.name),
        None => one.name.clone(),
    });
    written.collect::<Vec<_>>().join(", ")
}

/// A string with its escapes decoded, as both languages write them.
pub(super) fn unescape(text: &str) -> String {
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
    use super::unescape;

    #[test]
    fn escapes_are_decoded() {
        for (text, value) in [
            (r"a\x2fb", "a/b"),
            (r"\u002e/\u{78}", "./x"),
            (r"\/\q\", "/q"),
            (r"\u{110000}", ""),
        ] {
            assert_eq!(unescape(text), value, "{text}");
        }
    }
}
