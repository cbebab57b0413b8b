//! Finds ignored files, submodules and installed packages that a copy needs, and recognizes the caches and logs that tools
//! leave behind, so that they never enter a patch.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::WorkplaceError;
use super::error::clear_path;
use super::relink::Relink;
use crate::git::Stamp;
use crate::model::RepoPath;
use crate::parallel;
use crate::source::{EntryKind, Source};

/// Unlisted files of a worktree: ignored files, and those of submodules.
/// Installed packages, repositories and caches that say what they are, are left out.
pub(super) struct UnlistedFiles {
    /// Files and folders with nothing listed in them, the topmost ones.
    pub(super) tops: BTreeSet<RepoPath>,
    /// Every file and link below them.
    files: Vec<RepoPath>,
    /// The copies as they were made.
    stamps: BTreeMap<RepoPath, Stamp>,
}

impl UnlistedFiles {
    /// Looks below `root`; `linked_folders` are left out.
    pub(super) fn find(root: &Path, source: &dyn Source, linked_folders: &[RepoPath]) -> Self {
        let mut found = Self {
            tops: BTreeSet::new(),
            files: Vec::new(),
            stamps: BTreeMap::new(),
        };
        found.look_in(root, "", source, linked_folders, false);
        found
    }

    fn look_in(
        &mut self,
        root: &Path,
        directory: &str,
        source: &dyn Source,
        linked_folders: &[RepoPath],
        inside: bool,
    ) {
        for entry in fs::read_dir(root.join(directory)).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let path = RepoPath::resolve(directory, &name);
            let (Ok(path), Ok(kind)) = (path, entry.file_type()) else {
                continue;
            };
            let text = path.to_string();
            if LEFT_OUT.contains(&name.as_str()) || linked_folders.contains(&path) {
                continue;
            }
            let listed = source.listing().get(&text).map(|entry| &entry.kind);
            let submodule = matches!(listed, Some(EntryKind::Submodule { .. }));
            let is_new = !inside && !source.listing().has_directory(&text);
            if kind.is_dir() {
                if entry.path().join("CACHEDIR.TAG").exists() {
                    continue;
                }
                if is_new {
                    self.tops.insert(path);
                }
                self.look_in(root, &text, source, linked_folders, inside || is_new);
            } else if (listed.is_none() || submodule) && (kind.is_file() || kind.is_symlink()) {
                if !inside {
                    self.tops.insert(path.clone());
                }
                self.files.push(path);
            }
        }
    }

    /// Restores them in the copy from the original, and removes everything else from their folders.
    pub(super) fn copy_all(&mut self, relink: &Relink<'_>) -> Result<(), WorkplaceError> {
        let listed: BTreeSet<&str> = self.files.iter().map(RepoPath::as_str).collect();
        for top in &self.tops {
            sweep_unlisted(relink.copy, top.as_str(), &listed)?;
        }
        let made = parallel::map(&self.files, |path| {
            let now = relink.copy.join(path.as_str()).symlink_metadata().ok();
            let now = now.as_ref().map(Stamp::from_metadata);
            let is_new = now.is_none() || now.as_ref() != self.stamps.get(path);
            is_new.then(|| Some((path.clone(), copy_path(relink, path)?)))?
        });
        self.stamps.extend(made.into_iter().flatten());
        Ok(())
    }
}

// Repositories of their own, and what every run of a tool makes anew.
const LEFT_OUT: &[&str] = &[
    ".git", ".mendit", "node_modules", "__pycache__", ".venv", ".tox", ".nox",
];

// What cannot be copied, such as a file that vanished, is missing in the copy too.
fn copy_path(relink: &Relink<'_>, path: &RepoPath) -> Option<Stamp> {
    let from = relink.original.join(path.as_str());
    let to = relink.copy.join(path.as_str());
    fs::create_dir_all(to.parent()?).ok()?;
    clear_path(&to).ok()?;
    if from.symlink_metadata().ok()?.is_symlink() {
        relink.relink_path(&from, &to).ok()?;
    } else {
        fs::copy(&from, &to).ok()?;
    }
    to.symlink_metadata().ok().as_ref().map(Stamp::from_metadata)
}

fn sweep_unlisted(copy: &Path, below: &str, listed: &BTreeSet<&str>) -> Result<(), WorkplaceError> {
    let at = copy.join(below);
    let Ok(found) = at.symlink_metadata() else {
        return Ok(());
    };
    if !found.is_dir() {
        return if listed.contains(below) { Ok(()) } else { clear_path(&at) };
    }
    for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
        match entry.file_name().to_str() {
            Some(name) => sweep_unlisted(copy, &format!("{below}/{name}"), listed)?,
            None => clear_path(&entry.path())?,
        }
    }
    Ok(())
}

/// Finds folders of installed packages, which git ignores and tests need, so a copy links to them.
/// Paths that are `asked_for` are added, and must exist.
///
/// # Errors
/// [`WorkplaceError::NotThere`] for a name that is not in the worktree.
pub fn find_linked(
    source: &dyn Source,
    root: &Path,
    asked_for: &[String],
) -> Result<Vec<RepoPath>, WorkplaceError> {
    let mut found: BTreeSet<RepoPath> = BTreeSet::new();
    for entry in source.listing().files() {
        let folders: &[&str] = match entry.path.file_name() {
            "package.json" => &["node_modules"],
            "pyproject.toml" | "setup.py" | "requirements.txt" | "uv.lock" => &[".venv", "venv"],
            _ => &[],
        };
        let near = folders
            .iter()
            .filter_map(|folder| RepoPath::resolve(entry.path.directory(), folder).ok());
        found.extend(near);
    }
    let usual = ["node_modules", ".venv"].into_iter();
    found.extend(usual.flat_map(RepoPath::new));
    // A file `.venv` leads to an environment, and is copied as other files are.
    found.retain(|path| root.join(path.as_str()).is_dir());
    for typed in asked_for {
        let path = RepoPath::resolve("", typed.trim_end_matches('/')).ok();
        let path = path.filter(|path| root.join(path.as_str()).exists());
        found.insert(path.ok_or_else(|| WorkplaceError::NotThere(typed.clone()))?);
    }
    found.retain(|path| !source.listing().has_directory(path.as_str()));
    Ok(found.into_iter().collect())
}

/// Whether a path that was not there before is something that agents, runners and interpreters
/// leave beside their work, and no part of it.
pub(super) fn is_litter(path: &str) -> bool {
    let mut parts = path.split('/');
    let first = parts.clone().next().unwrap_or_default();
    first.starts_with(".aider")
        || AGENTS.contains(&first)
        || parts.any(|part| CACHES.contains(&part))
        || Path::new(path).extension().is_some_and(|e| e == "pyc")
}

// Notes, histories and indices of agents, at the root.
#[rustfmt::skip]
const AGENTS: &[&str] = &[
    ".claude", ".codex", ".gemini", ".opencode", ".goose", ".crush", ".qwen", ".cursor",
    ".continue", ".specstory", ".cline", ".amp", ".kilocode", ".roo",
];

#[rustfmt::skip]
const CACHES: &[&str] = &[
    "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".coverage",
    ".nyc_output", ".tox", ".nox", ".eslintcache", ".tsbuildinfo", ".DS_Store",
];

#[cfg(test)]
mod tests {
    use super::is_litter;

    #[test]
    fn caches_and_notes_are_litter_and_sources_are_not() {
        for path in [
            ".aider.tags.cache.v4/cache.db",
            ".aider.chat.history.md",
            ".claude/settings.local.json",
            "src/__pycache__/a.cpython-312.pyc",
            "pkg/.pytest_cache/v/lastfailed",
        ] {
            assert!(is_litter(path), "{path}");
        }
        for path in ["src/a.py", "docs/.aider.md", "aider.py", ".github/x.yml"] {
            assert!(!is_litter(path), "{path}");
        }
    }
}
