use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::CliError;
use super::output::ignore_itself;
use super::workspace::{Workspace, state_directory};
use crate::model::{Code, RepoPath};
use crate::repair::run_id;
use crate::source::Source;

/// Where runs of this worktree are kept: `.mendit` when it is there already, else below the git
/// directory, so that a repair leaves the worktree as it was. Without git, `.mendit` is made.
pub(super) fn home(workspace: &Workspace, root: &Path) -> PathBuf {
    let visible = root.join(".mendit");
    let there = visible.symlink_metadata().is_ok_and(|it| it.is_dir());
    match &workspace.git {
        Some(git) if !there => git.git_dir().join("mendit"),
        _ => visible,
    }
}

/// A folder for a run that starts now.
pub(super) fn new(workspace: &Workspace, root: &Path) -> Result<PathBuf, CliError> {
    let home = home(workspace, root);
    if home.starts_with(root.join(".mendit")) {
        ignore_itself(&home);
    }
    let folder = home.join("runs").join(run_id());
    std::fs::create_dir_all(&folder).map_err(|error| {
        CliError::environment(format!(
            "cannot make `{}`: {}",
            folder.display(),
            error.kind()
        ))
        .hint("name another folder with `--out DIR`")
    })?;
    Ok(folder)
}

/// A run by its folder, its name, or `latest`.
pub(super) fn find(run: &str, workspace: &Workspace, root: &Path) -> Result<PathBuf, CliError> {
    if Path::new(run).is_dir() {
        return Ok(PathBuf::from(run));
    }
    let mut homes = vec![root.join(".mendit")];
    homes.extend(
        workspace
            .git
            .as_ref()
            .map(|git| git.git_dir().join("mendit")),
    );
    let mut runs: Vec<PathBuf> = homes
        .iter()
        .filter_map(|home| std::fs::read_dir(home.join("runs")).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    runs.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    let found = if run == "latest" {
        runs.pop()
    } else {
        runs.into_iter()
            .find(|path| path.file_name().is_some_and(|name| name == run))
    };
    found.ok_or_else(|| {
        CliError::new(Code::U306, format!("there is no run `{run}`"))
            .hint("name the folder of a run; `mendit repair` prints it")
    })
}

/// Where the lock and the journal of writes stand: the git directory, else `.mendit`. A run that
/// leaves the worktree alone does with the cache directory where neither can be written.
pub(super) fn state(workspace: &Workspace, root: &Path, writes: bool) -> Result<PathBuf, CliError> {
    let state = state_directory(workspace);
    let usable = |state: &PathBuf| {
        std::fs::create_dir_all(state).is_ok() && tempfile::tempfile_in(state).is_ok()
    };
    if writes || state.as_ref().is_ok_and(usable) {
        return state;
    }
    Ok(cache().join("state").join(key(root)))
}

/// Where what can be made again is kept: the user's cache directory, else the temporary one.
pub(super) fn cache() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let base = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")))
        .filter(|path| std::fs::create_dir_all(path).is_ok());
    base.unwrap_or_else(std::env::temp_dir).join("mendit")
}

/// The same, made.
pub(super) fn own_cache() -> Result<PathBuf, CliError> {
    let cache = cache();
    std::fs::create_dir_all(&cache).map_err(|error| {
        CliError::environment(format!(
            "cannot make `{}`: {}",
            cache.display(),
            error.kind()
        ))
    })?;
    Ok(cache)
}

/// A name for a directory that no other directory has.
pub(super) fn key(root: &Path) -> String {
    let digest: [u8; 32] = Sha256::digest(root.as_os_str().as_encoded_bytes()).into();
    digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Installed packages: ignored by git and needed by tests, so the copy links to them.
/// What is `named` besides must be there.
pub(super) fn shared(
    source: &dyn Source,
    root: &Path,
    named: &[String],
) -> Result<Vec<RepoPath>, CliError> {
    let mut found: BTreeSet<RepoPath> = BTreeSet::new();
    for typed in named {
        let path = repo_path(typed).filter(|path| root.join(path.as_str()).exists());
        found.insert(path.ok_or_else(|| {
            CliError::usage(format!("--share: there is no `{typed}` in the worktree"))
        })?);
    }
    for entry in source.listing().files() {
        let folders: &[&str] = match entry.path.file_name() {
            "package.json" => &["node_modules"],
            "pyproject.toml" | "setup.py" | "requirements.txt" | "uv.lock" => &[".venv", "venv"],
            _ => &[],
        };
        for folder in folders {
            let directory = entry.path.directory();
            let path = if directory.is_empty() {
                (*folder).to_owned()
            } else {
                format!("{directory}/{folder}")
            };
            found.extend(RepoPath::new(&path));
        }
    }
    found.extend(
        ["node_modules", ".venv"]
            .into_iter()
            .flat_map(RepoPath::new),
    );
    Ok(found
        .into_iter()
        .filter(|path| {
            root.join(path.as_str()).is_dir() && !source.listing().has_directory(path.as_str())
        })
        .collect())
}

// A path of the worktree as the user typed it.
fn repo_path(typed: &str) -> Option<RepoPath> {
    RepoPath::resolve("", typed.trim_end_matches('/')).ok()
}
