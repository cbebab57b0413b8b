use super::packages::package_part;
use super::{embedded, imports, jsx, meddling, outline, resolve, uses};
#[cfg(feature = "program")]
use super::{insert, installed};
use crate::languages::language::{Extract, FileKind, Grammar, Language, has_line};

// One module a line, sorted by bytes; add a line when a release adds a module.
const NODE_MODULES: &str = include_str!("node_builtins.txt");

/// TypeScript and JavaScript in all their forms.
pub static TYPESCRIPT: Language = Language {
    name: "typescript",
    files: &[
        kind(&["ts", "mts", "cts"], &PLAIN, 0),
        kind(&["tsx"], &TSX, 1),
        holding(&["vue"], embedded::component, 3),
        holding(&["svelte"], embedded::component, 4),
        holding(&["astro"], embedded::astro, 5),
        kind(&["js", "jsx", "mjs", "cjs"], &TSX, 6),
        holding(&["mdx"], embedded::mdx, 7),
    ],
    declares_exports: true,
    families: &["js", "ts"],
    #[cfg(feature = "program")]
    library: include_str!("node_names.txt"),
    #[cfg(feature = "program")]
    everyday: include_str!("everyday.txt"),
    #[cfg(feature = "program")]
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
    defined: outline::defined,
    use_of: uses::use_of,
    free_names: |_, _| Vec::new(),
    #[cfg(feature = "program")]
    shows: installed::shows,
    #[cfg(feature = "program")]
    names: insert::names,
    #[cfg(feature = "program")]
    specifier_in: |rest, import| {
        let quoted = ['"', '\'', '`'].map(|it| rest.find(&format!("{it}{}{it}", import.specifier)));
        Some(quoted.into_iter().flatten().min()? + 1)
    },
    #[cfg(feature = "program")]
    inserter: |page, _| Box::new(insert::Groups::of(page)),
    meddling: meddling::read,
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
    mended: Some(jsx::with_ampersands),
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
