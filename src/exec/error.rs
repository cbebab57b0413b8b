//! The errors of starting a command.

use crate::model::{Code, PathError};

/// Why a command could not be run at all. How a command that ran ended is no error: see
/// [`super::End`].
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// There is nothing to run.
    #[error("the command is empty")]
    Empty,
    /// The directory to run in is not there.
    #[error("cannot run in {0}")]
    Directory(#[from] PathError),
    /// The helper process could not be started, or a pipe or a thread could not be had.
    #[error("cannot start the command: {0}")]
    Start(#[from] std::io::Error),
    /// The helper process ended before it could say how the command went.
    #[error("the supervisor of the command was killed")]
    SupervisorGone,
    /// The required sandbox is not available. Nothing was run.
    #[error("the sandbox is not available: {0}")]
    Sandbox(String),
    /// No folder can be laid over another here. Nothing was run.
    #[error("the isolated copy is not available: {0}")]
    Place(String),
}

impl ExecError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::Empty => Code::U101,
            Self::Directory(_) => Code::U302,
            Self::Start(_) => Code::R103,
            Self::SupervisorGone => Code::R104,
            Self::Sandbox(_) => Code::R105,
            Self::Place(_) => Code::R107,
        }
    }
}
