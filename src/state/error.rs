//! The errors of the state folder.

use std::path::PathBuf;

use crate::model::{Code, PathError};

/// Why nothing can be kept.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The folder is another user's, a link, or open to others.
    #[error("`{path}` cannot be trusted: {1}", path = .0.display())]
    Foreign(PathBuf, &'static str),
    /// The system refuses it.
    #[error("cannot store data in {0}")]
    Disk(#[from] PathError),
}

impl StateError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::Foreign(..) => Code::U308,
            Self::Disk(_) => Code::U303,
        }
    }
}
