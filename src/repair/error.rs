//! The errors that end a run.

use std::path::PathBuf;

use crate::context::ContextError;
use crate::exec::ExecError;
use crate::model::{Code, PathError};
use crate::patch::WriteError;
use crate::source::ReadError;
use crate::workplace::WorkplaceError;

/// Why a run could not go on. A repair that does not succeed is no error.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// Another run, whose words these are, holds the lock of the repository.
    #[error("another run holds the lock `{path}`: {1}", path = .0.display())]
    Locked(PathBuf, String),
    /// The run's folder cannot be written.
    #[error("cannot write {0}")]
    Write(#[from] PathError),
    /// The run that is to go on does not fit what is here.
    #[error("the run cannot continue: {0}")]
    Resume(String),
    /// The set-up did not end well: how it ended, and the last lines of its output.
    #[error("the setup ended with {0}: {1}")]
    SetUp(String, String),
    /// The isolated copy is not available, or refused.
    #[error(transparent)]
    Workplace(#[from] WorkplaceError),
    /// A command could not be started or watched.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// No packet could be built.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// A change could not be written.
    #[error(transparent)]
    Apply(#[from] WriteError),
    /// The isolated copy cannot be listed.
    #[error("cannot read the isolated copy: {0}")]
    Read(#[from] ReadError),
}

impl RepairError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::Locked(..) => Code::L101,
            Self::Write(_) => Code::U303,
            Self::Resume(_) => Code::L103,
            Self::SetUp(..) => Code::L105,
            Self::Workplace(error) => error.code(),
            Self::Read(_) => Code::R107,
            Self::Exec(error) => error.code(),
            Self::Context(error) => error.code(),
            Self::Apply(error) => error.code(),
        }
    }
}
