//! The error of every task: a code, a message and a hint, so that each surface prints it the same way.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::LazyLock;

use crate::bench::BenchError;
use crate::config::ConfigError;
use crate::context::ContextError;
use crate::exec::ExecError;
use crate::git::GitError;
use crate::heal::HealError;
use crate::model::{Code, Exit, PathError};
use crate::patch::WriteError;
use crate::policy::PolicyError;
use crate::repair::RepairError;
use crate::source::ReadError;
use crate::state::StateError;
use crate::why::WhyError;
use crate::workplace::WorkplaceError;
use crate::workspace::{SettingsError, WorkspaceError};

/// Why a task could not do its work: what happened, a stable code, what to do.
#[derive(Debug, thiserror::Error)]
#[error("error[{code}]: {message}{}", hint_lines(hints))]
pub struct AppError {
    /// Its name, with a page.
    pub code: Code,
    /// What happened, and where.
    pub message: String,
    /// What to do, a line each.
    pub hints: Vec<String>,
    /// How the process ends.
    pub exit: Exit,
}

impl AppError {
    /// An error that ends the process as its code says.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hints: Vec::new(),
            exit: code.exit(),
        }
    }

    /// Creates an error about the way the command was called.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::U101, message)
    }

    /// The system refused something.
    pub fn environment(message: impl Into<String>) -> Self {
        Self::new(Code::U301, message)
    }

    /// The caller is gone.
    pub(super) fn cancelled() -> Self {
        Self::new(Code::U301, "cancelled").exit(Exit::Interrupted)
    }

    /// A repository without files where files are needed.
    pub(super) fn bare(what: &str) -> Self {
        let message = format!("this repository is bare: it has no worktree{what}");
        Self::new(Code::U204, message)
    }

    /// Adds what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    fn maybe(self, hint: &str) -> Self {
        match hint {
            "" => self,
            hint => self.hint(hint),
        }
    }

    /// Sets how the process ends.
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

// A file that was named cannot be read.
impl From<PathError> for AppError {
    fn from(error: PathError) -> Self {
        let hint = match error.kind {
            // A text where the file that holds it is expected.
            ErrorKind::NotFound if error.path.to_string_lossy().contains(char::is_whitespace) => {
                "a file is expected; `-` reads standard input"
            }
            ErrorKind::NotFound => "the path is relative to the current directory",
            ErrorKind::IsADirectory => "name a file in it",
            _ => "",
        };
        Self::new(Code::U302, format!("cannot read {error}")).maybe(hint)
    }
}

fn hint_lines(hints: &[String]) -> String {
    let lines: String = hints.iter().map(|hint| format!("\n  hint: {hint}")).collect();
    lines.replace("\n  hint: cause: ", "\n  cause: ")
}

/// What to do about each code of a lower module.
static HINTS: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| crate::model::read_table(embedded!("app/hints.toml")).unwrap_or_default());

// Errors of lower modules: their code, what they say, and what to do about that code.
macro_rules! from_errors {
    ($($Error:ident)*) => {$(
        impl From<$Error> for AppError {
            fn from(error: $Error) -> Self {
                let hint = HINTS.get(error.code().as_str()).map_or("", String::as_str);
                Self::new(error.code(), error.to_string()).maybe(hint)
            }
        }
    )*};
}

from_errors! {
    StateError PolicyError ContextError WriteError ExecError WorkplaceError BenchError WorkspaceError HealError
    RepairError
}

// Errors that are one of a lower module.
macro_rules! pass_on {
    ($($Error:ident: $error:ident => $inner:expr;)*) => {$(
        impl From<$Error> for AppError {
            fn from($error: $Error) -> Self {
                $inner
            }
        }
    )*};
}

pass_on! {
    ConfigError: error => Self::new(error.code, error.to_string()).maybe(&error.hint);
    GitError: error => WorkspaceError::Git(error).into();
    ReadError: error => WorkspaceError::Read(error).into();
    SettingsError: error => match error {
        SettingsError::Workspace(error) => error.into(),
        SettingsError::Config(error) => error.into(),
    };
    WhyError: error => match error {
        WhyError::Trial(error) => error.into(),
        WhyError::Git(error) => error.into(),
    };
}
