use crate::bench::BenchError;
use crate::config::ConfigError;
use crate::context::ContextError;
use crate::exec::ExecError;
use crate::git::GitError;
use crate::heal::HealError;
use crate::model::{Code, Exit};
use crate::patch::WriteError;
use crate::policy::PolicyError;
use crate::repair::RepairError;
use crate::source::ReadError;
use crate::state::StateError;
use crate::why::WhyError;
use crate::workplace::WorkplaceError;
use crate::workspace::{SettingsError, WorkspaceError};

/// Why a task could not do its work: what happened, a stable code, what to do.
#[derive(Debug)]
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

    /// What is asked for cannot be.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::U101, message)
    }

    /// The system refused something.
    pub fn environment(message: impl Into<String>) -> Self {
        Self::new(Code::U301, message)
    }

    /// A file that was named cannot be read.
    #[must_use]
    pub fn unreadable(path: &str, error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let (why, hint) = match error.kind() {
            // A text where the file that holds it is expected.
            ErrorKind::NotFound if path.contains(char::is_whitespace) => (
                "there is no such file".to_owned(),
                "a file is expected; `-` takes what standard input holds",
            ),
            ErrorKind::NotFound => (
                "there is no such file".to_owned(),
                "the path is relative to the current directory",
            ),
            ErrorKind::IsADirectory => (error.kind().to_string(), "name a file in it"),
            ErrorKind::Other => (error.to_string(), ""),
            kind => (kind.to_string(), ""),
        };
        Self::new(Code::U302, format!("cannot read `{path}`: {why}")).maybe(hint)
    }

    /// This build lacks a feature, `mcp` or `http`.
    #[must_use]
    pub fn not_built(feature: &'static str) -> Self {
        HealError::NotBuilt(feature).into()
    }

    /// Nobody waits for the answer any more.
    pub(super) fn cancelled() -> Self {
        Self::new(Code::U301, "cancelled").exit(Exit::Interrupted)
    }

    /// A repository without files where files are needed.
    pub(super) fn bare(what: &str) -> Self {
        let message = format!("this repository is bare: it has no worktree{what}");
        Self::new(Code::U204, message)
    }

    /// Adds what to do.
    #[must_use]
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
    #[must_use]
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

impl std::fmt::Display for AppError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error[{}]: {}", self.code, self.message)?;
        for hint in &self.hints {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AppError {}

// What an error of a lower module says, its code, and what to do about it.
macro_rules! from_errors {
    ($($Error:ident: $error:ident, $code:expr => $hint:expr;)*) => {$(
        impl From<$Error> for AppError {
            fn from($error: $Error) -> Self {
                let wrapped = Self::new($code, $error.to_string());
                let hint: &str = $hint;
                wrapped.maybe(hint)
            }
        }
    )*};
}

from_errors! {
    StateError: error, error.code() => "`XDG_STATE_HOME` names another place";
    PolicyError: error, error.code() => "";
    ContextError: error, error.code() => match error {
        ContextError::BundleNotPermitted => "`--include-repo-bundle` permits it",
        ContextError::EmptyIssue => "say in words what is wrong or wanted",
        ContextError::EmptyLog => "capture standard error too: `CMD 2>&1 | mendit context --log -`",
    };
    WriteError: error, error.code() => match error {
        WriteError::Changed { .. } => "validate the patch again",
        WriteError::Interrupted => "`mendit apply --recover`",
        WriteError::Busy => "wait until it is done",
        WriteError::Foreign { .. } => "put the file back to one of its sides and recover again",
        WriteError::HalfWay { .. } => {
            "make the directories writable again, then `mendit apply --recover` puts it back"
        }
        _ => "check permissions and room on the disk, then apply again",
    };
    ExecError: error, error.code() => match error {
        ExecError::Sandbox(_) => "`--sandbox auto` without `--no-net` runs with what there is",
        _ => "",
    };
    WorkplaceError: error, error.code() => match error {
        WorkplaceError::Unavailable { .. } => "`--workplace auto` takes the best that can be had",
        _ => "",
    };
    BenchError: error, error.code() => match error {
        BenchError::None(_) => "pass a folder of fixtures; docs/bench.md says what one holds",
        BenchError::Part(_) => "`bench merge` takes what `--save` wrote in every part",
        BenchError::File(..) => "docs/bench.md lists every key",
        _ => "",
    };
    WorkspaceError: error, error.code() => match error {
        WorkspaceError::Git(error) => return error.into(),
        WorkspaceError::Read(error) => return error.into(),
        WorkspaceError::NoGit { .. } => "read the files themselves: leave out `--rev` and `--index`",
        WorkspaceError::Directory { .. } => "",
    };
    ConfigError: error, error.code => &error.hint;
    HealError: error, error.code() => match error {
        HealError::Config { .. } => "hosts write it as {\"mcpServers\": {\"NAME\": {\"command\": \"...\"}}}",
        HealError::UnknownServer { names, .. } => &format!("the file names {}", names.join(", ")),
        HealError::NotBuilt(feature) => &format!(
            "the published program has it; from a checkout: `cargo install --locked --path . --features {feature}`"
        ),
        HealError::Exec(error) => return error.into(),
        HealError::Start(_) => "check the limits on processes and open files",
    };
    RepairError: error, error.code() => match error {
        RepairError::Locked { .. } => "wait until that run ends; the lock goes away with its process",
        RepairError::Resume(_) => "start a new run without `--resume`",
        RepairError::Write { .. } => "name another folder with `--out DIR`",
        RepairError::SetUp { .. } => "run it by hand; `setup.log` holds its output",
        RepairError::Workplace(_) | RepairError::Read(_) => {
            "free the folder that the message names; `mendit config clean` lists what is kept"
        }
        RepairError::Exec(error) => return error.into(),
        RepairError::Context(error) => return error.into(),
        RepairError::Apply(error) => return error.into(),
    };
    GitError: error, match error {
        GitError::Revision { .. } => Code::U201,
        GitError::Bare => Code::U204,
        GitError::Unreadable(_) | GitError::Locked(_) => Code::U203,
    } => match error {
        GitError::Revision { revision, .. } if revision == "HEAD" => {
            "this repository has no commit yet: `git add -A && git commit -m start`"
        }
        GitError::Revision { .. } => "name a commit, branch or tag that `git rev-parse` knows",
        GitError::Bare => "say which commit to read with `--rev`",
        GitError::Unreadable(_) => "`git fsck` says more about a damaged repository",
        GitError::Locked(_) => "wait for the git that holds it; remove the lock when none runs",
    };
}

// Errors that hold those of a lower module.
macro_rules! pass_on {
    ($($Error:ident { $($kind:ident)* })*) => {$(
        impl From<$Error> for AppError {
            fn from(error: $Error) -> Self {
                match error {
                    $($Error::$kind(inner) => inner.into(),)*
                }
            }
        }
    )*};
}

pass_on! {
    SettingsError { Workspace Config }
    WhyError { Trial Git }
}

impl From<ReadError> for AppError {
    fn from(error: ReadError) -> Self {
        Self::environment(format!("cannot read the directory: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::AppError;
    use crate::model::Code;

    #[test]
    fn a_build_without_a_feature_says_so() {
        let error = AppError::not_built("mcp");
        assert_eq!(error.code, Code::R303);
        assert!(error.hints.iter().any(|hint| hint.contains("mcp")));
    }
}
