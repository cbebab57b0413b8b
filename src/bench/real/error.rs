use std::io;
use std::path::Path;

use crate::exec::ExecError;
use crate::git::GitError;
use crate::model::Code;
use crate::repair::RepairError;
use crate::source::ReadError;
use crate::workplace::WorkplaceError;

/// Why fixes cannot be mined or laid out.
#[derive(Debug, thiserror::Error)]
pub enum RealError {
    /// `bench.toml` is not what it should be.
    #[error("`{path}`: {message}")]
    BenchFile {
        /// The file.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// A set is not what it should be.
    #[error("`{path}`: {message}")]
    Set {
        /// The file.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// A clone or something in it is not there.
    #[error("{0}")]
    Lacking(String),
    /// A command of a set-up failed.
    #[error("the set-up of `{environment}` failed at `{line}`: {end}; `{log}` has its output")]
    SetUp {
        /// The environment.
        environment: String,
        /// The command.
        line: String,
        /// How it ended.
        end: String,
        /// Where its output stands.
        log: String,
    },
    /// The disk refused.
    #[error("cannot write `{path}`: {kind}")]
    Write {
        /// The file.
        path: String,
        /// What the system said.
        kind: io::ErrorKind,
    },
    /// A file cannot be read.
    #[error("cannot read `{path}`: {kind}")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        kind: io::ErrorKind,
    },
    /// The clone refused.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file of the clone or the checkout cannot be read.
    #[error("cannot read a file of the checkout: {0}")]
    Source(#[from] ReadError),
    /// The workplace refused.
    #[error(transparent)]
    Workplace(#[from] WorkplaceError),
    /// A command could not be run in its workplace.
    #[error(transparent)]
    Run(#[from] RepairError),
    /// A command could not be started or watched.
    #[error(transparent)]
    Exec(#[from] ExecError),
}

impl RealError {
    pub(super) fn write(path: &Path, error: &io::Error) -> Self {
        Self::Write {
            path: path.display().to_string(),
            kind: error.kind(),
        }
    }

    pub(super) fn read(path: &Path, error: &io::Error) -> Self {
        Self::Read {
            path: path.display().to_string(),
            kind: error.kind(),
        }
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::BenchFile { .. } => Code::F401,
            Self::Set { .. } => Code::F402,
            Self::Lacking(_) | Self::Source(_) => Code::F403,
            Self::SetUp { .. } => Code::F405,
            Self::Read { .. } => Code::F101,
            Self::Write { .. } | Self::Git(_) => Code::F105,
            Self::Workplace(error) => error.code(),
            Self::Run(error) => error.code(),
            Self::Exec(error) => error.code(),
        }
    }
}
