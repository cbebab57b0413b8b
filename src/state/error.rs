//! The errors of the state folder.

use std::io;
use std::path::{Path, PathBuf};

use crate::model::Code;

/// Why nothing can be kept.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The folder is another user's, a link, or open to others.
    #[error("`{}` cannot be trusted: {reason}", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The system refuses it.
    #[error("cannot keep anything in `{}`: {reason}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        reason: io::ErrorKind,
    },
}

impl StateError {
    pub(super) fn io(path: &Path, error: &io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            reason: error.kind(),
        }
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Foreign { .. } => Code::U308,
            Self::Io { .. } => Code::U303,
        }
    }
}
