use std::collections::HashSet;

use super::change::{ChangeRules, ChangedFile, LET_PASS};
use super::manifest::{dependency_names, is_manifest};
use super::test_files::is_test_runner;
use crate::model::{Code, PatchProblem, file_name};

/// New files that an import finds before the module that was meant.
pub(super) fn shadows(
    files: &[ChangedFile<'_>],
    rules: &ChangeRules<'_>,
) -> Vec<(usize, PatchProblem)> {
    let tree = Tree { files, rules };
    let mut declared: Option<HashSet<String>> = None;
    let mut found = Vec::new();
    for (at, file) in files.iter().enumerate() {
        if file.before.is_some() || file.after.is_none() {
            continue;
        }
        let hides = match module_of(file.path) {
            Some(module) => tree.hidden_by(&module, &mut declared),
            None => tree
                .automatic_mock(file.path)
                .or_else(|| tree.namesake(file.path)),
        };
        if let Some(what) = hides {
            let message = format!("the new file hides {what} from every import: {LET_PASS}");
            found.push((at, PatchProblem::new(Code::P710, message)));
        }
    }
    found
}

// A module of Python by the file that makes it.
struct Module<'p> {
    directory: &'p str,
    name: &'p str,
    is_package: bool,
    is_compiled: bool,
}

fn module_of(path: &str) -> Option<Module<'_>> {
    let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
    if matches!(file, "__init__.py" | "__init__.pyc") {
        let (directory, name) = directory.rsplit_once('/').unwrap_or(("", directory));
        return (!name.is_empty()).then_some(Module {
            directory,
            name,
            is_package: true,
            is_compiled: false,
        });
    }
    let (name, ending) = file.split_once('.')?;
    let extension = ending.rsplit('.').next().unwrap_or(ending);
    let is_compiled = matches!(extension, "so" | "pyd" | "pyc");
    (ending == "py" || is_compiled).then_some(Module {
        directory,
        name,
        is_package: false,
        is_compiled,
    })
}

const PRODUCT_ROOTS: [&str; 4] = ["", "src", "lib", "python"];

struct Tree<'t> {
    files: &'t [ChangedFile<'t>],
    rules: &'t ChangeRules<'t>,
}

impl Tree<'_> {
    fn hidden_by(
        &self,
        module: &Module<'_>,
        declared: &mut Option<HashSet<String>>,
    ) -> Option<String> {
        let beside = below(module.directory, &format!("{}.py", module.name));
        if (module.is_package || module.is_compiled) && self.stays(&beside) {
            return Some(format!("`{beside}`"));
        }
        if self.has(&below(module.directory, "__init__.py")) {
            return None;
        }
        let name = module.name;
        if is_test_runner(name) || matches!(name, "coverage" | "iniconfig" | "xdist") {
            return Some(format!("the test runner's `{name}`"));
        }
        if !self.is_import_root(module.directory) {
            return None;
        }
        if let Some(product) = self.product(module) {
            return Some(format!("`{product}`"));
        }
        if (self.rules.is_standard)(name) {
            return Some(format!("`{name}` of the standard library"));
        }
        let declared = declared.get_or_insert_with(|| self.declared());
        declared
            .contains(&python_name(name))
            .then(|| format!("the installed package `{name}`"))
    }

    // A module of the same name where the product's are found, for one that stands among tests.
    fn product(&self, module: &Module<'_>) -> Option<String> {
        if PRODUCT_ROOTS.contains(&module.directory) {
            return None;
        }
        let roots = PRODUCT_ROOTS.iter();
        roots
            .flat_map(|root| [".py", "/__init__.py"].map(|end| below(root, module.name) + end))
            .find(|path| self.stays(path))
    }

    // jest takes such a file for the package of its name without being asked.
    fn automatic_mock(&self, path: &str) -> Option<String> {
        let (above, file) = path.split_once("__mocks__/")?;
        let root = above.is_empty() || self.stays(&format!("{above}package.json"));
        let name = file.rsplit_once('.').map_or(file, |(name, _)| name);
        root.then(|| format!("the package `{name}`"))
    }

    // What an import without an extension finds first of two files, and a type checker of a stub and its
    // module.
    fn namesake(&self, path: &str) -> Option<String> {
        const ORDER: &[&str] = &["mjs", "js", "mts", "ts", "jsx", "tsx", "json"];
        let (stem, extension) = path.rsplit_once('.')?;
        let found = if extension == "pyi" {
            vec![format!("{stem}.py")]
        } else {
            let at = ORDER.iter().position(|it| *it == extension)?;
            let later = ORDER.iter().skip(at + 1);
            let packages = ORDER.iter().map(|it| format!("{stem}/index.{it}"));
            later
                .map(|it| format!("{stem}.{it}"))
                .chain(packages)
                .collect()
        };
        let hidden = found.into_iter().find(|it| self.stays(it))?;
        Some(format!("`{hidden}`"))
    }

    // Where Python looks for modules: the root, what holds sources, what holds tests.
    fn is_import_root(&self, directory: &str) -> bool {
        if PRODUCT_ROOTS.contains(&directory) {
            return true;
        }
        let prefix = format!("{directory}/");
        self.rules
            .run
            .iter()
            .any(|(path, _)| is_directly_in(path, &prefix))
            || self
                .rules
                .source
                .listing()
                .below(directory)
                .iter()
                .map(|entry| entry.path.as_str())
                .filter(|path| is_directly_in(path, &prefix))
                .any(is_python_test)
    }

    fn has(&self, path: &str) -> bool {
        self.rules.source.listing().has_file(path)
            || self
                .files
                .iter()
                .any(|file| file.path == path && file.after.is_some())
    }

    fn stays(&self, path: &str) -> bool {
        self.rules.source.listing().has_file(path)
            && !self
                .files
                .iter()
                .any(|file| file.path == path && file.after.is_none())
    }

    // What the manifests at the root ask for, but for the project's own name.
    fn declared(&self) -> HashSet<String> {
        let listing = self.rules.source.listing();
        let manifests = listing.files().map(|entry| &entry.path).filter(|path| {
            is_manifest(path.as_str())
                && (!path.as_str().contains('/') || path.as_str().starts_with("requirements/"))
        });
        manifests
            .filter_map(|path| Some((path, self.rules.source.read(path).ok()?)))
            .flat_map(|(path, bytes)| dependency_names(path.as_str(), &bytes))
            .map(|name| python_name(&name))
            .collect()
    }
}

/// Whether the name of a file is that of a test of Python, wherever it stands. `tests.py` stands in the
/// middle of a product.
pub(super) fn is_python_test(path: &str) -> bool {
    let stem = file_name(path).strip_suffix(".py");
    stem.is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"))
}

fn is_directly_in(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| !rest.contains('/'))
}

fn below(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

/// The name of a Python package as registries compare it: lower case, runs of `-`, `_` and `.` are
/// one `-`.
#[must_use]
pub fn python_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let words: Vec<&str> = lower
        .split(['-', '_', '.'])
        .filter(|it| !it.is_empty())
        .collect();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::python_name;

    #[test]
    fn names_of_packages_are_compared_as_registries_do() {
        for name in ["Zope.Interface", "zope_interface", "zope--._interface"] {
            assert_eq!(python_name(name), "zope-interface");
        }
    }
}
