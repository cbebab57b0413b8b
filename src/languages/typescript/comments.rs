use tree_sitter::{Node, Tree};

use crate::languages::literal::{Syntax, line_of, next, text_of};
use crate::model::{FileFacts, Import, ImportKind, ImportedName};

/// Reads what `JSDoc` comments of JavaScript import: `@import { A } from './a'` and
/// `{import('./a').A}`, which the compiler checks as it does in TypeScript.
pub(super) fn jsdoc(tree: &Tree, text: &[u8], facts: &mut FileFacts) {
    // Few files have one, and a walk over the whole tree is dear.
    let imports = [&b"@import"[..], b"import("]
        .iter()
        .any(|word| memchr::memmem::find(text, word).is_some());
    if !imports || memchr::memmem::find(text, b"/**").is_none() {
        return;
    }
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.kind() == "comment" {
            comment(node, text, facts);
        }
        if !next(&mut cursor, true, &mut Vec::new(), ()) {
            return;
        }
    }
}

fn comment(node: Node<'_>, text: &[u8], facts: &mut FileFacts) {
    let Some(text) = text
        .get(node.byte_range())
        .filter(|text| text.starts_with(b"/**"))
        .and_then(|text| std::str::from_utf8(text).ok())
    else {
        return;
    };
    for (at, line) in text.lines().enumerate() {
        let number = line_of(node) + u32::try_from(at).unwrap_or(u32::MAX);
        let comment = line
            .trim_start()
            .trim_start_matches(['/', '*'])
            .trim_start();
        if let Some(rest) = comment.strip_prefix("@import ") {
            facts.imports.extend(tag(rest, number));
        }
        for (at, _) in line.match_indices("import(") {
            let rest = line.get(at + "import(".len()..).unwrap_or_default();
            facts.imports.extend(call(rest, number));
        }
    }
}

fn import(specifier: &str, line: u32, names: Vec<ImportedName>) -> Import {
    Import {
        kind: ImportKind::Reference,
        line,
        names,
        type_only: true,
        ..Import::from_specifier(specifier)
    }
}

// `{ A, B as C } from './a'`, `* as a from './a'`, `A from './a'`.
fn tag(rest: &str, line: u32) -> Option<Import> {
    let (clause, module) = rest.rsplit_once(" from ")?;
    let (specifier, _) = quoted(module.trim_start())?;
    let clause = clause.trim();
    let named = clause.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    let name = |name: &str, alias: Option<&str>| ImportedName::new(name, alias.map(str::to_owned));
    let names = match (named, clause.strip_prefix("* as ")) {
        (Some(list), _) => {
            let items = list.split(',').map(str::trim).filter(|it| !it.is_empty());
            let item = |item: &str| match item.split_once(" as ") {
                Some((one, alias)) => name(one.trim(), Some(alias.trim())),
                None => name(item, None),
            };
            items.map(item).collect()
        }
        (None, Some(alias)) => vec![name("*", Some(alias.trim()))],
        (None, None) => vec![name("default", Some(clause))],
    };
    Some(import(specifier, line, names))
}

// `'./a').A` after `import(`.
fn call(rest: &str, line: u32) -> Option<Import> {
    let (specifier, after) = quoted(rest.trim_start())?;
    let after = after.trim_start().strip_prefix(')')?;
    let name = after.strip_prefix('.').map(|rest| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')));
        rest.get(..end.unwrap_or(rest.len()))
            .unwrap_or_default()
            .to_owned()
    });
    let names = name
        .filter(|it| !it.is_empty())
        .map(|name| ImportedName::new(name, None));
    Some(import(specifier, line, names.into_iter().collect()))
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text.get(1..)?
        .split_once(quote)
        .filter(|(inside, _)| !inside.is_empty())
}

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

#[cfg(test)]
mod tests {
    use crate::languages::facts;
    use crate::model::{ImportKind, RepoPath};

    #[test]
    fn comments_of_javascript_import() {
        let text = "/** @import { A, B as C } from './a' */\n/**\n * @import * as d from \"./d\"\n * @param {import('./e').E} e\n */\nfunction f(e) {\n  /** @type {import('./g')} */\n  let g\n}\n// import('./no')\n";
        let read = |name: &str| {
            let facts = facts(&RepoPath::new(name).unwrap(), text.as_bytes());
            let own = facts.imports.into_iter();
            own.filter(|it| it.kind == ImportKind::Reference && it.type_only)
                .map(|import| {
                    let names: Vec<String> = import.names.into_iter().map(|one| one.name).collect();
                    format!("{} {} {}", import.line, import.specifier, names.join(" "))
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(read("a.js"), ["1 ./a A B", "3 ./d *", "4 ./e E", "7 ./g "]);
        assert!(read("a.ts").is_empty());
    }
}
