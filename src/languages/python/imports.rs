//! Reads imports, definitions and exports of Python.

use memchr::memmem;
use tree_sitter::{Node, Tree};

use super::collapse::collapse_definitions;
use super::language::PYTHON;
use crate::languages::finder::Finder;
use crate::languages::language::Grammar;
use crate::languages::literal::{Syntax, line_of, text_of, unescape_text};
use crate::languages::parse::parse;
use crate::languages::tags::read_tags;
use crate::model::{Definition, Export, FileFacts, Import, ImportKind, ImportedName, RepoPath};

/// Reads the imports, definitions and exports of a file.
pub(super) fn facts(_: &RepoPath, grammar: &'static Grammar, text: &[u8]) -> Option<FileFacts> {
    let (short, definitions) = collapse_definitions(text);
    match parse(grammar, &short) {
        Some(tree) if !tree.root_node().has_error() => Some(read(&tree, &short, definitions)),
        _ => Some(read(&parse(grammar, text)?, text, Vec::new())),
    }
}

/// Reads a Python tree: imports where the word is, names along the top-level statements, beside `definitions`.
pub(super) fn read(tree: &Tree, text: &[u8], definitions: Vec<Definition>) -> FileFacts {
    let mut facts = FileFacts {
        definitions,
        ..FileFacts::default()
    };
    read_imports(tree, text, &mut facts);
    let tags = read_tags(&PYTHON.tags, tree.root_node(), text);
    read_plugins(&tags.imports, text, &mut facts);
    facts.definitions.extend(tags.definitions);
    facts.definitions.sort_by_key(|definition| definition.line);
    let definitions = facts
        .definitions
        .iter()
        .map(|definition| Export::new(definition.name.clone(), None, definition.line));
    let mut exports: Vec<Export> = definitions.collect();
    exports.append(&mut facts.exports);
    exports.sort_by_key(|export| export.line);
    facts.exports = exports;
    facts.imports.sort_by_key(|import| import.line);
    facts
}

// Modules that a statement imports by a string.
fn read_plugins(strings: &[Node<'_>], text: &[u8], facts: &mut FileFacts) {
    for string in strings {
        let Some(specifier) = python_string(*string, text).filter(|name| !name.is_empty()) else {
            continue;
        };
        facts.imports.push(Import {
            kind: ImportKind::Importlib,
            line: line_of(*string),
            ..Import::from_specifier(&specifier)
        });
    }
}

fn read_imports(tree: &Tree, text: &[u8], facts: &mut FileFacts) {
    let mut finder = Finder::new(tree);
    let mut read_to = 0;
    for start in memmem::find_iter(text, b"import") {
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        if start < read_to || before.is_some_and(u8::is_ascii_alphanumeric) {
            continue;
        }
        let Some(nodes) = finder.at(start) else {
            facts.problems.push(Finder::exhausted());
            break;
        };
        let found = nodes
            .iter()
            .rposition(|node| matches!(node.kind(), "import_statement" | "import_from_statement"));
        if let Some(at) = found
            && let Some(node) = nodes.get(at)
        {
            let above = nodes.get(..at).unwrap_or_default();
            let first = facts.imports.len();
            read_statement(*node, above, text, facts);
            // Not exported, because what a function or class imports is not the module's to pass on.
            if !above.iter().any(|node| {
                matches!(
                    node.kind(),
                    "function_definition" | "class_definition" | "lambda"
                )
            }) {
                let new = passed_on(facts.imports.get(first..).unwrap_or_default());
                facts.exports.extend(new);
            }
            read_to = node.end_byte();
        } else if let Some((import, end)) = read_call(nodes, text) {
            facts.imports.push(import);
            read_to = end;
        }
    }
    // `from x import y` is found at its second word.
    facts.imports.sort_by_key(|import| import.line);
}

fn read_statement(node: Node<'_>, above: &[Node<'_>], text: &[u8], facts: &mut FileFacts) {
    let mut import = Import {
        line: line_of(node),
        type_only: under_type_checking(above, node, text),
        nested: !above.is_empty(),
        ..Import::from_specifier("")
    };
    if node.kind() == "import_statement" {
        for name in node.fields("name") {
            let (module, alias) = read_alias(name, text);
            facts.imports.push(Import {
                specifier: module,
                names: alias.map(|alias| ImportedName::new("*", Some(alias))).into_iter().collect(),
                ..import.clone()
            });
        }
        return;
    }
    let Some(module) = node.field("module_name") else {
        return;
    };
    import.kind = ImportKind::From;
    import.specifier = dotted_name(module, text);
    for name in node.fields("name") {
        let (name, alias) = read_alias(name, text);
        import.names.push(ImportedName::new(name, alias));
    }
    if node.named().any(|child| child.kind() == "wildcard_import") {
        import.names.push(ImportedName::new("*", None));
    }
    facts.imports.push(import);
}

fn read_alias(name: Node<'_>, text: &[u8]) -> (String, Option<String>) {
    let module = name.field("name").unwrap_or(name);
    let alias = name.field("alias").map(|alias| text_of(alias, text));
    (dotted_name(module, text), alias)
}

// White space and line continuations may be around the dots.
fn dotted_name(node: Node<'_>, text: &[u8]) -> String {
    let mut name = text_of(node, text);
    name.retain(|c| !c.is_whitespace() && c != '\\');
    name
}

fn under_type_checking(above: &[Node<'_>], node: Node<'_>, text: &[u8]) -> bool {
    let below = above.iter().skip(1).chain(std::iter::once(&node));
    above.iter().zip(below).any(|(outer, inner)| {
        matches!(outer.kind(), "if_statement" | "elif_clause")
            && outer.field("consequence") == Some(*inner)
            && outer.field("condition").is_some_and(|condition| {
                let condition = text_of(condition, text);
                condition == "TYPE_CHECKING" || condition.ends_with(".TYPE_CHECKING")
            })
    })
}

// `importlib.import_module('x')`, `import_module('x')`, `__import__('x')`,
// `pytest.importorskip('x')`. Also gives the end of the function's name.
fn read_call(nodes: &[Node<'_>], text: &[u8]) -> Option<(Import, usize)> {
    let (at, call) =
        nodes.iter().enumerate().rev().take(4).find(|(_, node)| node.kind() == "call")?;
    let function = call.field("function")?;
    if nodes.last()?.start_byte() >= function.end_byte() {
        return None;
    }
    let end = function.end_byte();
    let function = text_of(function, text);
    let name = function.rsplit('.').next()?;
    matches!(name, "import_module" | "__import__" | "importorskip").then_some(())?;
    let argument = call.field("arguments")?.named_child(0)?;
    let specifier = python_string(argument, text)?;
    (!specifier.is_empty()
        && specifier.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.')))
    .then_some(())?;
    let import = Import {
        specifier,
        kind: ImportKind::Importlib,
        line: line_of(*call),
        names: Vec::new(),
        type_only: false,
        nested: nodes
            .get(..at)?
            .iter()
            .any(|node| !matches!(node.kind(), "expression_statement" | "assignment")),
    };
    Some((import, end))
}

fn passed_on(imports: &[Import]) -> Vec<Export> {
    let mut exports = Vec::new();
    for import in imports {
        let export = |name: &str, local: Option<&str>| Export {
            from: Some(import.specifier.clone()),
            type_only: import.type_only,
            ..Export::new(name.to_owned(), local.map(str::to_owned), import.line)
        };
        match import.kind {
            ImportKind::Import if import.names.is_empty() => {
                // `import a.b` binds `a`, the package.
                let first = import.specifier.split('.').next().unwrap_or_default();
                exports.push(Export {
                    from: Some(first.to_owned()),
                    ..export(first, Some("*"))
                });
            }
            ImportKind::Import | ImportKind::From => {
                for name in &import.names {
                    let bound = name.local();
                    let local = (bound != name.name).then_some(name.name.as_str());
                    exports.push(export(bound, local));
                }
            }
            _ => {}
        }
    }
    exports
}

/// The value of a plain Python string (no prefix but `r` and `u`, no interpolation).
pub(super) fn python_string(node: Node<'_>, text: &[u8]) -> Option<String> {
    if node.kind() != "string" {
        return None;
    }
    let raw = text_of(node, text);
    let body = raw.trim_start_matches(['r', 'R', 'u', 'U']);
    for quote in ["\"\"\"", "'''", "\"", "'"] {
        if let Some(inner) = body.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return Some(unescape_text(inner));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::languages::{facts, text_form};
    use crate::model::{FileFacts, RepoPath};

    fn read(text: &str) -> FileFacts {
        facts(&RepoPath::new("a.py").unwrap(), text.as_bytes())
    }

    #[test]
    fn every_form_is_read() {
        for (text, expected) in [
            ("import a.b", "Import a.b []"),
            ("import a.b as c", "Import a.b [*=c]"),
            ("from . import x", "From . [x]"),
            ("from ..y.z import (p as q,\n r)", "From ..y.z [p=q r]"),
            ("from s import *", "From s [*]"),
            (
                "if TYPE_CHECKING:\n    from t import u",
                "From t [u] type nested",
            ),
            (
                "if t.TYPE_CHECKING:\n    pass\nelse:\n    import v",
                "Import v [] nested",
            ),
            ("def f():\n    import w", "Import w [] nested"),
            ("try:\n    import w\nexcept E: pass", "Import w [] nested"),
            ("m = importlib.import_module('a.b')", "Importlib a.b []"),
            ("m = __import__(\"a\")", "Importlib a []"),
            ("lazy import k", "Import k []"),
            ("pytest_plugins = ['a.b']", "Importlib a.b []"),
            ("pytest_plugins = 'plug'", "Importlib plug []"),
        ] {
            let found: Vec<String> = read(text).imports.iter().map(text_form::import).collect();
            assert_eq!(found, [expected], "{text}");
        }
    }

    #[test]
    fn lookalikes_are_not_imports() {
        for text in [
            "from __future__ import annotations",
            "x = 'import a'",
            "# import a\n",
            "importer(a)",
            "import_module(name)",
            "APPS = ['a.b']",
        ] {
            assert!(read(text).imports.is_empty(), "{text}");
        }
    }

    #[test]
    fn bindings_are_exports() {
        let facts = read(
            "import a.b\nfrom .c import d as e\nX: int = 1\nY = Z = 2\nif q:\n    def f(): from g import h\n@deco\nclass K:\n    inner = 1\n",
        );
        assert_eq!(
            text_form::exports(&facts.exports),
            ["a<*<a", "e<d<.c", "X<<", "Y<<", "Z<<", "f<<", "K<<"]
        );
    }
}
