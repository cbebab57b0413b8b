//! The errors of writing a patch.

use std::io;
use std::path::Path;

use crate::model::Code;

/// Why nothing was written, or not all.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A file is no longer what was checked. Nothing was changed.
    #[error("`{path}` has changed since the patch was validated")]
    Changed {
        /// The file.
        path: String,
    },
    /// An earlier apply was interrupted.
    #[error("an earlier apply was interrupted; `mendit apply --recover` undoes it")]
    Interrupted,
    /// Another process is applying a patch here.
    #[error("another process is applying a patch to this tree")]
    Busy,
    /// The system refused before anything was changed.
    #[error("cannot write `{path}`: {error}")]
    Io {
        /// The file or directory.
        path: String,
        /// The system's words.
        error: io::Error,
    },
    /// The system refused in the middle, and what was done was undone.
    #[error("cannot write `{path}`: {error}; all files are as before")]
    RolledBack {
        /// The file.
        path: String,
        /// The system's words.
        error: io::Error,
    },
    /// The system refused in the middle, and does not let what was done be undone.
    #[error(
        "the change is partly applied and cannot be rolled back: {error}; still changed: {paths}; both versions are kept in `{kept}`"
    )]
    HalfWay {
        /// The files that are not as they were.
        paths: String,
        /// Where both sides are.
        kept: String,
        /// The system's words.
        error: io::Error,
    },
    /// Recovery meets a file that is neither old nor new.
    #[error(
        "`{path}` matches neither the state before the patch nor the state after it; both versions are kept in `{kept}`"
    )]
    Foreign {
        /// The file.
        path: String,
        /// Where both sides are.
        kept: String,
    },
}

impl WriteError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::Io { .. } => Code::P901,
            Self::Changed { .. } => Code::P902,
            Self::Interrupted | Self::HalfWay { .. } => Code::P903,
            Self::RolledBack { .. } => Code::P904,
            Self::Busy => Code::P905,
            Self::Foreign { .. } => Code::P906,
        }
    }
}

pub(super) fn io_error(path: &Path, error: impl Into<io::Error>) -> WriteError {
    WriteError::Io {
        path: path.display().to_string(),
        error: error.into(),
    }
}

/// Whether nothing is at a path, or something above it is no directory.
pub(in crate::patch) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
