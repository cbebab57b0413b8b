use std::ops::Range;

use memchr::memmem;

use super::language::{PLAIN, TSX};
use crate::languages::language::Grammar;

/// The script of a single-file component, with everything else blanked out so that lines stay.
pub(super) fn component(bytes: &[u8]) -> (&'static Grammar, Vec<u8>) {
    blanked(bytes, &PLAIN, &script_elements(bytes))
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

fn find(bytes: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    Some(from + memmem::find(bytes.get(from..)?, needle)?)
}

#[cfg(test)]
mod tests {
    use super::component;

    #[test]
    fn lines_stay_where_they_are() {
        let text = b"<template>\n<b/>\n</template>\n<script setup lang=\"ts\">\nimport a from './a'\n</script>\n";
        let (_, script) = component(text);
        let script = String::from_utf8(script).unwrap();
        assert_eq!(script.len(), text.len());
        assert_eq!(script.lines().nth(4), Some("import a from './a'"));
        assert_eq!(script.replace("import a from './a'", "").trim(), "");
    }
}
