use std::io;
use std::path::Path;

use crate::exec::ExecError;
use crate::git::GitError;
use crate::model::Code;
use crate::patch::WriteError;
use crate::repair::RepairError;
use crate::source::ReadError;
use crate::workplace::WorkplaceError;

/// Why fixtures cannot be used, or fixes not mined or laid out. A fixture that is used and does not
/// hold is a [`Proof`](super::Proof) with problems.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A file or folder cannot be read.
    #[error("cannot read `{path}`: {}", reason(*kind))]
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
    /// A file is not what it should be, or names what is not there.
    #[error("`{path}`: {message}")]
    File {
        /// Which file that is, and which of both.
        code: Code,
        /// The file.
        path: String,
        /// What is wrong, with its place.
        message: String,
    },
    /// A part of a run cannot be told, or parts not joined.
    #[error("{message}")]
    Part {
        /// Which of both.
        code: Code,
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
    /// The laid out repository cannot be listed.
    #[error("cannot read the laid out repository: {0}")]
    List(ReadError),
    /// A file of the clone or the checkout cannot be read.
    #[error("cannot read a file of the checkout: {0}")]
    Source(ReadError),
    /// A repository refused.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The patch could not be written.
    #[error(transparent)]
    Apply(#[from] WriteError),
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

impl BenchError {
    pub(super) fn read(path: &Path, error: &io::Error) -> Self {
        Self::Read {
            path: path.display().to_string(),
            kind: error.kind(),
        }
    }

    pub(super) fn file(code: Code, path: &Path, message: String) -> Self {
        let path = path.display().to_string();
        Self::File {
            code,
            path,
            message,
        }
    }

    pub(super) fn part(code: Code, message: String) -> Self {
        Self::Part { code, message }
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
            Self::File { code, .. } | Self::Part { code, .. } => *code,
            Self::Read { .. }
            | Self::None { .. }
            | Self::Write { .. }
            | Self::Git(_)
            | Self::List(_) => Code::F101,
            Self::Lacking(_) | Self::Source(_) | Self::SetUp { .. } => Code::F401,
            Self::Apply(error) => error.code(),
            Self::Workplace(error) => error.code(),
            Self::Run(error) => error.code(),
            Self::Exec(error) => error.code(),
        }
    }
}

fn reason(kind: io::ErrorKind) -> String {
    match kind {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::NotADirectory => "it is a file, and a folder is expected".to_owned(),
        kind => kind.to_string(),
    }
}
