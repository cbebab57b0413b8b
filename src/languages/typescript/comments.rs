use tree_sitter::Node;

use crate::languages::literal::{Syntax, line_of, text_of};
use crate::model::{FileFacts, Import, ImportKind};

/// Reads `/// <reference path="x" />`, which counts only above the first statement.
pub(super) fn references(root: Node<'_>, text: &[u8], facts: &mut FileFacts) {
    for node in root.named() {
        if node.kind() != "comment" {
            if node.kind() == "hash_bang_line" {
                continue;
            }
            return;
        }
        let comment = text_of(node, text);
        let Some(directive) = comment
            .strip_prefix("///")
            .map(str::trim_start)
            .and_then(|rest| rest.strip_prefix("<reference"))
        else {
            continue;
        };
        for attribute in ["path", "types"] {
            if let Some(specifier) = attribute_value(directive, attribute) {
                let relative = specifier.starts_with('.') || specifier.starts_with('/');
                facts.imports.push(Import {
                    specifier: if attribute == "path" && !relative {
                        format!("./{specifier}")
                    } else {
                        specifier.to_owned()
                    },
                    kind: ImportKind::Reference,
                    line: line_of(node),
                    names: Vec::new(),
                    type_only: true,
                    nested: false,
                });
            }
        }
    }
}

fn attribute_value<'a>(directive: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = directive.split_once(&format!(" {name}="))?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest.get(1..)?.split_once(quote).map(|(value, _)| value)
}
