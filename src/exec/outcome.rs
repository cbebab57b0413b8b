//! How a command ended, in numbers and words, and the report of whoever waited for it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Captured, ExecError, SandboxState};
use crate::model::NotConfined;

/// How a command went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Processes that outlived the command and were killed.
    pub leaked: u32,
    /// From start to end, by a monotonic clock.
    pub duration: Duration,
    /// Both streams in the order they came.
    pub output: Captured,
    /// Standard output alone.
    pub stdout: Captured,
    /// Standard error alone.
    pub stderr: Captured,
    /// The sandbox layers that were in force.
    pub sandbox: SandboxState,
    /// Layers that are not available, and why.
    pub not_confined: Vec<NotConfined>,
    /// Places that the sandbox refused to be written, as far as the output names them.
    pub refused: Vec<PathBuf>,
}

impl Outcome {
    /// Whether the command ended by itself with exit code 0.
    pub fn passed(&self) -> bool {
        self.end == End::Exit(0)
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum End {
    /// By itself, with this exit code.
    Exit(i32),
    /// By this signal, which mendit did not send.
    Signal(i32),
    /// By the time limit.
    TimedOut,
    /// By the limit on output.
    OutputLimit,
    /// It was never started: no such program.
    NotFound,
    /// It was never started: the file is no program, or may not be run.
    NotExecutable,
    /// By the person who asked for it.
    Interrupted,
}

impl End {
    /// The exit code, if it ended by itself.
    pub fn exit_code(self) -> Option<i32> {
        match self {
            Self::Exit(code) => Some(code),
            _ => None,
        }
    }

    /// The signal it died of, also when a shell in between reports it as 128 and the signal.
    pub fn signal(self) -> Option<i32> {
        match self {
            Self::Signal(signal) => Some(signal),
            Self::Exit(code) if DEADLY.contains(&(code - 128)) => Some(code - 128),
            _ => None,
        }
    }

    /// Whether the command was missing or could not be run, also when a shell in between says so
    /// with 127 or 126.
    pub fn is_missing_command(self) -> bool {
        matches!(
            self,
            Self::NotFound | Self::NotExecutable | Self::Exit(126 | 127)
        )
    }

    /// As the exit code that `diagnose` takes: negative for a signal, `None` for the rest.
    pub fn code_or_signal(self) -> Option<i32> {
        match self {
            Self::Exit(code) => Some(code),
            Self::Signal(signal) => Some(-signal),
            Self::NotFound => Some(127),
            Self::NotExecutable => Some(126),
            _ => None,
        }
    }
}

// HUP, INT, QUIT, ILL, TRAP, ABRT, BUS (two numbers), FPE, KILL, SEGV, PIPE, TERM.
const DEADLY: [i32; 13] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15];

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => match signal_hook::low_level::signal_name(*signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
            Self::TimedOut => f.write_str("the time limit"),
            Self::OutputLimit => f.write_str("the limit on output"),
            Self::NotFound => f.write_str("command not found"),
            Self::NotExecutable => f.write_str("not executable"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// How it went, as whoever waited for the command saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) end: Result<End, Refusal>,
    pub(super) leaked: u32,
    pub(super) sandbox: SandboxState,
    /// Layers of the sandbox that are not available.
    pub(super) not_confined: Vec<NotConfined>,
    /// Shared temporary folders that could not be made private, and so could not be written.
    pub(super) shut: Vec<PathBuf>,
}

/// Why nothing was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Refusal {
    /// The sandbox is not available.
    NoSandbox(String),
    /// An overlay is not available.
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
    /// The report of a command that was never started.
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

/// Says why a command could not be spawned: a fault of the command, else of the system.
pub(super) fn read_refusal(error: &std::io::Error) -> Result<End, Refusal> {
    // ENOEXEC has no kind of its own.
    match (error.kind(), error.raw_os_error()) {
        (std::io::ErrorKind::NotFound, _) => Ok(End::NotFound),
        (std::io::ErrorKind::PermissionDenied, _) | (_, Some(8)) => Ok(End::NotExecutable),
        _ => Err(Refusal::Failed(error.to_string())),
    }
}
