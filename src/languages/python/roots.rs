use std::sync::{Arc, OnceLock};

use crate::languages::files::{child, join};
use crate::languages::resolver::{Memo, Resolver};
use crate::model::RepoPath;

const PROJECT_FILES: &[&str] = &[
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "pytest.ini",
    "tox.ini",
];

/// What is known of where absolute imports are looked for.
#[derive(Default)]
pub(in crate::languages) struct ImportPaths {
    roots: Memo<String, Arc<Roots>>,
    project_roots: Memo<String, Arc<Vec<String>>>,
    projects: OnceLock<Vec<String>>,
}

/// Where absolute Python imports of one directory are looked for, in order.
pub(super) struct Roots {
    /// Directories on the import path as a test runner or installer would set it.
    pub(super) certain: Vec<String>,
    /// Directories above that are no packages, then other projects of the repository: asked last,
    /// and never for names of the standard library.
    pub(super) hoped: Vec<String>,
}

impl Resolver<'_> {
    /// Dotted names under which `from` can import what stands at `place` (a module without its
    /// extension, or a directory), customary roots first. Each name leads back to `place`.
    #[must_use]
    pub fn module_names(&self, from: &RepoPath, place: &str) -> Vec<String> {
        let roots = roots(self, from);
        let base = roots.certain.first().map(String::as_str);
        // A script and its neighbours import each other by bare name; a package does not call
        // itself by a part of its name, even when the folder above it lacks an `__init__.py`,
        // unless that folder is what a project or a service stands in.
        let above = place.rsplit_once('/').map_or("", |(above, _)| above);
        let in_package = from.ancestors().any(|it| is_package(self, it));
        let script = base.filter(|base| *base == from.directory() && *base == above && !in_package);
        let declared = declared_roots(self, from);
        let mut names: Vec<String> = Vec::new();
        // Names through the folder of another project: they work from one directory alone.
        let mut through: Vec<String> = Vec::new();
        let ordered = script
            .into_iter()
            .chain(declared.iter().map(String::as_str))
            .chain(roots.certain.iter().skip(1).map(String::as_str))
            .chain(base)
            .chain(roots.hoped.iter().map(String::as_str));
        for root in ordered {
            let rest = if root.is_empty() {
                place
            } else {
                match place.strip_prefix(root).and_then(|it| it.strip_prefix('/')) {
                    Some(rest) => rest,
                    None => continue,
                }
            };
            let legal = |part: &str| {
                !part.is_empty()
                    && !part.starts_with(|c: char| c.is_ascii_digit())
                    && part.chars().all(|c| c == '_' || c.is_alphanumeric())
            };
            if rest.split('/').all(legal) {
                let name = rest.replace('/', ".");
                let within = |at: usize| place.get(..place.len() - rest.len() + at);
                let mut folders = rest.match_indices('/').filter_map(|(at, _)| within(at));
                let names = if folders.any(|it| is_installable(self, it)) {
                    &mut through
                } else {
                    &mut names
                };
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        if names.is_empty() { through } else { names }
    }

    /// Whether the directory is a regular Python package.
    #[must_use]
    pub fn is_package(&self, directory: &str) -> bool {
        is_package(self, directory)
    }
}

/// The roots for the files of one directory.
pub(super) fn roots(resolver: &Resolver<'_>, from: &RepoPath) -> Arc<Roots> {
    resolver
        .paths
        .roots
        .get(from.directory(), || Arc::new(find(resolver, from)))
}

fn find(resolver: &Resolver<'_>, from: &RepoPath) -> Roots {
    let mut certain = Ordered::default();
    // The first directory above the file that is no package: what a runner inserts.
    if let Some(base) = from
        .ancestors()
        .find(|directory| !is_package(resolver, directory))
    {
        certain.add(base);
    }
    for directory in from.ancestors() {
        if is_project(resolver, directory) || directory.is_empty() {
            for root in project_roots(resolver, directory).iter() {
                certain.add(root);
            }
        }
    }
    let mut hoped = Ordered::default();
    for directory in from
        .ancestors()
        .filter(|directory| !is_package(resolver, directory))
    {
        hoped.add(directory);
    }
    let projects = resolver.paths.projects.get_or_init(|| {
        let mut directories: Vec<String> = resolver
            .files
            .listing()
            .files()
            .filter(|entry| {
                matches!(
                    entry.path.file_name(),
                    "pyproject.toml" | "setup.py" | "setup.cfg"
                )
            })
            .map(|entry| entry.path.directory().to_owned())
            .collect();
        directories.dedup();
        directories
            .iter()
            .flat_map(|directory| project_roots(resolver, directory).to_vec())
            .collect()
    });
    for root in projects {
        hoped.add(root);
    }
    let sure = &certain.0;
    let hoped = hoped
        .0
        .into_iter()
        .filter(|root| !sure.contains(root))
        .collect();
    Roots {
        certain: certain.0,
        hoped,
    }
}

#[derive(Default)]
struct Ordered(Vec<String>);

impl Ordered {
    fn add(&mut self, directory: &str) {
        if !self.0.iter().any(|added| added == directory) {
            self.0.push(directory.to_owned());
        }
    }
}

/// The roots that the projects around a file declare or are known by, its own project's first.
pub(super) fn declared_roots(resolver: &Resolver<'_>, from: &RepoPath) -> Vec<String> {
    let mut roots = Ordered::default();
    for directory in from.ancestors() {
        if directory.is_empty()
            || is_project(resolver, directory)
            || is_service(resolver, directory)
        {
            for root in project_roots(resolver, directory).iter() {
                roots.add(root);
            }
        }
    }
    roots.0
}

// What stands beside the code of a service that is run from its own folder.
const SERVICE_FILES: &[&str] = &[
    "Dockerfile",
    "Pipfile",
    "manage.py",
    "requirements.in",
    "requirements.txt",
];

/// Whether the folder is what a service is run from: no package, and its requirements, its image or
/// its entry stand in it.
fn is_service(resolver: &Resolver<'_>, directory: &str) -> bool {
    let has = |name: &str| resolver.files.has_file(&child(directory, name));
    !is_package(resolver, directory) && SERVICE_FILES.iter().any(|name| has(name))
}

fn is_project(resolver: &Resolver<'_>, directory: &str) -> bool {
    PROJECT_FILES
        .iter()
        .any(|name| resolver.files.has_file(&child(directory, name)))
}

// Whether a distribution is built from the directory.
fn is_installable(resolver: &Resolver<'_>, directory: &str) -> bool {
    let files = ["pyproject.toml", "setup.py", "setup.cfg"];
    let mut files = files.iter().map(|name| child(directory, name));
    files.any(|it| resolver.files.has_file(&it))
}

/// Whether the directory is a regular package.
pub(super) fn is_package(resolver: &Resolver<'_>, directory: &str) -> bool {
    let files = &resolver.files;
    !directory.is_empty()
        && (files.has_file(&child(directory, "__init__.py"))
            || files.has_file(&child(directory, "__init__.pyi")))
}

// What the project declares, then what is customary.
fn project_roots(resolver: &Resolver<'_>, directory: &str) -> Arc<Vec<String>> {
    resolver.paths.project_roots.get(directory, || {
        Arc::new(find_project_roots(resolver, directory))
    })
}

fn find_project_roots(resolver: &Resolver<'_>, directory: &str) -> Vec<String> {
    let mut roots = Ordered::default();
    for declared in declared(resolver, directory) {
        if let Some(path) = join(directory, &declared)
            && resolver.files.has_directory(&path)
        {
            roots.add(&path);
        }
    }
    for name in ["src", "", "lib", "python"] {
        let path = if name.is_empty() {
            directory.to_owned()
        } else {
            child(directory, name)
        };
        if resolver.files.has_directory(&path) && !is_package(resolver, &path) {
            roots.add(&path);
        }
    }
    roots.0
}

fn text_of(resolver: &Resolver<'_>, directory: &str, name: &str) -> Option<String> {
    let path = child(directory, name);
    let bytes = resolver.files.read(resolver.source, &path)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn declared(resolver: &Resolver<'_>, directory: &str) -> Vec<String> {
    let read = |name: &str| text_of(resolver, directory, name);
    let mut roots = Vec::new();
    if let Some(table) = read("pyproject.toml").and_then(|text| text.parse::<toml::Table>().ok()) {
        roots.extend(from_pyproject(&table));
    }
    if let Some(text) = read("setup.cfg") {
        roots.extend(
            ini_values(&text, "options", "package_dir")
                .into_iter()
                .filter_map(|value| {
                    let (package, path) = value.split_once('=')?;
                    package.trim().is_empty().then(|| path.trim().to_owned())
                }),
        );
        roots.extend(ini_values(&text, "options.packages.find", "where"));
        roots.extend(ini_paths(&text, "tool:pytest"));
    }
    for name in ["pytest.ini", "tox.ini"] {
        if let Some(text) = read(name) {
            roots.extend(ini_paths(&text, "pytest"));
        }
    }
    roots
}

fn ini_paths(text: &str, section: &str) -> Vec<String> {
    ini_values(text, section, "pythonpath")
        .iter()
        .flat_map(|value| value.split_whitespace())
        .map(str::to_owned)
        .collect()
}

// One row per tool: the keys that name directories of the import path.
const PYPROJECT_KEYS: &[&[&str]] = &[
    &["tool", "setuptools", "packages", "find", "where"],
    &["tool", "setuptools", "package-dir", ""],
    &["tool", "pytest", "ini_options", "pythonpath"],
    &["tool", "pytest", "pythonpath"],
    &["tool", "ruff", "src"],
    &["tool", "pyright", "extraPaths"],
    &["tool", "basedpyright", "extraPaths"],
    &["tool", "ty", "environment", "root"],
    &["tool", "mypy", "mypy_path"],
    &["tool", "pdm", "build", "package-dir"],
    &["tool", "uv", "build-backend", "module-root"],
    &["tool", "maturin", "python-source"],
    &["tool", "isort", "src_paths"],
    &["tool", "hatch", "build", "sources"],
    &["tool", "hatch", "build", "targets", "wheel", "sources"],
];

fn from_pyproject(table: &toml::Table) -> Vec<String> {
    let mut roots = Vec::new();
    for keys in PYPROJECT_KEYS {
        match lookup(table, keys) {
            Some(toml::Value::String(text)) => roots.extend(text.split([':', ',']).map(plain_root)),
            Some(toml::Value::Array(values)) => {
                roots.extend(
                    values
                        .iter()
                        .filter_map(toml::Value::as_str)
                        .map(plain_root),
                );
            }
            _ => {}
        }
    }
    // poetry: packages = [{ include = "x", from = "src" }]
    if let Some(toml::Value::Array(packages)) = lookup(table, &["tool", "poetry", "packages"]) {
        roots.extend(
            packages
                .iter()
                .filter_map(|package| package.get("from")?.as_str())
                .map(plain_root),
        );
    }
    // hatch: packages = ["src/x"]; the part above the package is the root.
    let wheel = ["tool", "hatch", "build", "targets", "wheel", "packages"];
    if let Some(toml::Value::Array(packages)) = lookup(table, &wheel) {
        roots.extend(packages.iter().filter_map(toml::Value::as_str).map(|path| {
            path.rsplit_once('/')
                .map_or(".", |(above, _)| above)
                .to_owned()
        }));
    }
    roots
}

fn lookup<'t>(table: &'t toml::Table, keys: &[&str]) -> Option<&'t toml::Value> {
    let (first, rest) = keys.split_first()?;
    let mut value = table.get(*first)?;
    for key in rest {
        value = value.get(*key)?;
    }
    Some(value)
}

fn plain_root(text: &str) -> String {
    let text = text.trim();
    text.trim_start_matches("$MYPY_CONFIG_FILE_DIR/").to_owned()
}

// The values of a key in an ini section: the rest of its line and the indented lines below.
fn ini_values(text: &str, section: &str, key: &str) -> Vec<String> {
    let mut inside = false;
    let mut open = false;
    let mut values = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with('[') {
            inside = trimmed.trim_matches(['[', ']']) == section;
            open = false;
        } else if inside && line.starts_with([' ', '\t']) {
            if open && !trimmed.is_empty() && !trimmed.starts_with(['#', ';']) {
                values.push(trimmed.to_owned());
            }
        } else if inside && let Some((name, value)) = line.split_once('=') {
            open = name.trim() == key;
            if open && !value.trim().is_empty() {
                values.push(value.trim().to_owned());
            }
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::{from_pyproject, ini_values};

    #[test]
    fn roots_are_read_from_every_tool() {
        let text = r#"
            [tool.setuptools.packages.find]
            where = ["a"]
            [tool.setuptools.package-dir]
            "" = "b"
            [tool.pytest.ini_options]
            pythonpath = ["c", "."]
            [tool.poetry]
            packages = [{ include = "x", from = "d" }]
            [tool.hatch.build.targets.wheel]
            packages = ["e/x", "y"]
        "#;
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(from_pyproject(&table), ["a", "b", "c", ".", "d", "e", "."]);
    }

    #[test]
    fn ini_values_continue_on_indented_lines() {
        let text =
            "[options]\npackage_dir =\n    = src\n    # c\nname = x\n[other]\npackage_dir = y\n";
        assert_eq!(ini_values(text, "options", "package_dir"), ["= src"]);
        assert_eq!(ini_values(text, "other", "package_dir"), ["y"]);
    }
}
