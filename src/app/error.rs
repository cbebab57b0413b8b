use crate::bench::BenchError;
use crate::config::ConfigError;
use crate::context::ContextError;
use crate::diagnose::RuleProblem;
use crate::exec::ExecError;
use crate::git::GitError;
use crate::heal::HealError;
use crate::model::{Code, Exit};
use crate::patch::WriteError;
use crate::policy::{PolicyError, UserRuleError};
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
            ErrorKind::NotFound if path.contains(char::is_whitespace) => {
                let hint = "a file is expected; `-` takes what standard input holds";
                ("there is no such file", hint)
            }
            ErrorKind::NotFound => {
                let hint = "the path is relative to the current directory";
                ("there is no such file", hint)
            }
            ErrorKind::NotADirectory => ("it is a file", "name the folder that holds it"),
            ErrorKind::PermissionDenied => ("permission denied", "`ls -l` shows who may read it"),
            ErrorKind::IsADirectory => ("it is a directory", "name a file in it"),
            _ => ("", ""),
        };
        let why = match error.kind() {
            ErrorKind::Other => error.to_string(),
            kind if why.is_empty() => kind.to_string(),
            _ => why.to_owned(),
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
        Self::new(
            Code::U204,
            format!("this repository is bare: it has no worktree{what}"),
        )
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    fn maybe(self, hint: &str) -> Self {
        if hint.is_empty() {
            self
        } else {
            self.hint(hint)
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

// What an error of a room says, its code, and what to do by its kind.
macro_rules! from_errors {
    ($($Error:ident { $($kind:pat => $hint:expr,)* })*) => {$(
        impl From<$Error> for AppError {
            fn from(error: $Error) -> Self {
                let wrapped = Self::new(error.code(), error.to_string());
                let hint: &str = match &error {
                    $($kind => $hint,)*
                    #[allow(unreachable_patterns, reason = "some say what to do of every kind")]
                    _ => "",
                };
                wrapped.maybe(hint)
            }
        }
    )*};
}

from_errors! {
    StateError { _ => "`XDG_STATE_HOME` names another place", }
    PolicyError {}
    ContextError {
        ContextError::BundleNotPermitted => "`--include-repo-bundle` permits it",
        ContextError::EmptyIssue => "say in words what is wrong or wanted",
        ContextError::EmptyLog => "capture standard error too: `CMD 2>&1 | mendit context --log -`",
    }
    WriteError {
        WriteError::Changed { .. } => "judge the patch again",
        WriteError::Interrupted => "`mendit apply --recover`",
        WriteError::Busy => "wait until it is done",
        WriteError::Foreign { .. } => "put the file back to one of its sides and recover again",
        WriteError::HalfWay { .. } => {
            "make the directories writable again, then `mendit apply --recover` puts it back"
        },
        WriteError::Io { .. } | WriteError::RolledBack { .. } => {
            "check permissions and room on the disk, then apply again"
        },
    }
    ExecError {
        ExecError::Sandbox(_) => "`--sandbox auto` without `--no-net` runs with what there is",
    }
    WorkplaceError {
        WorkplaceError::Unavailable { .. } => "`--workplace auto` takes the best that can be had",
    }
    BenchError {
        BenchError::None { .. } => "pass a folder of fixtures; docs/bench.md says what one holds",
        BenchError::Part { .. } => "`--partition all` runs everything here; `bench merge` takes what `--save` wrote in every part",
        BenchError::File { code: Code::F401, .. } => "`bench mine` writes sets; docs/bench.md lists every key",
        BenchError::File { .. } => "docs/bench.md lists every key",
    }
}

impl From<GitError> for AppError {
    fn from(error: GitError) -> Self {
        let (code, hint) = match &error {
            GitError::Revision { revision, .. } if revision == "HEAD" => {
                let message = "this repository has no commit yet, so there is no `HEAD`";
                return Self::new(Code::U201, message)
                    .hint("commit once: `git add -A && git commit -m start`");
            }
            GitError::Revision { .. } => {
                let hint = "name a commit, branch or tag that `git rev-parse` knows";
                (Code::U201, hint)
            }
            GitError::Bare => (Code::U204, "say which commit to read with `--rev`"),
            GitError::Unreadable(_) => {
                let hint = "`git fsck` says more about a damaged repository";
                (Code::U203, hint)
            }
            GitError::Locked(_) => {
                let hint = "wait for the git that holds it; remove the lock when none runs";
                (Code::U203, hint)
            }
        };
        Self::new(code, error.to_string()).hint(hint)
    }
}

impl From<WhyError> for AppError {
    fn from(error: WhyError) -> Self {
        match error {
            WhyError::Trial(error) => error.into(),
            WhyError::Git(error) => error.into(),
        }
    }
}

impl From<ReadError> for AppError {
    fn from(error: ReadError) -> Self {
        Self::environment(format!("cannot read the directory: {error}"))
    }
}

impl From<WorkspaceError> for AppError {
    fn from(error: WorkspaceError) -> Self {
        let hint = match error {
            WorkspaceError::Git(error) => return error.into(),
            WorkspaceError::Read(error) => return error.into(),
            WorkspaceError::NoGit { .. } => {
                "read the files themselves: leave out `--rev` and `--index`"
            }
            WorkspaceError::Directory { .. } => "",
        };
        Self::new(error.code(), error.to_string()).maybe(hint)
    }
}

impl From<ConfigError> for AppError {
    fn from(error: ConfigError) -> Self {
        Self::new(error.code, error.message).maybe(&error.hint)
    }
}

impl From<UserRuleError> for AppError {
    fn from(error: UserRuleError) -> Self {
        Self::new(Code::U103, format!("`output.secret`: {error}"))
    }
}

impl From<RuleProblem> for AppError {
    fn from(error: RuleProblem) -> Self {
        Self::new(Code::U103, format!("`test.rule`: {error}"))
    }
}

impl From<SettingsError> for AppError {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::Workspace(error) => error.into(),
            SettingsError::Config(error) => error.into(),
        }
    }
}

impl From<HealError> for AppError {
    fn from(error: HealError) -> Self {
        let wrapped = Self::new(error.code(), error.to_string());
        wrapped.hint(match error {
            HealError::Config { .. } => {
                "hosts write it as {\"mcpServers\": {\"NAME\": {\"command\": \"...\"}}}".to_owned()
            }
            HealError::UnknownServer { names, .. } => {
                format!("the file names {}", names.join(", "))
            }
            HealError::NotBuilt(feature) => {
                format!("the published program has it; from a checkout: `cargo install --locked --path . --features {feature}`")
            }
            HealError::Exec(error) => return error.into(),
            HealError::Start(_) => "check the limits on processes and open files".to_owned(),
        })
    }
}

impl From<RepairError> for AppError {
    fn from(error: RepairError) -> Self {
        let wrapped = Self::new(error.code(), error.to_string());
        wrapped.hint(match error {
            RepairError::Locked { .. } => {
                "wait until that run ends; the lock goes away with its process"
            }
            RepairError::Resume(_) => "start a new run without `--resume`",
            RepairError::Write { .. } => "name another folder with `--out DIR`",
            RepairError::SetUp { .. } => "run it by hand; `setup.log` holds its output",
            RepairError::Workplace(_) | RepairError::Read(_) => {
                "free the folder that the message names; `mendit config clean` lists what is kept"
            }
            RepairError::Exec(error) => return error.into(),
            RepairError::Context(error) => return error.into(),
            RepairError::Apply(error) => return error.into(),
        })
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
