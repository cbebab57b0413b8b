use super::Exit;
use crate::git::GitError;
use crate::model::Code;
use crate::source::ReadError;

/// Why a command could not do its work: what happened, a stable code, what to do.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
    pub(crate) exit: Exit,
}

impl CliError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hints: Vec::new(),
            exit: code.exit(),
        }
    }

    /// The command line asks for something that cannot be.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::U101, message)
    }

    /// The system refused something.
    pub(crate) fn environment(message: impl Into<String>) -> Self {
        Self::new(Code::U301, message)
    }

    /// A file given on the command line cannot be read.
    pub(crate) fn unreadable(path: &str, error: &std::io::Error) -> Self {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            kind => kind.to_string(),
        };
        Self::new(Code::U302, format!("cannot read `{path}`: {why}"))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub(crate) fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

impl From<GitError> for CliError {
    fn from(error: GitError) -> Self {
        let message = error.to_string();
        match error {
            GitError::Revision { .. } => Self::new(Code::U201, message)
                .hint("name a commit, branch or tag that `git rev-parse` knows"),
            GitError::Bare => {
                Self::new(Code::U202, message).hint("say which commit to read with `--rev`")
            }
            GitError::Unreadable(_) => Self::new(Code::U203, message)
                .hint("`git fsck` says more about a damaged repository"),
        }
    }
}

impl From<ReadError> for CliError {
    fn from(error: ReadError) -> Self {
        Self::environment(format!("cannot read the directory: {error}"))
    }
}
