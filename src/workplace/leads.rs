use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::environments::named_in;

/// A file of an environment outside a worktree, through which its programs find the worktree's
/// packages: of the environments that `lines` and the variables name. A copy cannot change it.
#[must_use]
pub fn leads_to(worktree: &Path, lines: &[String]) -> Option<PathBuf> {
    environments(worktree, lines)
        .iter()
        .filter(|it| !it.starts_with(worktree))
        .find_map(|environment| first_lead(environment, worktree))
}

/// A file of an environment that leads into a folder.
pub(super) fn first_lead(environment: &Path, folder: &Path) -> Option<PathBuf> {
    let name = folder.as_os_str().as_encoded_bytes();
    entries(&environment.join("lib"))
        .iter()
        .flat_map(|python| entries(&python.join("site-packages")))
        .filter(|path| is_lead(path))
        .find(|path| {
            let small = path.metadata().is_ok_and(|it| it.len() <= MAX_LEAD);
            let bytes = small.then(|| fs::read(path).unwrap_or_default());
            bytes.is_some_and(|it| memchr::memmem::find(&it, name).is_some())
        })
}

const MAX_LEAD: u64 = 4 << 20;

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
pub(super) fn is_lead(path: &Path) -> bool {
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

fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::leads_to;

    #[test]
    fn an_environment_that_a_command_names_is_looked_into() {
        let home = tempfile::tempdir().unwrap();
        let packages = home.path().join("venv/lib/python3.12/site-packages");
        std::fs::create_dir_all(&packages).unwrap();
        std::fs::write(packages.join("_pkg.pth"), "/w/r/src\n").unwrap();
        let line = format!("{}/venv/bin/python -m pytest", home.path().display());
        let lines = [line];
        let found = leads_to(Path::new("/w/r"), &lines);
        assert_eq!(found, Some(packages.join("_pkg.pth")));
        assert_eq!(leads_to(Path::new("/w/other"), &lines), None);
    }
}
