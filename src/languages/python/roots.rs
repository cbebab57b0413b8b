//! Finds the folders in which absolute Python imports are looked up.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use crate::languages::files::{below, child, join_path};
use crate::languages::resolver::{Memo, Resolver};
use crate::model::RepoPath;

/// What is beside the code of a project, or of a service that is run from its own folder.
const PROJECT_FILES: &[&str] = &[
    "Dockerfile", "Pipfile", "manage.py", "pyproject.toml", "pytest.ini", "requirements.in",
    "requirements.txt", "setup.cfg", "setup.py", "tox.ini",
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
    /// The first directory above that is no package: what a test runner inserts.
    base: Option<String>,
    /// What the projects around declare or are known by, the nearest one's first.
    declared: Vec<String>,
    /// Directories above that are no packages, then other projects of the repository: asked last,
    /// and never for names of the standard library.
    pub(super) hoped: Vec<String>,
}

impl Roots {
    /// Directories on the import path as a test runner or installer would set it.
    pub(super) fn certain(&self) -> impl Iterator<Item = &String> {
        let base = self.base.as_ref();
        let declared = self.declared.iter();
        base.into_iter().chain(declared.filter(move |root| Some(*root) != base))
    }
}

impl Resolver<'_> {
    /// Dotted names under which `from` can import what is at `place` (a module without its
    /// extension, or a directory), customary roots first. Each name leads back to `place`.
    pub fn module_names(&self, from: &RepoPath, place: &str) -> Vec<String> {
        let roots = find_roots(self, from);
        // The folder counts, because a script and its neighbors import each other by bare name.
        let above = place.rsplit_once('/').map_or("", |(above, _)| above);
        let in_package = from.ancestors().any(|directory| is_package(self, directory));
        let base = roots.base.as_ref();
        let ordered = base
            .filter(|base| **base == from.directory() && *base == above && !in_package)
            .into_iter();
        let ordered = ordered.chain(&roots.declared).chain(base);
        let projects = self.paths.projects.get().into_iter().flatten();
        // Through the folder of a project inside a root a name works from one directory alone.
        let is_through = |root: &str| {
            let mut inner = projects.clone().filter(|inner| *inner != root);
            inner.any(|inner| below(root, inner).is_some() && below(inner, place).is_some())
        };
        let mut names: Vec<(bool, String)> = Vec::new();
        for root in ordered.chain(&roots.hoped) {
            let rest = below(root, place).filter(|rest| {
                rest.split('/').all(|part| {
                    !part.is_empty()
                        && !part.starts_with(|c: char| c.is_ascii_digit())
                        && part.chars().all(|c| c == '_' || c.is_alphanumeric())
                })
            });
            let name = rest.map(|rest| rest.replace('/', "."));
            let name = name.filter(|name| !names.iter().any(|(_, known)| known == name));
            names.extend(name.map(|name| (is_through(root), name)));
        }
        names.sort_by_key(|(is_through, _)| *is_through);
        names.into_iter().map(|(_, name)| name).collect()
    }

    /// Whether the directory is a regular Python package.
    pub fn is_package(&self, directory: &str) -> bool {
        is_package(self, directory)
    }
}

/// The roots for the files of one directory.
pub(super) fn find_roots(resolver: &Resolver<'_>, from: &RepoPath) -> Arc<Roots> {
    let directory = from.directory();
    let memo = &resolver.paths.roots;
    memo.get(directory, || Arc::new(compute_roots(resolver, from)))
}

fn compute_roots(resolver: &Resolver<'_>, from: &RepoPath) -> Roots {
    let outside = from.ancestors().filter(|directory| !is_package(resolver, directory));
    let outside: Vec<&str> = outside.collect();
    let mut declared = Ordered::default();
    for directory in from.ancestors() {
        if is_project(resolver, directory) || directory.is_empty() {
            declared.extend(project_roots(resolver, directory).iter());
        }
    }
    declared.extend(inserted_by_conftests(resolver, from));
    let mut hoped = Ordered::default();
    hoped.extend(&outside);
    hoped.extend(resolver.paths.projects.get_or_init(|| {
        let installable = ["pyproject.toml", "setup.py", "setup.cfg"];
        let files = resolver.files.files().map(|entry| &entry.path);
        let mut directories: Vec<&str> = files
            .filter(|path| installable.contains(&path.file_name()))
            .map(RepoPath::directory)
            .collect();
        directories.dedup();
        let roots = directories.iter().map(|directory| project_roots(resolver, directory));
        roots.flat_map(|roots| roots.to_vec()).collect()
    }));
    let mut roots = Roots {
        base: outside.first().map(|directory| (*directory).to_owned()),
        declared: declared.0,
        hoped: hoped.0,
    };
    let certain: HashSet<String> = roots.certain().cloned().collect();
    roots.hoped.retain(|root| !certain.contains(root));
    roots
}

// Directories that a `conftest.py` above puts on the import path, by the texts and the steps up in the call:
// `monkeypatch.syspath_prepend(os.path.join(os.path.dirname(__file__), "apps"))`.
fn inserted_by_conftests(resolver: &Resolver<'_>, from: &RepoPath) -> Vec<String> {
    const CALLS: [&str; 3] = ["syspath_prepend(", "sys.path.insert(", "sys.path.append("];
    let mut found = Vec::new();
    for directory in from.ancestors() {
        let bytes = resolver.read(&child(directory, "conftest.py"));
        let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default());
        for call in CALLS.iter().flat_map(|call| text.split(call).skip(1)) {
            let call = call.split(")\n").next().unwrap_or_default();
            let above = call.matches("dirname(").count() + call.matches(".parent").count();
            let parts: Vec<&str> = call.split(['"', '\'']).skip(1).step_by(2).collect();
            let path = "../".repeat(above.saturating_sub(1)) + &parts.join("/");
            let is_known = !parts.is_empty() || call.contains("__file__");
            found.extend(join_path(directory, &path).filter(|_| is_known));
        }
    }
    found.retain(|path| resolver.files.has_directory(path));
    found
}

#[derive(Default)]
struct Ordered(Vec<String>);

impl Ordered {
    fn extend(&mut self, directories: impl IntoIterator<Item = impl AsRef<str>>) {
        for directory in directories {
            let directory = directory.as_ref();
            if !self.0.iter().any(|added| added == directory) {
                self.0.push(directory.to_owned());
            }
        }
    }
}

// Whether a project or a service is in the directory.
fn is_project(resolver: &Resolver<'_>, directory: &str) -> bool {
    !is_package(resolver, directory)
        && PROJECT_FILES
            .iter()
            .any(|name| resolver.files.has_file(&child(directory, name)))
}

/// Whether the directory is a regular package.
pub(super) fn is_package(resolver: &Resolver<'_>, directory: &str) -> bool {
    let files = ["__init__.py", "__init__.pyi"].map(|name| child(directory, name));
    !directory.is_empty() && files.iter().any(|path| resolver.files.has_file(path))
}

// What the project declares, then what is customary.
fn project_roots(resolver: &Resolver<'_>, directory: &str) -> Arc<Vec<String>> {
    resolver.paths.project_roots.get(directory, || {
        let files = &resolver.files;
        let mut roots = Ordered::default();
        let declared = declared_roots(resolver, directory).into_iter();
        let declared = declared.filter_map(|path| join_path(directory, &path));
        roots.extend(declared.filter(|path| files.has_directory(path)));
        let customary = ["src", "", "lib", "python"].map(|name| join_path(directory, name));
        let mut customary: Vec<String> = customary.into_iter().flatten().collect();
        customary.retain(|path| files.has_directory(path) && !is_package(resolver, path));
        roots.extend(customary);
        Arc::new(roots.0)
    })
}

// The directories of the import path that the settings of a project name.
fn declared_roots(resolver: &Resolver<'_>, directory: &str) -> Vec<String> {
    let read = |name: &str| {
        let bytes = resolver.read(&child(directory, name))?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut roots = Vec::new();
    if let Some(table) = read("pyproject.toml").and_then(|text| text.parse::<toml::Table>().ok()) {
        roots.extend(from_pyproject(&table));
    }
    for (name, section, key) in INI_KEYS {
        for value in read(name).map(|text| ini_values(&text, section, key)).into_iter().flatten() {
            // `package_dir = =src`: of named packages the place is another.
            let paths = match value.split_once('=') {
                Some((package, path)) if package.trim().is_empty() => path,
                Some(_) => continue,
                None => &value,
            };
            roots.extend(paths.split_whitespace().map(str::to_owned));
        }
    }
    roots
}

/// File, section and key.
const INI_KEYS: &[(&str, &str, &str)] = &[
    ("setup.cfg", "options", "package_dir"),
    ("setup.cfg", "options.packages.find", "where"),
    ("setup.cfg", "tool:pytest", "pythonpath"),
    ("pytest.ini", "pytest", "pythonpath"),
    ("tox.ini", "pytest", "pythonpath"),
];

/// The keys by which tools name directories of the import path.
#[rustfmt::skip]
const PYPROJECT_KEYS: &[&str] = &[
    "setuptools.packages.find.where", "setuptools.package-dir.", "pytest.ini_options.pythonpath",
    "pytest.pythonpath", "ruff.src", "pyright.extraPaths", "basedpyright.extraPaths", "ty.environment.root",
    "mypy.mypy_path", "pdm.build.package-dir", "uv.build-backend.module-root", "maturin.python-source",
    "isort.src_paths", "hatch.build.sources", "hatch.build.targets.wheel.sources", "poetry.packages",
];
/// Places of packages: the part above the package is the root.
const HATCH_PACKAGES: &str = "hatch.build.targets.wheel.packages";

fn from_pyproject(table: &toml::Table) -> Vec<String> {
    let mut roots = Vec::new();
    for value in PYPROJECT_KEYS.iter().filter_map(|keys| look_up(keys, table)) {
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        // poetry: packages = [{ include = "x", from = "src" }]
        let texts = values.iter().map(|value| value.get("from").unwrap_or(value));
        let parts = texts.filter_map(toml::Value::as_str).flat_map(|text| text.split([':', ',']));
        let parts = parts.map(|part| part.trim().trim_start_matches("$MYPY_CONFIG_FILE_DIR/"));
        roots.extend(parts.map(str::to_owned));
    }
    let packages = look_up(HATCH_PACKAGES, table).and_then(toml::Value::as_array);
    let packages = packages.into_iter().flatten().filter_map(toml::Value::as_str);
    let above = packages.map(|path| path.rsplit_once('/').map_or(".", |(above, _)| above));
    roots.extend(above.map(str::to_owned));
    roots
}

fn look_up<'t>(keys: &str, table: &'t toml::Table) -> Option<&'t toml::Value> {
    let tool = table.get("tool")?;
    keys.split('.').try_fold(tool, |value, key| value.get(key))
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
