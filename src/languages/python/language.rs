//! The language Python.

use super::{imports, layout, part, resolve};
use super::{installed, spelling};
use crate::languages::language::Editing;
use crate::languages::language::{FileKind, Grammar, Language, has_line};
use crate::languages::query::{Patterns, Query};

// One module a line, sorted by bytes; written by `scripts/name_tables.py`.
const STANDARD_LIBRARY: &str = include_str!("stdlib.txt");

const TAGS: &str = include_str!("../../../grammars/python/tags.scm");
const OUTLINE: &str = include_str!("../../../grammars/python/outline.scm");
const USES: &str = include_str!("../../../grammars/python/uses.scm");

/// Python 3.
pub static PYTHON: Language = Language {
    name: "python",
    files: &[FileKind {
        extensions: &["py", "pyi"],
        grammar: &GRAMMAR,
        code: None,
        reading: 2,
    }],
    declares_exports: false,
    families: &["py"],
    library: include_str!("names.txt"),
    everyday: include_str!("everyday.txt"),
    globals: include_str!("builtins.txt"),
    package: |module| module,
    last_part: |specifier| specifier.rsplit('.').next().unwrap_or(specifier),
    is_standard,
    may_import: |line| memchr::memmem::find(line, b"import").is_some(),
    layout: layout::layout_errors,
    changed_part: part::changed_part,
    facts: imports::facts,
    tags: Query::new(|| Patterns::new(TAGS)),
    outline: Query::new(|| Patterns::new(OUTLINE)),
    uses: Query::new(|| Patterns::new(USES)),
    editing: Some(Editing {
        installed: installed::FILES,
        specifier_in: spelling::specifier_in,
        import_line: |_, one| one.import_statement.clone(),
    }),
    resolve: resolve::resolve,
    implicit: resolve::find_conftests,
};

pub(super) static GRAMMAR: Grammar = Grammar {
    of: || tree_sitter_python::LANGUAGE.into(),
    mended: None,
};

/// Whether the first part of a dotted name is a module of Python's standard library.
pub(super) fn is_standard(module: &str) -> bool {
    let first = module.split('.').next().unwrap_or_default();
    has_line(STANDARD_LIBRARY, first)
}
