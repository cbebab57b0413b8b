use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use sha2::{Digest as _, Sha256};

use super::path_files::{first_path_file, folder_entries, lexical_path};
use crate::source::Installed;

/// A virtual environment outside a worktree that its commands run in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutsideEnvironment {
    /// Where it stands.
    pub(super) root: PathBuf,
    /// The ways in which commands name it.
    pub(super) typed: BTreeSet<String>,
    /// Whether a tool keeps it for the worktree and finds it by the worktree's path.
    pub(super) kept: bool,
}

/// The virtual environments that the commands of a worktree name, that the variables name or that
/// a tool keeps for it, when they stand outside and lead into the worktree.
pub(super) fn outer_environments(
    worktree: &Path,
    commands: &[String],
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Vec<OutsideEnvironment> {
    let mut found: Vec<OutsideEnvironment> = Vec::new();
    let mut take = |root: PathBuf, typed: Option<String>, kept: bool| {
        let is_ours = root.join("pyvenv.cfg").is_file()
            && !root.starts_with(worktree)
            && (kept || first_path_file(&root, worktree).is_some());
        if !is_ours {
            return;
        }
        match found.iter_mut().find(|known| known.root == root) {
            Some(same) => {
                same.typed.extend(typed);
                same.kept |= kept;
            }
            None => found.push(OutsideEnvironment {
                root,
                typed: typed.into_iter().collect(),
                kept,
            }),
        }
    };
    for (typed, root) in named_in(worktree, commands, variable) {
        take(root, Some(typed), false);
    }
    take(
        variable("VIRTUAL_ENV").unwrap_or_default().into(),
        None,
        false,
    );
    for folder in std::env::split_paths(&variable("PATH").unwrap_or_default()) {
        take(folder.parent().unwrap_or(&folder).to_owned(), None, false);
    }
    for root in of_poetry(worktree, variable) {
        take(root, None, true);
    }
    found
}

/// What is installed for a worktree: in its own folders, and in the virtual environments that are
/// active, that it holds or that a tool keeps for it.
#[must_use]
pub fn installed(worktree: &Path) -> Installed {
    let own = [".venv", "venv"].map(|name| worktree.join(name));
    let own = own.into_iter().filter(|f| f.join("pyvenv.cfg").is_file());
    let outer = outer_environments(worktree, &[], &|name| std::env::var_os(name));
    let all: Vec<PathBuf> = own.chain(outer.into_iter().map(|e| e.root)).collect();
    Installed::scan(worktree, &all)
}

/// What commands name with a program of its `bin`: as it is typed, and where it is.
fn named_in(
    worktree: &Path,
    commands: &[String],
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Vec<(String, PathBuf)> {
    let home = variable("HOME").map(PathBuf::from);
    let words = commands.iter().flat_map(|line| {
        line.split(|letter: char| letter.is_whitespace() || "='\"();&|".contains(letter))
    });
    let typed = words
        .filter_map(|word| word.split_once("/bin/"))
        .map(|pair| pair.0);
    typed
        .map(|typed| {
            let below = ["~/", "$HOME/", "${HOME}/"]
                .iter()
                .find_map(|prefix| typed.strip_prefix(prefix));
            let root = match (&home, below) {
                (Some(home), Some(below)) => home.join(below),
                _ => worktree.join(typed),
            };
            (typed.to_owned(), lexical_path(&root))
        })
        .collect()
}

// Poetry calls an environment by the project's name and a digest of its path.
fn of_poetry(worktree: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let digest = Sha256::digest(worktree.as_os_str().as_encoded_bytes());
    let digest = URL_SAFE.encode(digest);
    let mark = format!("-{}-py", digest.get(..8).unwrap_or_default());
    let home = |name: &str, below: &str| Some(PathBuf::from(variable(name)?).join(below));
    let place = home("POETRY_VIRTUALENVS_PATH", "")
        .or_else(|| home("POETRY_CACHE_DIR", "virtualenvs"))
        .or_else(|| home("XDG_CACHE_HOME", "pypoetry/virtualenvs"))
        .or_else(|| home("HOME", ".cache/pypoetry/virtualenvs"));
    let mut found = place.map_or_else(Vec::new, |folder| folder_entries(&folder));
    found.retain(|path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().contains(&mark))
    });
    found
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;
    use std::path::Path;

    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE;
    use sha2::{Digest as _, Sha256};

    use super::outer_environments;

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
    fn environments_of_a_worktree_are_found_by_commands_and_by_the_tools_that_keep_them() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let worktree = home.join("r");
        fs::create_dir_all(&worktree).unwrap();
        environment(&home.join("venv"), Some(&worktree));
        environment(&home.join("other"), Some(&home.join("elsewhere")));
        let digest = URL_SAFE.encode(Sha256::digest(worktree.as_os_str().as_encoded_bytes()));
        let name = format!("r-{}-py3.12", &digest[..8]);
        let kept = home.join(".cache/pypoetry/virtualenvs").join(name);
        environment(&kept, None);
        let variable = |name: &str| (name == "HOME").then(|| OsString::from(&home));
        for (line, expected) in [
            ("../venv/bin/python -m pytest", "../venv"),
            ("X=1 ~/venv/bin/pytest", "~/venv"),
            (". $HOME/venv/bin/activate && pytest", "$HOME/venv"),
        ] {
            let found = outer_environments(&worktree, &[line.to_owned()], &variable);
            assert_eq!(found.len(), 2, "{line}");
            assert_eq!(found[0].root, home.join("venv"), "{line}");
            assert!(
                found[0].typed.contains(expected) && !found[0].kept,
                "{line}"
            );
            assert!(found[1].root == kept && found[1].kept);
        }
        let line = format!("{}/other/bin/pytest", home.display());
        assert_eq!(outer_environments(&worktree, &[line], &variable).len(), 1);
    }
}
