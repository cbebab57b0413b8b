//! Reads imports, definitions and exports of TypeScript and JavaScript.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::{Node, Tree};

use super::calls;
use super::language::TYPESCRIPT;
use crate::languages::language::Grammar;
use crate::languages::literal::{Syntax, line_of, text_of, unescape_text};
use crate::languages::parse::parse;
use crate::languages::tags::read_tags;
use crate::model::{FileFacts, Import, ImportKind, ImportedName, RepoPath};

/// Reads the imports, definitions and exports of a file.
pub(super) fn facts(_: &RepoPath, grammar: &'static Grammar, text: &[u8]) -> Option<FileFacts> {
    Some(read_facts(&parse(grammar, text)?, text))
}

// Reads a TypeScript or JavaScript tree: statements by their kinds, calls by their words.
fn read_facts(tree: &Tree, text: &[u8]) -> FileFacts {
    let tags = read_tags(&TYPESCRIPT.tags, tree.root_node(), text);
    let mut facts = FileFacts {
        definitions: tags.definitions,
        exports: tags.exports,
        ..FileFacts::default()
    };
    read_references(tree.root_node(), text, &mut facts);
    read_statements(tree.root_node(), text, 0, &mut facts);
    calls::read(tree, text, &mut facts);
    facts.imports.sort_by_key(|import| import.line);
    trace_exports(&mut facts);
    facts
}

fn read_statements(parent: Node<'_>, text: &[u8], blocks: usize, facts: &mut FileFacts) {
    for node in parent.named() {
        match node.kind() {
            "import_statement" => facts.imports.extend(read_import(node, text, blocks)),
            "export_statement" => {
                if let Some(import) = export_from(node, text, blocks) {
                    facts.imports.push(import);
                }
            }
            // Blocks inside blocks (`declare module`, `namespace`) that are looked into.
            "ERROR"
            | "ambient_declaration"
            | "expression_statement"
            | "module"
            | "internal_module"
            | "statement_block"
                if blocks < 32 =>
            {
                read_statements(node, text, blocks + 1, facts);
            }
            _ => {}
        }
    }
}

fn read_import(node: Node<'_>, text: &[u8], blocks: usize) -> Option<Import> {
    let mut import = Import {
        line: line_of(node),
        nested: blocks > 0,
        ..Import::from_specifier("")
    };
    let mut inline_types = 0;
    for child in node.all() {
        match child.kind() {
            "type" | "typeof" => import.type_only = true,
            "import_clause" => inline_types = read_clause(child, text, &mut import.names),
            "import_require_clause" => {
                import.kind = ImportKind::ImportEquals;
                import.specifier = script_string(child.field("source")?, text)?;
                let name = child.named_child(0).map(|name| text_of(name, text));
                import.names.push(ImportedName::new("*", name));
                return Some(import);
            }
            _ => {}
        }
    }
    import.type_only |= inline_types > 0 && inline_types == import.names.len();
    import.specifier = script_string(node.field("source")?, text)?;
    Some(import)
}

// Returns how many of the names carry an inline `type`.
fn read_clause(clause: Node<'_>, text: &[u8], names: &mut Vec<ImportedName>) -> usize {
    let mut types = 0;
    for child in clause.named() {
        match child.kind() {
            "identifier" => names.push(ImportedName::new("default", Some(text_of(child, text)))),
            "namespace_import" => names.push(ImportedName::new(
                "*",
                child.named_child(0).map(|name| text_of(name, text)),
            )),
            "named_imports" => types += read_list(child, text, names),
            _ => {}
        }
    }
    types
}

// Adds the names of a list in braces; how many of them are types.
fn read_list(list: Node<'_>, text: &[u8], names: &mut Vec<ImportedName>) -> usize {
    let mut types = 0;
    for specifier in list.named() {
        if let Some(name) = read_named(specifier, text) {
            names.push(name);
            types +=
                usize::from(specifier.all().any(|part| part.kind() == "type" && !part.is_named()));
        }
    }
    types
}

fn export_from(node: Node<'_>, text: &[u8], blocks: usize) -> Option<Import> {
    let specifier = script_string(node.field("source")?, text)?;
    let mut names = Vec::new();
    let mut types = 0;
    let mut type_only = false;
    for child in node.all() {
        match child.kind() {
            "type" => type_only = true,
            // `export type * from` is newer than the grammar.
            "ERROR" => type_only |= text_of(child, text).trim() == "type",
            "export_clause" => types += read_list(child, text, &mut names),
            "namespace_export" => names.push(ImportedName::new(
                "*",
                child.named_child(0).map(|name| text_of(name, text)),
            )),
            "*" => names.push(ImportedName::new("*", None)),
            _ => {}
        }
    }
    Some(Import {
        specifier,
        kind: ImportKind::ExportFrom,
        line: line_of(node),
        type_only: type_only || (types > 0 && types == names.len()),
        names,
        nested: blocks > 0,
    })
}

/// The name and alias of an import or export specifier.
pub(super) fn read_named(specifier: Node<'_>, text: &[u8]) -> Option<ImportedName> {
    let [name, alias] = ["name", "alias"].map(|field| {
        let node = specifier.field(field)?;
        Some(script_string(node, text).unwrap_or_else(|| text_of(node, text)))
    });
    Some(ImportedName::new(name?, alias))
}

/// The value of a JavaScript string, or of a template without substitutions.
pub(super) fn script_string(node: Node<'_>, text: &[u8]) -> Option<String> {
    match node.kind() {
        "string" => {}
        "template_string" => {
            if node.named().any(|child| child.kind() == "template_substitution") {
                return None;
            }
        }
        _ => return None,
    }
    let raw = text_of(node, text);
    let inner = raw.get(1..raw.len().checked_sub(1)?)?;
    Some(unescape_text(inner))
}

static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^///\s*<reference\s[^>]*?\b(path|types)=["']([^"']+)["']"#).ok()
});

// Reads `/// <reference path="x" />`, which counts only above the first statement.
fn read_references(root: Node<'_>, text: &[u8], facts: &mut FileFacts) {
    let Some(reference) = REFERENCE.as_ref() else {
        return;
    };
    for node in root
        .named()
        .take_while(|node| matches!(node.kind(), "comment" | "hash_bang_line"))
    {
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

// Names the module behind each export that merely passes on an import:
// `import { a } from './x'; export { a }` exports `a` from `./x`.
fn trace_exports(facts: &mut FileFacts) {
    let mut imported: HashMap<&str, (&str, &str, bool)> = HashMap::new();
    for import in &facts.imports {
        if import.nested || import.kind == ImportKind::ExportFrom {
            continue;
        }
        for name in &import.names {
            let local = name.local();
            imported.insert(local, (&import.specifier, &name.name, import.type_only));
        }
    }
    let defined: HashSet<&str> =
        facts.definitions.iter().map(|definition| definition.name.as_str()).collect();
    for export in &mut facts.exports {
        if export.from.is_some() {
            continue;
        }
        let local = export.local.as_ref().unwrap_or(&export.name);
        let Some((from, name, erased)) = imported.get(local.as_str()) else {
            continue;
        };
        // `const { a } = require('x')` both defines and imports: the import says more.
        if defined.contains(local.as_str()) && !from.starts_with(['.', '#', '@', '~']) {
            continue;
        }
        export.type_only |= erased;
        export.from = Some((*from).to_owned());
        export.local = (*name != export.name).then(|| (*name).to_owned());
    }
}

#[cfg(test)]
mod tests {
    use crate::languages::{facts, text_form};
    use crate::model::{FileFacts, RepoPath};

    fn read(name: &str, text: &str) -> FileFacts {
        facts(&RepoPath::new(name).unwrap(), text.as_bytes())
    }

    fn imports(name: &str, text: &str) -> Vec<String> {
        let facts = read(name, text);
        let all = facts.imports.iter();
        all.map(|import| format!("{}:{}", import.line, text_form::import(import)))
            .collect()
    }

    #[test]
    fn every_form_is_read() {
        for row in [
            "import d, { a as b } from './x' ~ 1:Import ./x [default=d a=b]",
            "import * as n from \"./x\" ~ 1:Import ./x [*=n]",
            "import './x' ~ 1:Import ./x []",
            "import type { T } from './x' ~ 1:Import ./x [T] type",
            "import { type T } from './x' ~ 1:Import ./x [T] type",
            "import { type T, u } from './x' ~ 1:Import ./x [T u]",
            "import e = require('./x') ~ 1:ImportEquals ./x [*=e]",
            "export { p, q as r } from './x' ~ 1:ExportFrom ./x [p q=r]",
            "export * from './x' ~ 1:ExportFrom ./x [*]",
            "export * as n from './x' ~ 1:ExportFrom ./x [*=n]",
            "export type * from './x' ~ 1:ExportFrom ./x [*] type",
            "export type { T } from './x' ~ 1:ExportFrom ./x [T] type",
            "f(await import('./x')) ~ 1:Dynamic ./x []",
            "import(/* chunk: 'x' */ './x') ~ 1:Dynamic ./x []",
            "const { a, b: c } = await import(`./x`) ~ 1:Dynamic ./x [a b=c]",
            "const m = require('./x') ~ 1:Require ./x [*=m]",
            "const m = require('./x').part ~ 1:Require ./x [part]",
            "module.exports = { ...require('./x'), a } ~ 1:Require ./x []",
            "function f() { return require.resolve('./x') } ~ 1:Require ./x [] nested",
            "let t: import('./x').T ~ 1:Dynamic ./x [T] type",
            "vi.mock('./x', () => ({})) ~ 1:Mock ./x []",
            "/// <reference path=\"x.d.ts\" />\nlet a ~ 1:Reference ./x.d.ts [] type",
            "declare module 'm' { import z from './x' } ~ 1:Import ./x [default=z] nested",
            "import a from './\\u{78}' ~ 1:Import ./x [default=a]",
            "import a from './x' with { type: 'json' } ~ 1:Import ./x [default=a]",
        ] {
            let (text, expected) = row.split_once(" ~ ").unwrap();
            assert_eq!(imports("a.ts", text), [expected], "{text}");
        }
    }

    #[test]
    fn lookalikes_are_not_imports() {
        for text in [
            "const a = \"import('./x')\"",
            "// import './x'\nlet a",
            "import(`./${name}`)",
            "require(name)",
            "a.require('./x')",
            "myimport('./x')",
            "let a\n/// <reference path=\"x\" />",
            "export { local }",
            "import.meta.glob('./*.ts')",
        ] {
            assert!(imports("a.ts", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn reads_facts_of_broken_files() {
        let text =
            "import a from './x'\nfunction ( {\nimport b from './y'\nconst c = require('./z')\n";
        assert!(imports("a.ts", text).len() >= 2);
    }

    #[test]
    fn exports_name_their_module() {
        let facts = read(
            "a.ts",
            "import { x as y } from './x'\nexport { y, z as w }\nexport default function f() {}\nexport const { k, l: [m] } = o\nexport class C {}\nexport * from './s'\n",
        );
        assert_eq!(
            text_form::exports(&facts.exports),
            [
                "y<x<./x", "w<z<", "default<f<", "k<<", "m<<", "C<<", "*<<./s"
            ]
        );
        let definitions: Vec<&str> = facts.definitions.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(definitions, ["f", "k", "m", "C"]);
    }
}
