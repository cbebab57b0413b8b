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
    let mut found: BTreeSet<RepoPath> = BTreeSet::new();
    for typed in named {
        let path = RepoPath::resolve("", typed.trim_end_matches('/')).ok();
        let path = path.filter(|path| root.join(path.as_str()).exists());
        found.insert(path.ok_or_else(|| {
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
            root.join(path.as_str()).exists() && !source.listing().has_directory(path.as_str())
        })
        .collect())
}
