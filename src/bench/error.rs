use std::io;
use std::path::Path;

use super::RealError;
use crate::exec::ExecError;
use crate::git::ScratchError;
use crate::model::Code;
use crate::patch::WriteError;
use crate::source::ReadError;

/// Why a fixture cannot be used. One that is used and does not hold is a
/// [`Proof`](super::Proof) with problems.
#[derive(Debug, thiserror::Error)]
pub enum FixtureError {
    /// A file or folder cannot be read.
    #[error("cannot read `{path}`: {}", said(*kind))]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        kind: io::ErrorKind,
    },
    /// There is no fixture where fixtures were asked for.
    #[error("`{path}` holds no fixture: no folder with a `fixture.toml`")]
    None {
        /// The folder.
        path: String,
    },
    /// `fixture.toml` is not what it should be.
    #[error("`{path}`: {message}")]
    Format {
        /// The file.
        path: String,
        /// What is wrong, with its place.
        message: String,
    },
    /// `fixture.toml` names what is not there.
    #[error("`{path}`: {message}")]
    Dangling {
        /// The file.
        path: String,
        /// What is named and where it was looked for.
        message: String,
    },
    /// The repository cannot be laid out.
    #[error("cannot write `{path}`: {kind}")]
    Write {
        /// The file.
        path: String,
        /// What the system said.
        kind: io::ErrorKind,
    },
    /// The scratch copy refused.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// The laid out repository cannot be listed.
    #[error("cannot read the laid out repository: {0}")]
    List(#[from] ReadError),
    /// The patch could not be written.
    #[error(transparent)]
    Apply(#[from] WriteError),
    /// A command could not be started or watched.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// A fix of a history could not be laid out or tried.
    #[error(transparent)]
    Real(#[from] RealError),
}

impl FixtureError {
    pub(super) fn read(path: &Path, error: &io::Error) -> Self {
        Self::Read {
            path: path.display().to_string(),
            kind: error.kind(),
        }
    }

    pub(super) fn write(path: &Path, error: &io::Error) -> Self {
        Self::Write {
            path: path.display().to_string(),
            kind: error.kind(),
        }
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Read { .. } => Code::F101,
            Self::None { .. } => Code::F102,
            Self::Format { .. } => Code::F103,
            Self::Dangling { .. } => Code::F104,
            Self::Write { .. } | Self::Scratch(_) | Self::List(_) => Code::F105,
            Self::Apply(error) => error.code(),
            Self::Exec(error) => error.code(),
            Self::Real(error) => error.code(),
        }
    }
}

fn said(kind: io::ErrorKind) -> String {
    match kind {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::NotADirectory => "it is a file, and a folder is expected".to_owned(),
        kind => kind.to_string(),
    }
}
