use std::path::{Path, PathBuf};

use super::WorkspaceError;
use crate::config::find;
use crate::git::Repository;

/// The settings' file in force in a directory: the closest one on the way up to the root of its
/// repository. Without git only the directory itself is looked at.
///
/// # Errors
/// A [`WorkspaceError`].
pub fn settings_file(directory: &Path) -> Result<Option<PathBuf>, WorkspaceError> {
    let directory = super::open::canonical(directory)?;
    let root = Repository::discover(&directory)?
        .and_then(|git| git.workdir().map(Path::to_owned))
        .and_then(|root| root.canonicalize().ok())
        .unwrap_or_else(|| directory.clone());
    Ok(find(&directory, &root))
}
