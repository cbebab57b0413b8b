//! Extracts the script of a `.vue` or `.svelte` file. The rest is blanked, so that line numbers hold.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::language::{PLAIN, TSX};
use crate::languages::language::Grammar;

/// A script element: its attributes and its text.
static SCRIPT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?s-u)<script([^>]*)>(.*?)(?:</script|\z)").ok());
static IS_JSX: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?-u)lang=["']?[a-z]*sx\b"#).ok());

/// The script of a single-file component, with everything else blanked out so that lines stay.
pub(super) fn read_component(bytes: &[u8]) -> (&'static Grammar, Vec<u8>) {
    let mut text: Vec<u8> =
        bytes.iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }).collect();
    let mut grammar = &PLAIN;
    for found in SCRIPT.as_ref().into_iter().flat_map(|script| script.captures_iter(bytes)) {
        let (_, [attributes, script]) = found.extract();
        if IS_JSX.as_ref().is_some_and(|jsx| jsx.is_match(attributes)) {
            grammar = &TSX;
        }
        let start = found.get(2).map_or(0, |script| script.start());
        if let Some(to) = text.get_mut(start..start + script.len()) {
            to.copy_from_slice(script);
        }
    }
    (grammar, text)
}

#[cfg(test)]
mod tests {
    use super::read_component;

    #[test]
    fn keeps_line_numbers() {
        let text = b"<template>\n<b/>\n</template>\n<script setup lang=\"ts\">\nimport a from './a'\n</script>\n";
        let (_, script) = read_component(text);
        let script = String::from_utf8(script).unwrap();
        assert_eq!(script.len(), text.len());
        assert_eq!(script.lines().nth(4), Some("import a from './a'"));
        assert_eq!(script.replace("import a from './a'", "").trim(), "");
    }
}
