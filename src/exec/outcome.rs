use std::path::PathBuf;
use std::time::Duration;

use super::{Captured, SandboxState};
use crate::model::NotConfined;

/// How a command went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Processes that outlived the command and were killed.
    pub leaked: u32,
    /// From start to end, by a clock that nobody sets.
    pub duration: Duration,
    /// Both streams in the order they came.
    pub output: Captured,
    /// Standard output alone.
    pub stdout: Captured,
    /// Standard error alone.
    pub stderr: Captured,
    /// What of the sandbox was in force.
    pub sandbox: SandboxState,
    /// Walls of it that cannot be had, and why.
    pub not_confined: Vec<NotConfined>,
    /// Places that the sandbox refused to be written, as far as the output names them.
    pub refused: Vec<PathBuf>,
}

impl Outcome {
    /// Whether the command ended by itself with exit code 0.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.end == End::Exit(0)
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum End {
    /// By itself, with this exit code.
    Exit(i32),
    /// By this signal, which nobody here sent.
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
    #[must_use]
    pub fn exit_code(self) -> Option<i32> {
        match self {
            Self::Exit(code) => Some(code),
            _ => None,
        }
    }

    /// The signal it died of, also when a shell in between reports it as 128 and the signal.
    #[must_use]
    pub fn signal(self) -> Option<i32> {
        match self {
            Self::Signal(signal) => Some(signal),
            Self::Exit(code) if DEADLY.contains(&(code - 128)) => Some(code - 128),
            _ => None,
        }
    }

    /// Whether the command was missing or could not be run, also when a shell in between says so
    /// with 127 or 126.
    #[must_use]
    pub fn is_missing_command(self) -> bool {
        matches!(
            self,
            Self::NotFound | Self::NotExecutable | Self::Exit(126 | 127)
        )
    }

    /// As the exit code that `diagnose` takes: negative for a signal, `None` for the rest.
    #[must_use]
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
