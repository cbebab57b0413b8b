//! A command with its directory, limits, environment and sandbox.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Environment, Sandbox};
use crate::model::shell_word;

/// A command and the limits it runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// A command to run.
    pub command: CommandLine,
    /// Where to run it.
    pub directory: PathBuf,
    /// What it reads on standard input.
    pub stdin: Stdin,
    /// Which variables it sees.
    pub environment: Environment,
    /// Time and output it may take.
    pub limits: Limits,
    /// The sandbox.
    pub sandbox: Sandbox,
    /// Overlays over folders while it runs. Without them the command is not run, because it would write to the real
    /// folders.
    pub overlays: Vec<Overlay>,
    /// A folder that is the command's own: its temporary files and its caches. It is made.
    pub private: Option<PathBuf>,
}

impl Job {
    /// A job with the default limits, environment and sandbox, and nothing on standard input.
    pub fn new(command: CommandLine, directory: impl Into<PathBuf>) -> Self {
        Self {
            command,
            directory: directory.into(),
            stdin: Stdin::Closed,
            environment: Environment::default(),
            limits: Limits::default(),
            sandbox: Sandbox::default(),
            overlays: Vec::new(),
            private: None,
        }
    }
}

/// A command to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// A line for the shell: `sh -c LINE`.
    Shell(String),
    /// A program, found on the job's `PATH`, and its arguments. Empty is an error.
    Program(Vec<OsString>),
}

impl CommandLine {
    /// Program and arguments, the shell's own included.
    pub fn arguments(&self) -> Vec<OsString> {
        match self {
            Self::Program(arguments) => arguments.clone(),
            Self::Shell(line) => ["sh".into(), "-c".into(), line.into()].to_vec(),
        }
    }

    /// Changes the line, or each word of it.
    pub fn substitute(&mut self, change: &dyn Fn(&str) -> String) {
        match self {
            Self::Shell(line) => *line = change(line),
            Self::Program(words) => {
                for word in words {
                    if let Some(text) = word.to_str() {
                        *word = change(text).into();
                    }
                }
            }
        }
    }
}

impl std::fmt::Display for CommandLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shell(line) => f.write_str(line),
            Self::Program(arguments) => {
                for (at, argument) in arguments.iter().enumerate() {
                    if at > 0 {
                        f.write_str(" ")?;
                    }
                    f.write_str(&shell_word(&argument.to_string_lossy()))?;
                }
                Ok(())
            }
        }
    }
}

/// The standard input of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: `/dev/null`.
    #[default]
    Closed,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
}

/// Time and output a command may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// From start to end.
    pub timeout: Option<Duration>,
    /// Without a byte of output.
    pub idle_timeout: Option<Duration>,
    /// Between the request to stop and the kill.
    pub grace: Duration,
    /// Bytes of both streams together; more ends the command.
    pub max_output: u64,
}

impl Limits {
    /// The default ones with a time.
    pub fn within(timeout: Duration) -> Self {
        Self {
            timeout: Some(timeout),
            ..Self::default()
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: None,
            idle_timeout: None,
            grace: Duration::from_secs(5),
            max_output: 256 << 20,
        }
    }
}

/// A folder of its own that is above another one, at the same path, for one command alone: it
/// sees what is below, and what it changes lands in `upper`. Only Linux has it, and not everywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlay {
    /// The folder that is covered, and where the command sees the whole.
    pub at: PathBuf,
    /// Folders between the two, the topmost first.
    pub layers: Vec<PathBuf>,
    /// Takes the changes: new and changed files; a deleted one as a character device 0:0; a folder
    /// that was made anew has the attribute `user.overlay.opaque`.
    pub upper: PathBuf,
    /// An empty folder of the same file system, for the kernel.
    pub work: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::CommandLine;

    #[test]
    fn quotes_command_for_shell() {
        let shown = |words: &[&str]| {
            CommandLine::Program(words.iter().map(Into::into).collect()).to_string()
        };
        assert_eq!(shown(&["npm", "test"]), "npm test");
        assert_eq!(shown(&["sh", "-c", "it's"]), r"sh -c 'it'\''s'");
        assert_eq!(shown(&["x", ""]), "x ''");
    }
}
