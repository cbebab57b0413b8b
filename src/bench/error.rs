//! The errors of the bench.

use std::path::Path;

use crate::exec::ExecError;
use crate::git::GitError;
use crate::model::{Code, PathError};
use crate::patch::WriteError;
use crate::repair::RepairError;
use crate::source::ReadError;
use crate::workplace::WorkplaceError;

/// Why fixtures cannot be used, or fixes not mined or laid out.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// There is no fixture where fixtures were asked for.
    #[error("`{0}` contains no fixture: no folder with a `fixture.toml`")]
    None(String),
    /// A file is not what it should be, or names what is not there; which file that is, by its code.
    #[error("`{1}`: {2}")]
    File(Code, String, String),
    /// A part of a run is unknown, or parts cannot be joined.
    #[error("{0}")]
    Part(String),
    /// A clone or something in it is not there.
    #[error("{0}")]
    Lacking(String),
    /// A command of a set-up failed.
    #[error("{0}")]
    SetUp(String),
    /// A bench ended below what was asked for.
    #[error("{1}")]
    Below(Code, String),
    /// The disk refused a path.
    #[error("cannot use {0}")]
    Disk(#[from] PathError),
    /// A file of the clone or the checkout cannot be read.
    #[error("cannot read a file of the checkout: {0}")]
    Source(ReadError),
    /// A repository refused.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The patch could not be written.
    #[error(transparent)]
    Apply(#[from] WriteError),
    /// The isolated copy refused.
    #[error(transparent)]
    Workplace(#[from] WorkplaceError),
    /// A command could not be run in its workplace.
    #[error(transparent)]
    Run(#[from] RepairError),
    /// A command could not be started or watched.
    #[error(transparent)]
    Exec(#[from] ExecError),
}

impl BenchError {
    pub(super) fn file(code: Code, path: &Path, message: impl Into<String>) -> Self {
        Self::File(code, path.display().to_string(), message.into())
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::File(code, ..) | Self::Below(code, _) => *code,
            Self::Part(_) => Code::F305,
            Self::None(_) | Self::Disk(_) | Self::Git(_) => Code::F101,
            Self::Lacking(_) | Self::Source(_) | Self::SetUp(_) => Code::F401,
            Self::Apply(error) => error.code(),
            Self::Workplace(error) => error.code(),
            Self::Run(error) => error.code(),
            Self::Exec(error) => error.code(),
        }
    }
}
