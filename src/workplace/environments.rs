//! Finds virtual environments outside the worktree that load its code, by `.pth` files among others.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::policy::to_base64_url;
use crate::source::Installed;

/// A virtual environment outside a worktree that its commands run in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutsideEnvironment {
    /// Where it is.
    pub(super) root: PathBuf,
    /// Whether Poetry keeps it for the worktree and finds it by the worktree's path.
    pub(super) kept: bool,
}

/// The virtual environments that the commands of a worktree name by their full path, that the variables name or
/// that Poetry keeps for it, when they are outside and lead into the worktree.
pub(super) fn outer_environments(
    worktree: &Path,
    commands: &[String],
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Vec<OutsideEnvironment> {
    let words = commands.iter().flat_map(|line| {
        line.split(|letter: char| letter.is_whitespace() || "='\"();&|".contains(letter))
    });
    let named = words.filter_map(|word| Some(PathBuf::from(word.split_once("/bin/")?.0)));
    let mut roots: Vec<PathBuf> = named.filter(|root| root.is_absolute()).collect();
    roots.extend(variable("VIRTUAL_ENV").map(PathBuf::from));
    let folders = variable("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&folders);
    roots.extend(folders.filter_map(|folder| Some(folder.parent()?.to_owned())));
    roots.retain(|root| first_path_file(root, worktree).is_some());
    let poetry = of_poetry(worktree, variable);
    let mut found: Vec<OutsideEnvironment> = Vec::new();
    for root in roots.into_iter().chain(poetry.iter().cloned()) {
        let is_known = found.iter().any(|known| known.root == root);
        let is_outside = root.join("pyvenv.cfg").is_file() && !root.starts_with(worktree);
        if is_outside && !is_known {
            let kept = poetry.contains(&root);
            found.push(OutsideEnvironment { root, kept });
        }
    }
    found
}

/// Returns the packages installed for a worktree: in its own folders, and in virtual environments that are active,
/// inside it, or kept for it by a tool.
pub fn installed(worktree: &Path) -> Installed {
    let own = [".venv", "venv"].map(|name| worktree.join(name));
    let own = own.into_iter().filter(|f| f.join("pyvenv.cfg").is_file());
    let outer = outer_environments(worktree, &[], &|name| std::env::var_os(name));
    let all: Vec<PathBuf> = own.chain(outer.into_iter().map(|e| e.root)).collect();
    Installed::scan(worktree, &all)
}

// Poetry calls an environment by the project's name and a digest of its path.
fn of_poetry(worktree: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let digest = Sha256::digest(worktree.as_os_str().as_encoded_bytes());
    let digest = to_base64_url(&digest);
    let mark = format!("-{}-py", digest.get(..8).unwrap_or_default());
    let home = |name: &str, below: &str| Some(PathBuf::from(variable(name)?).join(below));
    let place = home("POETRY_VIRTUALENVS_PATH", "")
        .or_else(|| home("POETRY_CACHE_DIR", "virtualenvs"))
        .or_else(|| home("XDG_CACHE_HOME", "pypoetry/virtualenvs"))
        .or_else(|| home("HOME", ".cache/pypoetry/virtualenvs"));
    let mut found = place.map_or_else(Vec::new, |folder| folder_entries(&folder));
    found
        .retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(&mark)));
    found
}

/// A file of an environment that leads into a folder.
pub(super) fn first_path_file(environment: &Path, folder: &Path) -> Option<PathBuf> {
    let name = folder.as_os_str().as_encoded_bytes();
    folder_entries(&environment.join("lib"))
        .iter()
        .flat_map(|python| folder_entries(&python.join("site-packages")))
        .filter(|path| is_path_file(path))
        .find(|path| {
            let small = path.metadata().is_ok_and(|m| m.len() <= 4 << 20);
            let bytes = small.then(|| fs::read(path).unwrap_or_default());
            bytes.is_some_and(|bytes| memchr::memmem::find(&bytes, name).is_some())
        })
}

/// A path without `..` and `.`; links are not followed.
pub(super) fn lexical_path(path: &Path) -> PathBuf {
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
    let extension = Path::new(name.as_ref()).extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("pth" | "egg-link")) || name.starts_with("__editable__")
}

/// Returns the entries of a folder, by name.
pub(super) fn folder_entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;
    use std::path::Path;

    use sha2::{Digest as _, Sha256};

    use super::{outer_environments, to_base64_url};

    fn environment(at: &Path, lead: Option<&Path>) {
        let packages = at.join("lib/python3.12/site-packages");
        fs::create_dir_all(&packages).unwrap();
        fs::write(at.join("pyvenv.cfg"), "home = /usr/bin\n").unwrap();
        if let Some(lead) = lead {
            fs::write(
                packages.join("_pkg.pth"),
                format!("{}/src\n", lead.display()),
            )
            .unwrap();
        }
    }

    #[test]
    fn finds_environments_by_command_and_tool() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let worktree = home.join("r");
        fs::create_dir_all(&worktree).unwrap();
        environment(&home.join("venv"), Some(&worktree));
        environment(&home.join("other"), Some(&home.join("elsewhere")));
        let digest = to_base64_url(&Sha256::digest(worktree.as_os_str().as_encoded_bytes()));
        let name = format!("r-{}-py3.12", &digest[..8]);
        let kept = home.join(".cache/pypoetry/virtualenvs").join(name);
        environment(&kept, None);
        let variable = |name: &str| (name == "HOME").then(|| OsString::from(&home));
        let line = format!("X=1 {}/venv/bin/pytest", home.display());
        let found = outer_environments(&worktree, &[line], &variable);
        assert_eq!(found.len(), 2);
        assert!(found[0].root == home.join("venv") && !found[0].kept);
        assert!(found[1].root == kept && found[1].kept);
        let line = format!("{}/other/bin/pytest", home.display());
        assert_eq!(outer_environments(&worktree, &[line], &variable).len(), 1);
    }
}
