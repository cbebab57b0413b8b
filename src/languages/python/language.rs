use super::{definitions, imports, meddling, resolve, uses};
#[cfg(feature = "program")]
use super::{insert, installed};
use crate::languages::language::{FileKind, Grammar, Language, has_line};

// One module a line, sorted by bytes; add a line when a release adds a module.
const STANDARD_LIBRARY: &str = include_str!("stdlib.txt");

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
    #[cfg(feature = "program")]
    library: include_str!("names.txt"),
    #[cfg(feature = "program")]
    everyday: EVERYDAY,
    #[cfg(feature = "program")]
    globals: include_str!("builtins.txt"),
    package: |module| module,
    last_part: |specifier| specifier.rsplit('.').next().unwrap_or(specifier),
    is_standard,
    may_import: |line| memchr::memmem::find(line, b"import").is_some(),
    facts: imports::facts,
    defined: definitions::defined,
    use_of: uses::use_of,
    free_names: uses::free_names,
    #[cfg(feature = "program")]
    shows: installed::shows,
    #[cfg(feature = "program")]
    names: insert::names,
    #[cfg(feature = "program")]
    specifier_in: insert::specifier_in,
    #[cfg(feature = "program")]
    inserter: |page, all| Box::new(insert::Isort::of(page, all)),
    meddling: meddling::read,
    resolve: resolve::resolve,
    implicit: resolve::conftests,
};

// Modules that code imports from every day. Of two that export a name, one that stands here is
// meant far more often than one that does not.
#[cfg(feature = "program")]
const EVERYDAY: &[&str] = &[
    "abc",
    "argparse",
    "ast",
    "asyncio",
    "base64",
    "collections",
    "collections.abc",
    "concurrent.futures",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "hashlib",
    "http",
    "importlib",
    "inspect",
    "io",
    "itertools",
    "json",
    "logging",
    "math",
    "multiprocessing",
    "operator",
    "os",
    "os.path",
    "pathlib",
    "pickle",
    "queue",
    "random",
    "re",
    "readline",
    "shutil",
    "socket",
    "sqlite3",
    "string",
    "subprocess",
    "sys",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "traceback",
    "types",
    "typing",
    "unittest",
    "unittest.mock",
    "urllib.parse",
    "urllib.request",
    "uuid",
    "warnings",
    "weakref",
    "zlib",
    "zoneinfo",
];

pub(super) static GRAMMAR: Grammar = Grammar {
    of: || tree_sitter_python::LANGUAGE.into(),
    mended: None,
};

/// Whether the first part of a dotted name is a module of Python's standard library.
pub(super) fn is_standard(module: &str) -> bool {
    let first = module.split('.').next().unwrap_or_default();
    has_line(STANDARD_LIBRARY, first)
}
