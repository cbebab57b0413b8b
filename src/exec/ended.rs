use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::{End, ExecError, SandboxState};
use crate::model::NotConfined;

/// How it went, as whoever waited for the command saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) end: ReportedEnd,
    pub(super) leaked: u32,
    pub(super) sandbox: SandboxState,
    /// Walls of the sandbox that cannot be had.
    pub(super) not_confined: Vec<NotConfined>,
    /// Shared temporary folders that could not be made private, and so could not be written.
    pub(super) shut: Vec<OsString>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ReportedEnd {
    Exit(i32),
    Signal(i32),
    TimedOut,
    /// It was asked to stop.
    Stopped,
    NotFound,
    NotExecutable,
    /// The sandbox cannot be had; nothing was run.
    NoSandbox(String),
    /// An overlay cannot be had; nothing was run.
    NoPlace(String),
    /// The system refused to start it.
    Failed(String),
}

impl Report {
    /// Of a command that was never started.
    pub(super) fn unstarted(end: ReportedEnd) -> Self {
        Self {
            end,
            leaked: 0,
            sandbox: SandboxState::None,
            not_confined: Vec::new(),
            shut: Vec::new(),
        }
    }
}

impl ReportedEnd {
    /// As the caller is told; an error when nothing was run.
    pub(super) fn end(self) -> Result<End, ExecError> {
        Ok(match self {
            Self::Exit(code) => End::Exit(code),
            Self::Signal(signal) => End::Signal(signal),
            Self::TimedOut => End::TimedOut,
            Self::Stopped => End::Interrupted,
            Self::NotFound => End::NotFound,
            Self::NotExecutable => End::NotExecutable,
            Self::NoSandbox(why) => return Err(ExecError::Sandbox(why)),
            Self::NoPlace(why) => return Err(ExecError::Place(why)),
            Self::Failed(why) => return Err(ExecError::Start(std::io::Error::other(why))),
        })
    }

    /// What a failure to start says of the command; `None` when it says something of the system.
    pub(super) fn of_refusal(error: &std::io::Error) -> Option<Self> {
        // ENOEXEC has no kind of its own.
        match (error.kind(), error.raw_os_error()) {
            (std::io::ErrorKind::NotFound, _) => Some(Self::NotFound),
            (std::io::ErrorKind::PermissionDenied, _) | (_, Some(8)) => Some(Self::NotExecutable),
            _ => None,
        }
    }
}
