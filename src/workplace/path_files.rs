use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::environments::named_in;

/// Another file of the same package and name as this one of a worktree, where the commands would load
/// it from: a copy that was installed. `variables` are those handed on to them, `NAME` or `NAME=VALUE`.
#[must_use]
pub fn installed_copy(
    worktree: &Path,
    lines: &[String],
    variables: &[String],
    path: &str,
) -> Option<PathBuf> {
    let packages = environments(worktree, lines)
        .into_iter()
        .flat_map(|environment| {
            let pythons = entries(&environment.join("lib"));
            pythons.into_iter().map(|it| it.join("site-packages"))
        });
    let words = lines.iter().flat_map(|line| line.split_whitespace());
    let given = words.chain(variables.iter().map(String::as_str));
    let searched = given.filter_map(|word| match word {
        "PYTHONPATH" => std::env::var(word).ok(),
        word => word.strip_prefix("PYTHONPATH=").map(str::to_owned),
    });
    let searched: Vec<PathBuf> = searched
        .flat_map(|list| std::env::split_paths(&list).collect::<Vec<_>>())
        .map(|it| lexical(&worktree.join(it)))
        .collect();
    let own = worktree.join(path);
    let mut folders: Vec<PathBuf> = searched.into_iter().chain(packages).collect();
    folders.sort();
    let mut copies = folders.iter().flat_map(|folder| {
        let names = as_imported(path).into_iter();
        names.map(|name| folder.join(name)).collect::<Vec<_>>()
    });
    copies.find(|it| *it != own && it.is_file())
}

// A path as it stands in a folder that is searched for packages: with ever fewer folders before it,
// a package at least.
fn as_imported(path: &str) -> Vec<&str> {
    let mut names = vec![path];
    let mut rest = path;
    while let Some((_, below)) = rest.split_once('/').filter(|(_, it)| it.contains('/')) {
        names.push(below);
        rest = below;
    }
    names
}

/// A file of an environment that leads into a folder.
pub(super) fn first_path_file(environment: &Path, folder: &Path) -> Option<PathBuf> {
    let name = folder.as_os_str().as_encoded_bytes();
    entries(&environment.join("lib"))
        .iter()
        .flat_map(|python| entries(&python.join("site-packages")))
        .filter(|path| is_path_file(path))
        .find(|path| {
            let small = path.metadata().is_ok_and(|it| it.len() <= MAX_PATH_FILE);
            let bytes = small.then(|| fs::read(path).unwrap_or_default());
            bytes.is_some_and(|it| memchr::memmem::find(&it, name).is_some())
        })
}

const MAX_PATH_FILE: u64 = 4 << 20;

/// A path without `..` and `.`; links are not followed.
pub(super) fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Whether Python reads a file of this name at its start to find packages elsewhere.
pub(super) fn is_path_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let path = Path::new(name.as_ref());
    let extension = path.extension().and_then(|it| it.to_str());
    matches!(extension, Some("pth" | "egg-link")) || name.starts_with("__editable__")
}

fn environments(worktree: &Path, lines: &[String]) -> BTreeSet<PathBuf> {
    let variables = ["VIRTUAL_ENV", "CONDA_PREFIX"];
    let named = variables
        .iter()
        .filter_map(std::env::var_os)
        .map(PathBuf::from);
    let searched = std::env::var_os("PATH").unwrap_or_default();
    let searched: Vec<PathBuf> = std::env::split_paths(&searched)
        .filter_map(|folder| Some(folder.parent()?.to_owned()))
        .collect();
    let typed = named_in(worktree, lines, &|name| std::env::var_os(name));
    named
        .chain(searched)
        .chain(typed.into_iter().map(|(_, root)| root))
        .collect()
}

/// What stands in a folder, by name.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::installed_copy;

    #[test]
    fn a_package_that_was_copied_is_found() {
        let home = tempfile::tempdir().unwrap();
        let packages = home.path().join("venv/lib/python3.12/site-packages");
        for folder in [packages.join("pk"), home.path().join("lib/pk")] {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("core.py"), "").unwrap();
        }
        let at = home.path().display();
        let find = |line: String, variables: &[String]| {
            let found = installed_copy(Path::new("/w/r"), &[line], variables, "src/pk/core.py");
            found.map(|it| it.strip_prefix(home.path()).unwrap().to_owned())
        };
        let installed = Path::new("venv/lib/python3.12/site-packages/pk/core.py");
        let found = find(format!("{at}/venv/bin/python -m pytest"), &[]);
        assert_eq!(found.as_deref(), Some(installed));
        let copied = Path::new("lib/pk/core.py");
        let found = find(format!("PYTHONPATH={at}/lib python3 -m pytest"), &[]);
        assert_eq!(found.as_deref(), Some(copied));
        let found = find("pytest".to_owned(), &[format!("PYTHONPATH={at}/lib")]);
        assert_eq!(found.as_deref(), Some(copied));
        assert_eq!(find("pytest".to_owned(), &[]), None);
    }
}
