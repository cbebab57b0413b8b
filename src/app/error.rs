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
        let (why, hint) = match error.kind() {
            // A text where the file that holds it is expected.
            std::io::ErrorKind::NotFound if path.contains(char::is_whitespace) => (
                "there is no such file".to_owned(),
                "a file is expected; `-` takes what standard input holds",
            ),
            std::io::ErrorKind::NotADirectory => {
                ("it is a file".to_owned(), "name the folder that holds it")
            }
            std::io::ErrorKind::PermissionDenied => (
                "permission denied".to_owned(),
                "`ls -l` shows who may read it",
            ),
            std::io::ErrorKind::NotFound => (
                "there is no such file".to_owned(),
                "check its path, which starts where you stand",
            ),
            std::io::ErrorKind::IsADirectory => {
                ("it is a directory".to_owned(), "name a file in it")
            }
            std::io::ErrorKind::Other => (error.to_string(), ""),
            kind => (kind.to_string(), ""),
        };
        let said = Self::new(Code::U302, format!("cannot read `{path}`: {why}"));
        if hint.is_empty() {
            said
        } else {
            said.hint(hint)
        }
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
            Code::U202,
            format!("this repository is bare: it has no worktree{what}"),
        )
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
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

impl From<GitError> for AppError {
    fn from(error: GitError) -> Self {
        let message = error.to_string();
        match error {
            GitError::Revision { revision, .. } if revision == "HEAD" => {
                let said = "this repository has no commit yet, so there is no `HEAD`";
                Self::new(Code::U201, said).hint("commit once: `git add -A && git commit -m start`")
            }
            GitError::Revision { .. } => Self::new(Code::U201, message)
                .hint("name a commit, branch or tag that `git rev-parse` knows"),
            GitError::Bare => {
                Self::new(Code::U202, message).hint("say which commit to read with `--rev`")
            }
            GitError::Unreadable(_) => Self::new(Code::U203, message)
                .hint("`git fsck` says more about a damaged repository"),
            GitError::Locked(_) => Self::new(Code::U203, message)
                .hint("wait for the git that holds it; remove the lock when none runs"),
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
        match error {
            WorkspaceError::Git(error) => error.into(),
            WorkspaceError::Read(error) => error.into(),
            error @ WorkspaceError::NoGit { .. } => Self::new(error.code(), error.to_string())
                .hint("read the files themselves: leave out `--rev` and `--index`"),
            error @ WorkspaceError::Directory { .. } => Self::new(error.code(), error.to_string()),
        }
    }
}

impl From<ConfigError> for AppError {
    fn from(error: ConfigError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error.hint() {
            Some(hint) => said.hint(hint),
            None => said,
        }
    }
}

impl From<UserRuleError> for AppError {
    fn from(error: UserRuleError) -> Self {
        Self::new(Code::U103, format!("`secrets.rule`: {error}"))
    }
}

impl From<RuleProblem> for AppError {
    fn from(error: RuleProblem) -> Self {
        Self::new(Code::U103, format!("`diagnose.rule`: {error}"))
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

impl From<StateError> for AppError {
    fn from(error: StateError) -> Self {
        Self::new(error.code(), error.to_string()).hint("`XDG_STATE_HOME` names another place")
    }
}

impl From<PolicyError> for AppError {
    fn from(error: PolicyError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<ContextError> for AppError {
    fn from(error: ContextError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            ContextError::BundleNotPermitted => said.hint("`--include-repo-bundle` permits it"),
            ContextError::EmptyIssue => said.hint("say in words what is wrong or wanted"),
            ContextError::EmptyLog => {
                said.hint("capture standard error too: `CMD 2>&1 | mendit context --log -`")
            }
        }
    }
}

impl From<WriteError> for AppError {
    fn from(error: WriteError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            WriteError::Changed { .. } => said.hint("judge the patch again"),
            WriteError::Interrupted => said.hint("`mendit apply --recover`"),
            WriteError::Busy => said.hint("wait until it is done"),
            WriteError::Foreign { .. } => {
                said.hint("put the file back to one of its sides and recover again")
            }
            WriteError::HalfWay { .. } => said.hint(
                "make the directories writable again, then `mendit apply --recover` puts it back",
            ),
            WriteError::Io { .. } | WriteError::RolledBack { .. } => {
                said.hint("check permissions and room on the disk, then apply again")
            }
        }
    }
}

impl From<ExecError> for AppError {
    fn from(error: ExecError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            ExecError::Sandbox(_) => {
                said.hint("`--sandbox auto` without `--no-net` runs with what there is")
            }
            _ => said,
        }
    }
}

impl From<WorkplaceError> for AppError {
    fn from(error: WorkplaceError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            WorkplaceError::Unavailable { .. } => {
                said.hint("`--workplace auto` takes the best that can be had")
            }
            _ => said,
        }
    }
}

impl From<HealError> for AppError {
    fn from(error: HealError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            HealError::Config { .. } => {
                said.hint("hosts write it as {\"mcpServers\": {\"NAME\": {\"command\": \"...\"}}}")
            }
            HealError::UnknownServer { known, .. } => {
                said.hint(format!("the file names {}", known.join(", ")))
            }
            HealError::NotBuilt(feature) => said.hint(format!(
                "build it with the feature `{feature}`, which is on by default"
            )),
            HealError::Exec(error) => error.into(),
            HealError::Start(_) => said.hint("check the limits on processes and open files"),
        }
    }
}

impl From<RepairError> for AppError {
    fn from(error: RepairError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            RepairError::Locked { .. } => {
                said.hint("wait until that run ends; the lock goes away with its process")
            }
            RepairError::Resume(_) => said.hint("start a new run without `--resume`"),
            RepairError::Write { .. } => said.hint("name another folder with `--out DIR`"),
            RepairError::SetUp { .. } => said.hint("run it by hand; `setup.log` holds its output"),
            RepairError::Workplace(_) | RepairError::Read(_) => {
                said.hint("name another place with `--scratch DIR`")
            }
            RepairError::Exec(error) => error.into(),
            RepairError::Context(error) => error.into(),
            RepairError::Apply(error) => error.into(),
        }
    }
}

impl From<BenchError> for AppError {
    fn from(error: BenchError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            BenchError::None { .. } => said.hint("`mendit bench new FROM` makes one"),
            BenchError::Part { code, .. } => said.hint(match code {
                Code::F305 => "`--partition all` runs everything here",
                _ => "give the files that `--save` wrote in every part of one run",
            }),
            BenchError::File { code, .. } => said.hint(match code {
                Code::F401 => "docs/real-history.md lists every key",
                Code::F402 => "`mendit bench mine` writes one",
                _ => "docs/bench.md lists every key",
            }),
            _ => said,
        }
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
