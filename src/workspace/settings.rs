//! Reads the settings in force in a directory.

use std::path::{Path, PathBuf};

use super::WorkspaceError;
use crate::config::{ConfigError, File, Settings, find};
use crate::git::Repository;

/// What a person says of the settings' file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsChoice {
    /// This file and no other of the repository; to name it is to trust it.
    pub file: Option<PathBuf>,
    /// Whether what a repository brings along may run commands and loosen rules.
    pub trust: bool,
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The directory or its repository cannot be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A source of them is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// The settings in force in a directory: those of the user, of the closest file on the way up to
/// the root of the repository, and of the environment. Without git only the directory itself is
/// looked at.
///
/// # Errors
/// A [`SettingsError`].
pub fn settings(
    directory: &Path,
    choice: &SettingsChoice,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Settings, SettingsError> {
    let file = match &choice.file {
        Some(file) => Some(File::Trusted(file.clone())),
        None => find_file(directory, choice.trust)?,
    };
    Ok(Settings::load(file.as_ref(), environment)?)
}

fn find_file(directory: &Path, trust: bool) -> Result<Option<File>, WorkspaceError> {
    let directory = super::open::canonical(directory)?;
    let root = Repository::discover(&directory)?
        .and_then(|git| git.workdir().map(Path::to_owned))
        .and_then(|root| root.canonicalize().ok())
        .unwrap_or_else(|| directory.clone());
    Ok(find(&directory, &root).map(|path| {
        if trust {
            File::Trusted(path)
        } else {
            File::Repository { path, root }
        }
    }))
}
