//! The languages TypeScript and JavaScript.

use std::sync::LazyLock;

use regex::bytes::Regex;
use tree_sitter::Tree;

use super::packages::package_part;
use super::{embedded, imports, resolve};
use super::{installed, style};
use crate::languages::finder::Finder;
use crate::languages::language::Editing;
use crate::languages::language::{Extract, FileKind, Grammar, Language, has_line};
use crate::languages::parse::parse_once;
use crate::languages::query::{Patterns, Query};

// One module a line, sorted by bytes; add a line when a release adds a module.
const NODE_MODULES: &str = include_str!("node_builtins.txt");

const TAGS: &str = include_str!("../../../grammars/typescript/tags.scm");
const OUTLINE: &str = include_str!("../../../grammars/typescript/outline.scm");
const USES: &str = include_str!("../../../grammars/typescript/uses.scm");

/// TypeScript and JavaScript in all their forms.
pub static TYPESCRIPT: Language = Language {
    name: "typescript",
    files: &[
        kind(&["ts", "mts", "cts"], &PLAIN, None, 0),
        kind(&["tsx"], &TSX, None, 1),
        kind(&["vue"], &PLAIN, Some(embedded::read_component), 3),
        kind(&["svelte"], &PLAIN, Some(embedded::read_component), 4),
        kind(&["js", "jsx", "mjs", "cjs"], &TSX, None, 6),
    ],
    declares_exports: true,
    families: &["js", "ts"],
    library: include_str!("node_names.txt"),
    everyday: include_str!("everyday.txt"),
    globals: include_str!("globals.txt"),
    package: |module| {
        let bare = module.strip_prefix("node:").unwrap_or(module);
        package_part(bare).unwrap_or(bare)
    },
    last_part: |specifier| {
        let last = specifier.rsplit('/').next().unwrap_or(specifier);
        last.split('.').next().unwrap_or(last)
    },
    is_standard: is_node,
    may_import: |line| line.iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`')),
    layout: |_, _| Vec::new(),
    changed_part: |_, new| new,
    facts: imports::facts,
    tags: Query::new(|| Patterns::new(TAGS)),
    outline: Query::new(|| Patterns::new(OUTLINE)),
    uses: Query::new(|| Patterns::new(USES)),
    editing: Some(Editing {
        installed: installed::FILES,
        specifier_in: |rest, import| {
            let quoted = ['"', '\'', '`']
                .map(|quote| rest.find(&format!("{quote}{}{quote}", import.specifier)));
            Some(quoted.into_iter().flatten().min()? + 1)
        },
        import_line: style::import_line,
    }),
    resolve: resolve::resolve,
    implicit: |_, _| Vec::new(),
};

pub(super) static PLAIN: Grammar = Grammar {
    of: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    mended: None,
};

/// Reads JavaScript as well.
pub(super) static TSX: Grammar = Grammar {
    of: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    mended: Some(with_ampersands),
};

const fn kind(
    extensions: &'static [&'static str],
    grammar: &'static Grammar,
    code: Option<Extract>,
    reading: u8,
) -> FileKind {
    FileKind {
        extensions,
        grammar,
        code,
        reading,
    }
}

/// Whether a bare specifier names a module of Node.js itself (`fs`, `fs/promises`, `node:test`).
pub(super) fn is_node(specifier: &str) -> bool {
    let first = specifier.split('/').next().unwrap_or_default();
    specifier.starts_with("node:") || has_line(NODE_MODULES, first)
}

/// Reads a text once more: JSX takes a plain `&` in text and in attributes, which the grammar does
/// not, and it is read as a letter there. What turns out to be an operator is left as it is.
fn with_ampersands(text: &[u8]) -> Option<Tree> {
    let plain = ENTITY.as_ref()?.find_iter(text).filter(|mark| mark.len() == 1);
    let plain: Vec<usize> = plain.map(|mark| mark.start()).collect();
    let tree = (!plain.is_empty()).then(|| parse_masked(&plain, text))??;
    let mut finder = Finder::new(&tree);
    let mut is_text = |at: &&usize| {
        let leaf = finder.at(**at).and_then(|nodes| nodes.last());
        leaf.is_some_and(|leaf| leaf.kind() == "jsx_text" || leaf.kind().starts_with("string"))
    };
    let kept: Vec<usize> = plain.iter().filter(|at| is_text(at)).copied().collect();
    (!kept.is_empty()).then(|| parse_masked(&kept, text))?
}

fn parse_masked(places: &[usize], text: &[u8]) -> Option<Tree> {
    let mut text = text.to_vec();
    for at in places {
        *text.get_mut(*at)? = b'_';
    }
    parse_once(&TSX, &text)
}

/// An ampersand, with the rest of an entity such as `&amp;` or `&#x26;`.
static ENTITY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"&(?:#?[0-9A-Za-z]{1,31};)?").ok());
