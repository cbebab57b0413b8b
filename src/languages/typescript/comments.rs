use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::Node;

use crate::languages::literal::{Syntax, line_of, text_of};
use crate::model::{FileFacts, Import, ImportKind};

static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^///\s*<reference\s[^>]*?\b(path|types)=["']([^"']+)["']"#).ok()
});

/// Reads `/// <reference path="x" />`, which counts only above the first statement.
pub(super) fn read_references(root: Node<'_>, text: &[u8], facts: &mut FileFacts) {
    let Some(reference) = REFERENCE.as_ref() else {
        return;
    };
    let is_head = |node: &Node<'_>| matches!(node.kind(), "comment" | "hash_bang_line");
    for node in root.named().take_while(is_head) {
        let comment = text_of(node, text);
        let Some([attribute, specifier]) =
            reference.captures(&comment).map(|found| found.extract().1)
        else {
            continue;
        };
        let is_beside = attribute == "path" && !specifier.starts_with(['.', '/']);
        let start = if is_beside { "./" } else { "" };
        facts.imports.push(Import {
            kind: ImportKind::Reference,
            line: line_of(node),
            type_only: true,
            ..Import::from_specifier(&format!("{start}{specifier}"))
        });
    }
}
