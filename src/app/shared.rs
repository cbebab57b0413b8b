use std::collections::BTreeSet;
use std::path::Path;

use super::AppError;
use crate::model::RepoPath;
use crate::source::Source;

/// Installed packages: ignored by git and needed by tests, so a copy links to them. What is `named`
/// besides must be there.
pub(super) fn shared(
    source: &dyn Source,
    root: &Path,
    named: &[String],
) -> Result<Vec<RepoPath>, AppError> {
    let mut requested: BTreeSet<RepoPath> = BTreeSet::new();
    let mut found: BTreeSet<RepoPath> = BTreeSet::new();
    for typed in named {
        let path = RepoPath::resolve("", typed.trim_end_matches('/')).ok();
        let path = path.filter(|path| root.join(path.as_str()).exists());
        requested.insert(path.ok_or_else(|| {
            AppError::usage(format!("--share: there is no `{typed}` in the worktree"))
        })?);
    }
    for entry in source.listing().files() {
        let folders: &[&str] = match entry.path.file_name() {
            "package.json" => &["node_modules"],
            "pyproject.toml" | "setup.py" | "requirements.txt" | "uv.lock" => &[".venv", "venv"],
            _ => &[],
        };
        for folder in folders {
            found.extend(RepoPath::new(&beside(&entry.path, folder)));
        }
    }
    found.extend(
        ["node_modules", ".venv"]
            .into_iter()
            .flat_map(RepoPath::new),
    );
    // A file `.venv` leads to an environment, and is copied as other files are.
    found.retain(|path| root.join(path.as_str()).is_dir());
    found.append(&mut requested);
    let is_listed = |path: &RepoPath| source.listing().has_directory(path.as_str());
    Ok(found.into_iter().filter(|path| !is_listed(path)).collect())
}

fn beside(path: &RepoPath, name: &str) -> String {
    match path.directory() {
        "" => name.to_owned(),
        directory => format!("{directory}/{name}"),
    }
}
