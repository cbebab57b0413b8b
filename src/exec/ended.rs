use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{End, ExecError, SandboxState};
use crate::model::NotConfined;

/// How it went, as whoever waited for the command saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) end: Result<End, Refusal>,
    pub(super) leaked: u32,
    pub(super) sandbox: SandboxState,
    /// Walls of the sandbox that cannot be had.
    pub(super) not_confined: Vec<NotConfined>,
    /// Shared temporary folders that could not be made private, and so could not be written.
    pub(super) shut: Vec<PathBuf>,
}

/// Why nothing was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Refusal {
    /// The sandbox cannot be had.
    NoSandbox(String),
    /// An overlay cannot be had.
    NoPlace(String),
    /// The system refused to start it.
    Failed(String),
}

impl From<Refusal> for ExecError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoSandbox(why) => Self::Sandbox(why),
            Refusal::NoPlace(why) => Self::Place(why),
            Refusal::Failed(why) => Self::Start(std::io::Error::other(why)),
        }
    }
}

impl Report {
    /// Of a command that was never started.
    pub(super) fn unstarted(end: Result<End, Refusal>) -> Self {
        Self {
            end,
            leaked: 0,
            sandbox: SandboxState::None,
            not_confined: Vec::new(),
            shut: Vec::new(),
        }
    }
}

/// What a failure to start says: of the command, else of the system.
pub(super) fn read_refusal(error: &std::io::Error) -> Result<End, Refusal> {
    // ENOEXEC has no kind of its own.
    match (error.kind(), error.raw_os_error()) {
        (std::io::ErrorKind::NotFound, _) => Ok(End::NotFound),
        (std::io::ErrorKind::PermissionDenied, _) | (_, Some(8)) => Ok(End::NotExecutable),
        _ => Err(Refusal::Failed(error.to_string())),
    }
}
