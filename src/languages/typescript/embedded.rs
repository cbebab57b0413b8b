use std::ops::Range;

use memchr::memmem;

use super::language::{PLAIN, TSX};
use crate::languages::language::Grammar;

/// The script of a single-file component, with everything else blanked out so that lines stay.
pub(super) fn component(bytes: &[u8]) -> (&'static Grammar, Vec<u8>) {
    blanked(bytes, &PLAIN, &script_elements(bytes))
}

/// The same of a page of Astro, its head included.
pub(super) fn astro(bytes: &[u8]) -> (&'static Grammar, Vec<u8>) {
    let mut scripts: Vec<Script<'_>> = frontmatter(bytes).into_iter().collect();
    let end = scripts.first().map_or(0, |(range, _)| range.end);
    let below = script_elements(bytes.get(end..).unwrap_or_default());
    let below = below.into_iter();
    scripts.extend(below.map(|(range, lang)| (range.start + end..range.end + end, lang)));
    blanked(bytes, &PLAIN, &scripts)
}

/// The statements of a page of Markdown.
pub(super) fn mdx(bytes: &[u8]) -> (&'static Grammar, Vec<u8>) {
    blanked(bytes, &TSX, &statements(bytes))
}

fn blanked(
    bytes: &[u8],
    grammar: &'static Grammar,
    scripts: &[Script<'_>],
) -> (&'static Grammar, Vec<u8>) {
    let blank = |byte: &u8| if *byte == b'\n' { b'\n' } else { b' ' };
    let mut text: Vec<u8> = bytes.iter().map(blank).collect();
    for (range, _) in scripts {
        if let (Some(to), Some(from)) = (text.get_mut(range.clone()), bytes.get(range.clone())) {
            to.copy_from_slice(from);
        }
    }
    let is_jsx = scripts.iter().any(|(_, lang)| lang.ends_with(b"sx"));
    (if is_jsx { &TSX } else { grammar }, text)
}

type Script<'a> = (Range<usize>, &'a [u8]);

// `<script …>` to `</script>`; the attribute slice ends with the value of `lang` when there is one.
fn script_elements(bytes: &[u8]) -> Vec<Script<'_>> {
    let mut scripts = Vec::new();
    let mut at = 0;
    while let Some(open) = find(bytes, at, b"<script") {
        let Some(start) = find(bytes, open, b">").map(|end| end + 1) else {
            break;
        };
        let end = find(bytes, start, b"</script").unwrap_or(bytes.len());
        let attributes = bytes.get(open..start).unwrap_or_default();
        scripts.push((start..end, language_attribute(attributes)));
        at = end;
    }
    scripts
}

fn language_attribute(attributes: &[u8]) -> &[u8] {
    let Some(at) = memmem::find(attributes, b"lang=") else {
        return b"";
    };
    let value = attributes.get(at + 5..).unwrap_or_default();
    let value = value
        .strip_prefix(b"\"")
        .or(value.strip_prefix(b"'"))
        .unwrap_or(value);
    let end = value
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric())
        .unwrap_or(value.len());
    value.get(..end).unwrap_or(value)
}

fn frontmatter(bytes: &[u8]) -> Option<Script<'_>> {
    let start = memmem::find(bytes, b"---")?;
    bytes
        .get(..start)?
        .iter()
        .all(u8::is_ascii_whitespace)
        .then_some(())?;
    let end = find(bytes, start + 3, b"\n---")?;
    Some((start + 3..end, b""))
}

// Paragraphs of Markdown that start with `import` or `export`, outside of fenced code.
fn statements(bytes: &[u8]) -> Vec<Script<'_>> {
    let mut found: Vec<Script<'_>> = Vec::new();
    let (mut at, mut fenced, mut open) = (0, false, false);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let end = at + line.len();
        let text = line.trim_ascii_end();
        if text.starts_with(b"```") || text.starts_with(b"~~~") {
            fenced = !fenced;
        }
        let starts = text.starts_with(b"import ") || text.starts_with(b"export ");
        open = !fenced && !text.is_empty() && (open || starts);
        if open {
            match found.last_mut().filter(|(range, _)| range.end == at) {
                Some((range, _)) => range.end = end,
                None => found.push((at..end, b"")),
            }
        }
        at = end;
    }
    found
}

fn find(bytes: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    Some(from + memmem::find(bytes.get(from..)?, needle)?)
}

#[cfg(test)]
mod tests {
    use super::{astro, component, mdx};
    use crate::languages::language::Grammar;

    #[test]
    fn lines_stay_where_they_are() {
        let text = b"<template>\n<b/>\n</template>\n<script setup lang=\"ts\">\nimport a from './a'\n</script>\n";
        let (_, script) = component(text);
        let script = String::from_utf8(script).unwrap();
        assert_eq!(script.len(), text.len());
        assert_eq!(script.lines().nth(4), Some("import a from './a'"));
        assert_eq!(script.replace("import a from './a'", "").trim(), "");
    }

    #[test]
    fn only_statements_of_pages_are_read() {
        type Read = fn(&[u8]) -> (&'static Grammar, Vec<u8>);
        for (read, text, expected) in [
            (
                mdx as Read,
                "---\ntitle: a\n---\nimport A from './a'\nexport const b = {\n  c: 1\n}\n\n# import this\n\n```js\nimport no\n```\n<A />\n",
                "import A from './a' export const b = { c: 1 }",
            ),
            (
                astro,
                "---\nimport A from './a'\n---\n<A />\n<script>import './b'</script>\n",
                "import A from './a' import './b'",
            ),
        ] {
            let (_, script) = read(text.as_bytes());
            let script = String::from_utf8(script).unwrap();
            let words: Vec<&str> = script.split_whitespace().collect();
            assert_eq!(words.join(" "), expected);
            assert_eq!(script.len(), text.len());
        }
    }
}
