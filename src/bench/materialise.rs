//! Writes a fixture's repository to disk: secrets filled in, large files generated, one commit. Hidden
//! tests stay outside, so that no run sees them.

use std::fs;
use std::path::{Path, PathBuf};

use super::{BenchError, Fixture};
use crate::git::first_commit;
use crate::model::AtPath as _;
use crate::source::{Untracked, Worktree};

/// Lays a fixture's repository out in `home`, which is made: secrets filled in,
/// one commit. Gives the root of its worktree.
///
/// # Errors
/// [`BenchError`] when the disk refuses.
pub fn materialise(fixture: &Fixture, home: &Path) -> Result<PathBuf, BenchError> {
    // The name that a log shows, and what tools of the test may look at.
    let root = home.join(&fixture.id);
    copy_files(fixture, &fixture.directory.join("repo"), &root)?;
    let files = Worktree::open(&root, Box::new(Untracked), 1).map_err(BenchError::Source)?;
    first_commit(&root, &files)?;
    Ok(root)
}

/// Where the hidden tests of a fixture stand: beside its repository, never in it.
pub(super) fn hidden_folder(fixture: &Fixture) -> PathBuf {
    fixture.directory.join("hidden")
}

/// Lays the hidden tests of a fixture over its files at `root`.
pub(super) fn lay_hidden(fixture: &Fixture, root: &Path) -> Result<(), BenchError> {
    copy_files(fixture, &hidden_folder(fixture), root)
}

/// A directory below `home` for temporary files, as a variable for commands: what a test leaves
/// there is seen by no other fixture and by no later run.
pub(super) fn temporary_name(home: &Path) -> Result<String, BenchError> {
    let path = home.join("tmp");
    fs::create_dir_all(&path).at(&path)?;
    Ok(format!("TMPDIR={}", path.display()))
}

fn copy_files(fixture: &Fixture, from: &Path, to: &Path) -> Result<(), BenchError> {
    let mut open = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = open.pop() {
        fs::create_dir_all(&to).at(&to)?;
        for entry in fs::read_dir(&from).at(&from)? {
            let entry = entry.at(&from)?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.file_type().at(&from)?;
            if kind.is_dir() {
                open.push((source, target));
            } else if kind.is_file() {
                let bytes = fs::read(&source).at(&source)?;
                let mode = entry.metadata().at(&from)?.permissions();
                fs::write(&target, fill_bytes(fixture, bytes))
                    .and_then(|()| fs::set_permissions(&target, mode))
                    .at(&target)?;
            }
        }
    }
    Ok(())
}

// Bytes that are no text hold no name of a secret.
fn fill_bytes(fixture: &Fixture, bytes: Vec<u8>) -> Vec<u8> {
    match String::from_utf8(bytes) {
        Ok(text) if !fixture.secrets.is_empty() => fixture.fill(&text).into_bytes(),
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    }
}
