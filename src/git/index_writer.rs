use std::collections::BTreeMap;
use std::path::PathBuf;

use gix::index::entry::{Flags, Mode, Stat};

use super::{GitError, Repository};
use crate::model::{BlobId, RepoPath};

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
    /// [`GitError::Unreadable`] when the index is damaged, locked or cannot be written.
    pub fn write_index(&self, changes: &[IndexChange], fresh: bool) -> Result<(), GitError> {
        let repo = self.local();
        let mut index = repo
            .open_index()
            .or_else(|_| repo.index_or_empty().map(|it| (**it).clone()))
            .map_err(GitError::unreadable)?;
        let changed: BTreeMap<&str, &IndexChange> = changes
            .iter()
            .map(|change| (change.path.as_str(), change))
            .collect();
        index.remove_entries(|_, path, _| {
            std::str::from_utf8(path).is_ok_and(|path| changed.contains_key(path))
        });
        for change in changes {
            let Some((id, mode)) = change.entry else {
                continue;
            };
            let root = self.workdir().filter(|_| fresh);
            let stat = stat_of(root.map(|root| root.join(change.path.as_str())));
            let id = gix::ObjectId::from_bytes_or_panic(id.as_bytes());
            index.dangerously_push_entry(
                stat,
                id,
                Flags::empty(),
                index_mode(mode),
                change.path.as_str().into(),
            );
        }
        index.sort_entries();
        // The cached trees are of the old entries.
        index.remove_tree();
        index
            .write(gix::index::write::Options::default())
            .map_err(GitError::unreadable)
    }
}

/// The times and sizes that the index keeps of a file; none of what is not there.
pub(super) fn stat_of(file: Option<PathBuf>) -> Stat {
    let metadata = file.and_then(|it| gix::index::fs::Metadata::from_path_no_follow(&it).ok());
    let stat = metadata.and_then(|it| Stat::from_fs(&it).ok());
    stat.unwrap_or_default()
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
