// `name module`, sorted; the public names of the standard library's modules.
const PYTHON_NAMES: &str = include_str!("python_names.txt");

// `name module [*|type]`, sorted; what the modules of Node.js export, `*` for the module itself,
// `type` for what is erased at run time.
const NODE_NAMES: &str = include_str!("node_names.txt");

// `name module [imported] family`, sorted by family; public names of packages in wide use. The
// family is `py`, `js`, or `ts` for what is erased at run time. Asked only for packages that a
// manifest names.
const KNOWN: &str = include_str!("known.txt");

// Sorted: what the language, browsers and Node.js have without an import.
const SCRIPT_GLOBALS: &str = include_str!("script_globals.txt");
const PYTHON_BUILTINS: &str = include_str!("python_builtins.txt");

// Modules that code imports from every day. Of two that export a name, one that stands here is
// meant far more often than one that does not.
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
    "zoneinfo",
];

// The same for Node.js.
const EVERYDAY_NODE: &[&str] = &[
    "assert",
    "child_process",
    "crypto",
    "events",
    "fs",
    "fs/promises",
    "http",
    "https",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "readline",
    "stream",
    "url",
    "util",
    "worker_threads",
    "zlib",
];

/// A module outside the repository that exports a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outside<'t> {
    pub(super) module: &'t str,
    /// The name inside the module: empty for the same one, `default`, or `*` for the module.
    pub(super) imported: &'t str,
    /// Erased at run time.
    pub(super) erased: bool,
}

/// Modules of Node.js that export a name, everyday ones first.
pub(super) fn node_modules(name: &str) -> Vec<Outside<'static>> {
    let mut found: Vec<Outside> = rows(NODE_NAMES, name)
        .filter_map(|mut row| {
            let module = row.next()?;
            let mark = row.next();
            Some(Outside {
                module,
                imported: if mark == Some("*") { "default" } else { "" },
                erased: mark == Some("type"),
            })
        })
        .collect();
    found.sort_by_key(|one| !is_everyday(one.module));
    found
}

/// Modules of Python's standard library that export a name, everyday ones first.
pub(super) fn python_modules(name: &str) -> Vec<&'static str> {
    let mut modules: Vec<&str> = rows(PYTHON_NAMES, name)
        .filter_map(|mut row| row.next())
        .collect();
    modules.sort_by_key(|module| !is_everyday(module));
    modules
}

/// Whether the name means something without an import.
pub(super) fn is_global(name: &str, script: bool) -> bool {
    let table = if script {
        SCRIPT_GLOBALS
    } else {
        PYTHON_BUILTINS
    };
    table.lines().any(|line| line == name)
}

/// Whether code imports from the module every day.
pub(super) fn is_everyday(module: &str) -> bool {
    let node = module.strip_prefix("node:").unwrap_or(module);
    EVERYDAY.binary_search(&module).is_ok() || EVERYDAY_NODE.binary_search(&node).is_ok()
}

/// Whether a module of Python's standard library exports the name; `None` when the table holds
/// nothing of the module.
pub(super) fn python_exports(module: &str, name: &str) -> Option<bool> {
    let known = PYTHON_NAMES
        .lines()
        .any(|line| line.split(' ').nth(1) == Some(module));
    known.then(|| python_modules(name).contains(&module))
}

/// What a module of Python's standard library exports.
pub(super) fn python_names(module: &str) -> impl Iterator<Item = &'static str> + use<'_> {
    PYTHON_NAMES.lines().filter_map(move |line| {
        let (name, rest) = line.split_once(' ')?;
        (rest == module).then_some(name)
    })
}

/// Known packages outside the repository that export a name.
pub(super) fn known(name: &str, script: bool) -> Vec<Outside<'static>> {
    in_rows(KNOWN.lines(), name, script)
}

/// What the user says of a name, in rows of the same form.
pub(super) fn told<'t>(table: &'t [String], name: &str, script: bool) -> Vec<Outside<'t>> {
    in_rows(table.iter().map(String::as_str), name, script)
}

fn in_rows<'t>(table: impl Iterator<Item = &'t str>, name: &str, script: bool) -> Vec<Outside<'t>> {
    table
        .filter_map(|line| {
            let row: Vec<&str> = line.split_whitespace().collect();
            let (found, module, imported, family) = match row.as_slice() {
                [found, module, family] => (*found, *module, "", *family),
                [found, module, imported, family] => (*found, *module, *imported, *family),
                _ => return None,
            };
            (found == name && script == (family != "py")).then_some(Outside {
                module,
                imported,
                erased: family == "ts",
            })
        })
        .collect()
}

fn rows<'n>(
    table: &'static str,
    name: &'n str,
) -> impl Iterator<Item = std::str::SplitWhitespace<'static>> + use<'n> {
    table.lines().filter_map(move |line| {
        let mut row = line.split_whitespace();
        (row.next() == Some(name)).then_some(row)
    })
}

#[cfg(test)]
mod tests {
    use super::{
        EVERYDAY, EVERYDAY_NODE, KNOWN, NODE_NAMES, Outside, PYTHON_NAMES, known, node_modules,
        python_exports, python_modules,
    };

    #[test]
    fn names_lead_to_their_modules() {
        assert_eq!(python_modules("dataclass"), ["dataclasses"]);
        assert_eq!(python_modules("Path").first(), Some(&"pathlib"));
        assert!(python_modules("Iterable").len() > 1);
        let outside = |module, imported, erased| Outside {
            module,
            imported,
            erased,
        };
        assert_eq!(known("useState", true), [outside("react", "", false)]);
        assert_eq!(known("ReactNode", true), [outside("react", "", true)]);
        assert!(known("useState", false).is_empty());
        assert_eq!(node_modules("fileURLToPath"), [outside("url", "", false)]);
        assert_eq!(node_modules("path"), [outside("path", "default", false)]);
        assert_eq!(node_modules("AddressInfo"), [outside("net", "", true)]);
        assert_eq!(known("np", false), [outside("numpy", "*", false)]);
        assert_eq!(python_exports("datetime", "timedelta"), Some(true));
        assert_eq!(python_exports("datetime", "now"), Some(false));
        assert_eq!(python_exports("nothing", "now"), None);
    }

    #[test]
    fn tables_are_sorted_and_complete() {
        assert!(EVERYDAY.is_sorted());
        assert!(EVERYDAY_NODE.is_sorted());
        assert!(PYTHON_NAMES.lines().is_sorted() && NODE_NAMES.lines().is_sorted());
        assert!(
            KNOWN
                .lines()
                .all(|line| matches!(line.split(' ').count(), 3 | 4))
        );
    }
}
