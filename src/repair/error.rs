//! The errors that end a run.

use std::io;
use std::path::Path;

use crate::context::ContextError;
use crate::exec::ExecError;
use crate::model::Code;
use crate::patch::WriteError;
use crate::source::ReadError;
use crate::workplace::WorkplaceError;

/// Why a run could not go on. A repair that does not succeed is no error.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// Another run holds the repository.
    #[error("another run holds the lock `{path}`: {holder}")]
    Locked {
        /// The lock.
        path: String,
        /// Who has it.
        holder: String,
    },
    /// The run's folder cannot be written.
    #[error("cannot write `{path}`: {kind}")]
    Write {
        /// The file.
        path: String,
        /// What the system said.
        kind: io::ErrorKind,
    },
    /// The run that is to go on does not fit what is here.
    #[error("the run cannot go on: {0}")]
    Resume(String),
    /// The set-up did not end well.
    #[error("the set-up ended with {end}: {output}")]
    SetUp {
        /// How it ended.
        end: String,
        /// The last lines of its output.
        output: String,
    },
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
            Self::Locked { .. } => Code::L101,
            Self::Write { .. } => Code::U303,
            Self::Resume(_) => Code::L103,
            Self::SetUp { .. } => Code::L105,
            Self::Workplace(error) => error.code(),
            Self::Read(_) => Code::R107,
            Self::Exec(error) => error.code(),
            Self::Context(error) => error.code(),
            Self::Apply(error) => error.code(),
        }
    }
}
