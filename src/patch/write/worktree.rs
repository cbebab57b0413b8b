//! Writes changes to the worktree, all-or-nothing.

use std::path::Path;

use super::directory::Directory;
use super::error::{WriteError, io_error};
use super::journal::{self, ChangedPath, Journal, half_way, in_order, remove_emptied, stands_at};
use crate::model::{BlobId, file_name};
use crate::patch::{Change, FileState};

/// Writes changes to the files below `root`, all or none.
///
/// `state` is a directory that belongs to this program, on the file system of `root` if possible:
/// the journal and both sides of every file are there while the change goes on.
///
/// # Errors
/// A [`WriteError`]; unless it says otherwise, nothing was changed.
pub fn write_worktree(root: &Path, state: &Path, changes: &[Change]) -> Result<(), WriteError> {
    let lock = journal::lock_state(state)?;
    if journal::is_interrupted(state) {
        return Err(WriteError::Interrupted);
    }
    let tree = Directory::open(root).map_err(|error| io_error(root, error))?;
    let mut staged = stage_all(&tree, state, changes)?;
    let written = verify_rows(&tree, &staged.rows)
        .and_then(|()| staged.commit().map_err(|error| io_error(state, error)))
        .and_then(|()| swap_files(&tree, &staged));
    // The journal is removed, unless it is needed to recover the tree.
    if !matches!(written, Err(WriteError::HalfWay { .. })) {
        staged.discard();
    }
    drop(lock);
    written
}

fn stage_all(tree: &Directory, state: &Path, changes: &[Change]) -> Result<Journal, WriteError> {
    let journal = Journal::create(state).map_err(|error| io_error(state, error))?;
    let result = fill(tree, journal, changes);
    if result.is_err() {
        journal::discard(state);
    }
    result
}

fn fill(tree: &Directory, mut journal: Journal, changes: &[Change]) -> Result<Journal, WriteError> {
    for (index, change) in changes.iter().enumerate() {
        let path = change.path.as_str();
        let name = file_name(path);
        let (old, new) = (change.standing.as_ref(), change.after.as_ref());
        let permissions = match old {
            Some(old) if change.new_permissions && new.is_some_and(|new| new.mode != old.mode) => {
                None
            }
            Some(_) => tree.parent(path, false).ok().and_then(|parent| parent.permissions(name)),
            None => None,
        };
        for (side, word) in [(old, "old"), (new, "new")] {
            if let Some(state) = side {
                let (kept, sides) = (format!("{index}.{word}"), &journal.sides);
                let made = sides.create(&kept, &state.bytes, state.mode, permissions);
                made.map_err(|error| io_error(Path::new(path), error))?;
            }
        }
        journal.rows.push(ChangedPath {
            path: path.to_owned(),
            old: blob_and_mode(old),
            new: blob_and_mode(new),
        });
    }
    Ok(journal)
}

fn blob_and_mode(state: Option<&FileState>) -> Option<(String, u32)> {
    state.map(|state| (BlobId::from_content(&state.bytes).to_string(), state.mode))
}

// Everything still is as it was checked, through the directories that will be written.
fn verify_rows(tree: &Directory, rows: &[ChangedPath]) -> Result<(), WriteError> {
    match rows.iter().find(|row| stands_at(tree, row) != row.old) {
        Some(row) => Err(WriteError::Changed {
            path: row.path.clone(),
        }),
        None => Ok(()),
    }
}

fn swap_files(tree: &Directory, journal: &Journal) -> Result<(), WriteError> {
    let order = in_order(&journal.rows);
    let mut emptied = false;
    for (step, (index, row)) in order.iter().enumerate() {
        if row.new.is_some() && !emptied {
            remove_emptied(tree, &journal.rows);
            emptied = true;
        }
        if let Err(error) = journal.put(tree, *index, row, true) {
            let path = row.path.clone();
            let done = order.get(..=step).unwrap_or_default();
            return Err(if journal.put_back(tree, done) {
                WriteError::RolledBack { path, error }
            } else {
                half_way(tree, journal, error)
            });
        }
    }
    remove_emptied(tree, &journal.rows);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Directory, stage_all, swap_files};
    use crate::model::RepoPath;
    use crate::patch::write::{Recovered, WriteError, is_interrupted, recover};
    use crate::patch::{Change, FileState};

    fn change(path: &str, old: &str, new: &str) -> Change {
        let state = |text: &str| {
            Some(FileState {
                bytes: text.as_bytes().into(),
                ..FileState::default()
            })
        };
        Change::between(RepoPath::new(path).unwrap(), state(old), state(new))
    }

    // The second file cannot be replaced, as a directory is in its place.
    fn failing(lost: bool) -> (tempfile::TempDir, WriteError) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("tree");
        let state = directory.path().join("state");
        fs::create_dir_all(root.join("b/inside")).unwrap();
        fs::write(root.join("a"), "one\n").unwrap();
        let changes = [change("a", "one\n", "ONE\n"), change("b", "two\n", "TWO\n")];
        let tree = Directory::open(&root).unwrap();
        let mut staged = stage_all(&tree, &state, &changes).unwrap();
        staged.commit().unwrap();
        if lost {
            fs::remove_file(state.join("apply/0.old")).unwrap();
        }
        // A directory counts as nothing, so that side was "not there" before.
        staged.rows[1].old = None;
        (directory, swap_files(&tree, &staged).unwrap_err())
    }

    #[test]
    fn failed_write_restores_files() {
        let (directory, error) = failing(false);
        assert!(matches!(error, WriteError::RolledBack { .. }), "{error}");
        let now = fs::read_to_string(directory.path().join("tree/a")).unwrap();
        assert_eq!(now, "one\n");
    }

    #[test]
    fn what_cannot_be_put_back_keeps_its_journal_and_says_so() {
        let (directory, error) = failing(true);
        assert!(matches!(error, WriteError::HalfWay { .. }), "{error}");
        assert!(error.to_string().contains("`a`"), "{error}");
        let state = directory.path().join("state");
        assert!(is_interrupted(&state));
        assert!(recover(&directory.path().join("tree"), &state).is_err());
        assert!(is_interrupted(&state), "the journal stays until it is done");
        // Once the lost side is there again, the change is put back.
        fs::write(state.join("apply/0.old"), "one\n").unwrap();
        fs::remove_dir_all(directory.path().join("tree/b")).unwrap();
        fs::write(directory.path().join("tree/b"), "two\n").unwrap();
        let recovered = recover(&directory.path().join("tree"), &state).unwrap();
        assert_eq!(recovered, Recovered::Undone);
        let now = fs::read_to_string(directory.path().join("tree/a")).unwrap();
        assert_eq!(now, "one\n");
    }
}
