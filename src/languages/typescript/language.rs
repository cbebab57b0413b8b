use tree_sitter::Tree;

use super::packages::package_part;
use super::{embedded, imports, resolve};
#[cfg(feature = "program")]
use super::{insert, installed};
#[cfg(feature = "program")]
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
        kind(&["ts", "mts", "cts"], &PLAIN, 0),
        kind(&["tsx"], &TSX, 1),
        holding(&["vue"], embedded::component, 3),
        holding(&["svelte"], embedded::component, 4),
        kind(&["js", "jsx", "mjs", "cjs"], &TSX, 6),
    ],
    declares_exports: true,
    families: &["js", "ts"],
    #[cfg(feature = "program")]
    library: include_str!("node_names.txt"),
    #[cfg(feature = "program")]
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
    facts: imports::facts,
    tags: Query::new(|| Patterns::new(TAGS)),
    outline: Query::new(|| Patterns::new(OUTLINE)),
    uses: Query::new(|| Patterns::new(USES)),
    tells_free_names: false,
    #[cfg(feature = "program")]
    editing: Some(Editing {
        installed: installed::FILES,
        specifier_in: |rest, import| {
            let quoted =
                ['"', '\'', '`'].map(|it| rest.find(&format!("{it}{}{it}", import.specifier)));
            Some(quoted.into_iter().flatten().min()? + 1)
        },
        import_line: insert::import_line,
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
    reading: u8,
) -> FileKind {
    FileKind {
        extensions,
        grammar,
        code: None,
        reading,
    }
}

const fn holding(extensions: &'static [&'static str], code: Extract, reading: u8) -> FileKind {
    FileKind {
        extensions,
        grammar: &PLAIN,
        code: Some(code),
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
    let plain = memchr::memchr_iter(b'&', text).filter(|at| {
        let rest = text.get(at + 1..).unwrap_or_default();
        let end = rest.iter().take(32).position(|byte| *byte == b';');
        let name = rest.get(..end.unwrap_or_default()).unwrap_or_default();
        let (mark, name) = match name.strip_prefix(b"#") {
            Some(digits) => (true, digits),
            None => (false, name),
        };
        let entity = |byte: &u8| {
            byte.is_ascii_alphanumeric() && (!mark || byte.is_ascii_hexdigit() || *byte == b'x')
        };
        name.is_empty() || !name.iter().all(entity)
    });
    let plain: Vec<usize> = plain.collect();
    let masked = |places: &[usize]| {
        let mut text = text.to_vec();
        for at in places {
            *text.get_mut(*at)? = b'_';
        }
        parse_once(&TSX, &text)
    };
    let tree = (!plain.is_empty()).then(|| masked(&plain))??;
    let kept = in_text(&tree, &plain);
    match kept.len() {
        0 => None,
        count if count == plain.len() => Some(tree),
        _ => masked(&kept),
    }
}

// The places that stand in the text of JSX or in a string, found in one walk: from the root to each of them
// it is far in a tree that is deep.
fn in_text(tree: &Tree, places: &[usize]) -> Vec<usize> {
    let mut kept = Vec::new();
    let mut left = places.iter().copied().peekable();
    let mut cursor = tree.walk();
    loop {
        if cursor.goto_first_child() {
            continue;
        }
        let leaf = cursor.node();
        let is_text = leaf.kind() == "jsx_text" || leaf.kind().starts_with("string");
        while let Some(at) = left.next_if(|at| *at < leaf.end_byte()) {
            if is_text && at >= leaf.start_byte() {
                kept.push(at);
            }
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return kept;
            }
        }
    }
}
