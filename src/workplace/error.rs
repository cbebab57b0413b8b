//! The errors of isolated copies.

use std::path::Path;

use crate::exec::ExecError;
use crate::git::{ScratchError, remove_entry};
use crate::model::{AtPath as _, Code, PathError};
use crate::patch::WriteError;
use crate::source::ReadError;

/// Why an isolated copy cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub enum WorkplaceError {
    /// The named kind is not available.
    #[error("`--workplace overlay` is not available: {0}")]
    Unavailable(String),
    /// A folder that a copy is to link to is not there.
    #[error("--share: there is no `{0}` in the worktree")]
    NotThere(String),
    /// The disk refused.
    #[error("cannot write the isolated copy {0}")]
    Disk(#[from] PathError),
    /// More was changed than can be a patch.
    #[error("{0}")]
    TooMuch(String),
    /// The copy refused.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// A change could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A command could not be tried.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// It cannot be listed.
    #[error("cannot read the isolated copy: {0}")]
    Read(#[from] ReadError),
}

/// Removes whatever is there; links are not followed.
pub(super) fn clear_path(at: &Path) -> Result<(), WorkplaceError> {
    Ok(remove_entry(at).at(at)?)
}

impl WorkplaceError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::NotThere(_) => Code::U101,
            Self::Write(error) => error.code(),
            Self::Exec(error) => error.code(),
            _ => Code::R107,
        }
    }
}
