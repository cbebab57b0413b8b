// `name module`, sorted; the public names of the standard library's modules.
const PYTHON_NAMES: &str = include_str!("python_names.txt");

// `name module [*]`, sorted; what the modules of Node.js export, `*` for the module itself.
const NODE_NAMES: &str = include_str!("node_names.txt");

// `name module [imported] family`; asked only for packages that a manifest names, or for the
// runtime's own modules.
const KNOWN: &str = include_str!("known.txt");

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

/// Modules of Node.js that export a name, everyday ones first, with the name inside each.
pub(super) fn node_modules(name: &str) -> Vec<(&'static str, &'static str)> {
    let mut found: Vec<(&str, &str)> = rows(NODE_NAMES, name)
        .filter_map(|mut row| {
            let module = row.next()?;
            Some((module, row.next().map_or("", |_| "default")))
        })
        .collect();
    found.sort_by_key(|(module, _)| !is_everyday(module));
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

/// Known modules outside the repository, with the name inside each.
pub(super) fn known(name: &str, script: bool) -> Vec<(&'static str, &'static str)> {
    rows(KNOWN, name)
        .filter_map(|row| {
            let row: Vec<&'static str> = row.collect();
            let family = if script { "js" } else { "py" };
            match row.as_slice() {
                [module, own] if *own == family => Some((*module, "")),
                [module, imported, own] if *own == family => Some((*module, *imported)),
                _ => None,
            }
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
        EVERYDAY, EVERYDAY_NODE, KNOWN, NODE_NAMES, PYTHON_NAMES, known, node_modules,
        python_exports, python_modules,
    };

    #[test]
    fn names_lead_to_their_modules() {
        assert_eq!(python_modules("dataclass"), ["dataclasses"]);
        assert_eq!(python_modules("Path").first(), Some(&"pathlib"));
        assert!(python_modules("Iterable").len() > 1);
        assert_eq!(known("useState", true), [("react", "")]);
        assert!(known("useState", false).is_empty());
        assert_eq!(node_modules("fileURLToPath"), [("url", "")]);
        assert_eq!(node_modules("path"), [("path", "default")]);
        assert_eq!(known("np", false), [("numpy", "*")]);
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
