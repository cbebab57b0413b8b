//! The journal of a write: both sides of every file, so that a killed apply can be rolled back.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::directory::Directory;
use super::error::{WriteError, io_error, is_absent};
use crate::model::BlobId;

/// What recovery found and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovered {
    /// Nothing was interrupted.
    Nothing,
    /// Everything is as it was before the change.
    Undone,
}

/// A change in progress: a plan and both sides of every file, in a directory of its own. It counts
/// once its plan is under its final name.
pub(super) struct Journal {
    pub(super) path: PathBuf,
    pub(super) sides: Directory,
    pub(super) rows: Vec<ChangedPath>,
}

const PLAN: &str = "plan.json";

impl Journal {
    pub(super) fn create(state: &Path) -> io::Result<Self> {
        let path = journal_path(state);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::create_dir_all(&path)?;
        Ok(Self {
            sides: Directory::open(&path)?,
            path,
            rows: Vec::new(),
        })
    }

    /// Makes the change count: from here on recovery undoes it.
    pub(super) fn commit(&mut self) -> io::Result<()> {
        let draft = self.path.join("plan.draft");
        fs::write(&draft, serde_json::to_vec(&self.rows)?)?;
        // For many files, one sync of the file system is faster than a sync of each file.
        if self.rows.len() > 32 {
            self.sides.sync()?;
        } else {
            sync_file(&draft)?;
            for (index, row) in self.rows.iter().enumerate() {
                if row.new.as_ref().is_some_and(|(_, mode)| *mode != 0o120_000) {
                    sync_file(&self.path.join(format!("{index}.new")))?;
                }
            }
        }
        fs::rename(&draft, self.path.join(PLAN))?;
        File::open(&self.path)?.sync_all()
    }

    /// Puts one side of a path in place.
    pub(super) fn put(
        &self,
        tree: &Directory,
        index: usize,
        row: &ChangedPath,
        new: bool,
    ) -> io::Result<()> {
        let name = row.path.rsplit('/').next().unwrap_or(&row.path);
        let (side, word) = if new { (&row.new, "new") } else { (&row.old, "old") };
        let Some((_, mode)) = side else {
            return match tree.parent(&row.path, false) {
                Ok(parent) => parent.remove(name),
                Err(error) if is_absent(&error) => Ok(()),
                Err(error) => Err(error),
            };
        };
        let parent = tree.parent(&row.path, true)?;
        let kept = format!("{index}.{word}");
        match parent.take(&self.sides, &kept, name) {
            // Already in place, as far as this side goes.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
            done => return done,
        }
        let Some((bytes, _)) = self.sides.look(&kept)? else {
            return Ok(());
        };
        let draft = format!(".mendit-{index}-{name}");
        let draft = draft.get(..draft.len().min(200)).unwrap_or(".mendit-draft");
        parent.remove(draft)?;
        let permissions = self.sides.permissions(&kept);
        let written = parent
            .create(draft, &bytes, *mode, permissions)
            .and_then(|()| parent.take(&parent, draft, name));
        if written.is_err() {
            // Removed because on a full disk half a draft would take the room that undoing needs.
            let _ = parent.remove(draft);
        }
        written
    }

    /// Restores every row of `done` that differs from its original, even if some fail; returns whether all
    /// are restored.
    pub(super) fn put_back(&self, tree: &Directory, done: &[(usize, &ChangedPath)]) -> bool {
        // In reverse, so that new files are removed before old ones return: a file may be where a folder was.
        for (index, row) in done.iter().rev() {
            if stands_at(tree, row) != row.old {
                let _ = self.put(tree, *index, row, false);
            }
        }
        remove_emptied_by(tree, &self.rows, |row| row.old.is_none());
        self.rows.iter().all(|row| stands_at(tree, row) == row.old)
    }

    /// Forgets the change.
    pub(super) fn discard(&self) {
        // The plan goes first, because without it nothing is left to finish.
        let _ = fs::remove_file(self.path.join(PLAN));
        let _ = fs::remove_dir_all(&self.path);
    }
}

// Where this program keeps its state for a tree.
fn journal_path(state: &Path) -> PathBuf {
    state.join("apply")
}

pub(super) fn discard(state: &Path) {
    let _ = fs::remove_dir_all(journal_path(state));
}

/// Takes the lock of a tree; it is freed when the process ends, however it ends.
pub(super) fn lock_state(state: &Path) -> Result<File, WriteError> {
    fs::create_dir_all(state).map_err(|error| io_error(state, error))?;
    let path = state.join("lock");
    let file = File::create(&path).map_err(|error| io_error(&path, error))?;
    // Tried again because a process that was just killed may hold it for a moment more.
    // Another mendit may be writing: wait up to five seconds.
    for _ in 0..250 {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
            Err(TryLockError::Error(error)) => return Err(io_error(&path, error)),
        }
    }
    Err(WriteError::Busy)
}

/// Whether a change was interrupted; [`recover`] undoes it.
pub fn is_interrupted(state: &Path) -> bool {
    journal_path(state).join(PLAN).exists()
}

/// Undoes a change that was interrupted after it had begun, and clears away one that had not.
///
/// # Errors
/// [`WriteError::Foreign`] when a file was changed by someone else since; nothing is touched then.
/// [`WriteError::HalfWay`] when the system does not let it be put back.
pub fn recover(root: &Path, state: &Path) -> Result<Recovered, WriteError> {
    let path = journal_path(state);
    if !path.exists() {
        return Ok(Recovered::Nothing);
    }
    let lock = lock_state(state)?;
    let Ok(plan) = fs::read(path.join(PLAN)) else {
        discard(state);
        return Ok(Recovered::Undone);
    };
    let rows: Vec<ChangedPath> =
        serde_json::from_slice(&plan).map_err(|error| io_error(&path, io::Error::other(error)))?;
    let tree = Directory::open(root).map_err(|error| io_error(root, error))?;
    let sides = Directory::open(&path).map_err(|error| io_error(&path, error))?;
    let journal = Journal { path, sides, rows };
    if let Some(row) = journal.rows.iter().find(|row| {
        let now = stands_at(&tree, row);
        now != row.new && now != row.old
    }) {
        return Err(WriteError::Foreign {
            path: row.path.clone(),
            kept: journal.path.display().to_string(),
        });
    }
    if !journal.put_back(&tree, &in_order(&journal.rows)) {
        let error = io::Error::other("a side of the change cannot be rolled back");
        return Err(half_way(&tree, &journal, error));
    }
    journal.discard();
    drop(lock);
    Ok(Recovered::Undone)
}

/// The error for a tree in which some files are new and others old.
pub(super) fn half_way(tree: &Directory, journal: &Journal, error: io::Error) -> WriteError {
    let changed = journal.rows.iter().filter(|row| stands_at(tree, row) != row.old);
    let paths: Vec<String> = changed.map(|row| format!("`{}`", row.path)).collect();
    WriteError::HalfWay {
        paths: paths.join(", "),
        kept: journal.path.display().to_string(),
        error,
    }
}

pub(super) fn stands_at(tree: &Directory, row: &ChangedPath) -> Option<(String, u32)> {
    let name = row.path.rsplit('/').next().unwrap_or(&row.path);
    let (bytes, mode) = tree.parent(&row.path, false).ok()?.look(name).ok()??;
    Some((BlobId::from_content(&bytes).to_string(), mode))
}

/// One path of a change: blob id and mode before and after.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChangedPath {
    pub(super) path: String,
    pub(super) old: Option<(String, u32)>,
    pub(super) new: Option<(String, u32)>,
}

fn sync_file(file: &Path) -> io::Result<()> {
    File::open(file)?.sync_all()
}

/// The steps of a change: first what goes, so a file may take the place of a directory.
pub(super) fn in_order(rows: &[ChangedPath]) -> Vec<(usize, &ChangedPath)> {
    let mut order: Vec<(usize, &ChangedPath)> = rows.iter().enumerate().collect();
    order.sort_by_key(|(index, row)| (row.new.is_some(), *index));
    order
}

/// Removes directories that lost their last file, the innermost first, as git does.
pub(super) fn remove_emptied(tree: &Directory, rows: &[ChangedPath]) {
    remove_emptied_by(tree, rows, |row| row.new.is_none());
}

/// The same for the rows that `gone` names.
fn remove_emptied_by(tree: &Directory, rows: &[ChangedPath], gone: fn(&ChangedPath) -> bool) {
    for row in rows.iter().filter(|row| gone(row)) {
        tree.remove_emptied_above(&row.path);
    }
}
