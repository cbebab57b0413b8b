//! Reads the index, to know blob ids without reading files.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gix::index::entry::{Flags, Mode, Stage, Stat};

use super::{GitError, Repository, Staged, TreeSource};
use crate::model::{BlobId, RepoPath};
use crate::source::{Tracked, TrackedKind};

/// The index of a worktree, used to know blob ids without reading files.
pub(super) struct IndexIds {
    index: gix::worktree::Index,
    stat_options: gix::index::entry::stat::Options,
    workdir: PathBuf,
    common_dir: PathBuf,
    converts_line_ends: bool,
    // Whether worktree bytes may differ from blob bytes, due to line ends or filters.
    is_converted: OnceLock<bool>,
}

impl IndexIds {
    pub(super) fn open(repo: &gix::Repository, workdir: &Path) -> Result<Self, GitError> {
        let index = repo.index_or_empty().map_err(GitError::unreadable)?;
        let stat_options = repo.stat_options().map_err(GitError::unreadable)?;
        Ok(Self {
            index,
            stat_options,
            workdir: workdir.to_owned(),
            common_dir: repo.common_dir().to_owned(),
            converts_line_ends: converts_line_ends(repo),
            is_converted: OnceLock::new(),
        })
    }

    fn is_converted(&self) -> bool {
        *self.is_converted.get_or_init(|| {
            self.converts_line_ends
                || has_converting_attributes(&self.common_dir, &self.workdir, &self.index)
        })
    }
}

impl Tracked for IndexIds {
    fn paths(&self) -> Vec<(RepoPath, TrackedKind)> {
        let recorded =
            |entry: &gix::index::Entry| Some((path_of(entry.path(&self.index))?, kind_of(entry)));
        let mut paths: Vec<_> = self.index.entries().iter().filter_map(recorded).collect();
        paths.dedup_by(|b, a| a.0 == b.0);
        paths
    }

    fn kind(&self, path: &RepoPath) -> Option<TrackedKind> {
        self.index.entry_by_path(path.as_str().into()).map(kind_of)
    }

    fn fresh_blob_id(&self, path: &RepoPath) -> Option<BlobId> {
        if self.is_converted() {
            return None;
        }
        let entry = self.index.entry_by_path(path.as_str().into())?;
        if entry.mode != Mode::FILE && entry.mode != Mode::FILE_EXECUTABLE {
            return None;
        }
        let file = self.workdir.join(path.as_str());
        let unchanged = is_unchanged(entry, &file, &self.index, self.stat_options);
        unchanged.then(|| blob_id(entry.id)).flatten()
    }
}

fn kind_of(entry: &gix::index::Entry) -> TrackedKind {
    if entry.mode == Mode::COMMIT {
        TrackedKind::Submodule(entry.id.to_string())
    } else if entry.flags.contains(Flags::SKIP_WORKTREE) {
        TrackedKind::SkipWorktree
    } else {
        TrackedKind::File
    }
}

/// Whether times and size of a file are what the index recorded, at a time that leaves no doubt.
pub(super) fn is_unchanged(
    entry: &gix::index::Entry,
    file: &Path,
    index: &gix::index::File,
    options: gix::index::entry::stat::Options,
) -> bool {
    let metadata = gix::index::fs::Metadata::from_path_no_follow(file).ok();
    let stat = metadata.and_then(|metadata| Stat::from_fs(&metadata).ok());
    stat.is_some_and(|stat| {
        entry.stat.matches(&stat, options) && !entry.stat.is_racy(index.timestamp(), options)
    })
}

/// A name as a path; `None` for an invalid one.
pub(super) fn path_of(name: &[u8]) -> Option<RepoPath> {
    RepoPath::new(std::str::from_utf8(name).ok()?).ok()
}

/// gix's id for ours.
pub(super) fn object_id(id: BlobId) -> gix::ObjectId {
    gix::ObjectId::from_bytes_or_panic(id.as_bytes())
}

/// Our id for gix's, when it is a SHA-1.
pub(super) fn blob_id(id: gix::ObjectId) -> Option<BlobId> {
    id.as_bytes().try_into().ok().map(BlobId::from_bytes)
}

fn converts_line_ends(repo: &gix::Repository) -> bool {
    repo.config_snapshot()
        .string("core.autocrlf")
        .is_some_and(|value| value.as_slice() != b"false")
}

fn has_converting_attributes(
    common_dir: &Path,
    workdir: &Path,
    index: &gix::worktree::Index,
) -> bool {
    let tracked = index
        .entries()
        .iter()
        .map(|entry| entry.path(index))
        .filter(|path| path.ends_with(b".gitattributes"))
        .filter_map(|path| std::str::from_utf8(path).ok())
        .map(|path| workdir.join(path));
    tracked
        .chain([
            workdir.join(".gitattributes"),
            common_dir.join("info/attributes"),
        ])
        .filter(|path| path.symlink_metadata().is_ok_and(|about| about.is_file()))
        .filter_map(|path| std::fs::read(path).ok())
        .any(|text| converts_text(&String::from_utf8_lossy(&text)))
}

fn converts_text(attributes: &str) -> bool {
    attributes
        .lines()
        .flat_map(|line| line.split_whitespace().skip(1))
        .any(|attribute| {
            let name = attribute.split('=').next().unwrap_or(attribute);
            matches!(
                name,
                "text" | "eol" | "crlf" | "filter" | "ident" | "working-tree-encoding"
            )
        })
}

impl Repository {
    /// Returns the files that the index records. Entries of an unfinished merge are left out.
    ///
    /// # Errors
    /// [`GitError::Unreadable`] for a damaged index.
    pub fn index_source(&self) -> Result<TreeSource, GitError> {
        let repo = self.local();
        let index = repo.index_or_empty().map_err(GitError::unreadable)?;
        let entries = index.entries().iter().filter_map(|entry| {
            let is_plain = entry.stage() == Stage::Unconflicted;
            let mode = entry.mode.to_tree_entry_mode().filter(|_| is_plain)?;
            Some((entry.path(&index).to_vec(), mode.kind(), entry.id))
        });
        Ok(TreeSource::new(&repo.into_sync(), entries))
    }
}

/// One path of the index as it shall be.
#[derive(Debug, Clone)]
pub struct IndexChange {
    /// The path.
    pub path: RepoPath,
    /// Its blob and git's mode; `None` removes it.
    pub entry: Option<(BlobId, u32)>,
}

impl Repository {
    /// Changes the index in one step. `fresh` says that the worktree has the same files, so their
    /// times and sizes are recorded.
    ///
    /// # Errors
    /// [`GitError::Locked`]; [`GitError::Unreadable`] when it is damaged or cannot be written.
    pub fn write_index(&self, changes: &[IndexChange], fresh: bool) -> Result<(), GitError> {
        let mut staging = self.staging()?;
        for change in changes {
            let entry = change.entry.map(|(id, mode)| Staged {
                fresh,
                ..Staged::new(id, mode)
            });
            staging.set(change.path.as_str(), entry.into_iter().collect());
        }
        staging.write(self.workdir())
    }
}

/// The times and sizes that the index keeps of a file; empty for a missing file.
pub(super) fn stat_of(file: Option<PathBuf>) -> Stat {
    let metadata = file.and_then(|file| gix::index::fs::Metadata::from_path_no_follow(&file).ok());
    metadata.and_then(|metadata| Stat::from_fs(&metadata).ok()).unwrap_or_default()
}

/// git's mode as the index keeps it.
pub(super) fn index_mode(mode: u32) -> Mode {
    match mode {
        0o120_000 => Mode::SYMLINK,
        0o160_000 => Mode::COMMIT,
        0o100_755 => Mode::FILE_EXECUTABLE,
        _ => Mode::FILE,
    }
}

#[cfg(test)]
mod tests {
    use super::converts_text;

    #[test]
    fn finds_attributes_that_change_bytes() {
        assert!(converts_text("* text=auto eol=lf\n"));
        assert!(converts_text("*.psd filter=lfs diff=lfs"));
        assert!(!converts_text(
            "*.png binary\ndocs/** linguist-documentation -text"
        ));
    }
}
