use std::path::{Path, PathBuf};

use super::global::Global;
use super::{CliError, Output};
use crate::model::Code;
use crate::workspace::WorkspaceError;
pub(crate) use crate::workspace::{At, Workspace};

impl Workspace {
    /// Opens what `-C` or the current directory is in; `revision` reads a commit instead of the
    /// worktree.
    pub(crate) fn open(
        global: &Global,
        revision: Option<&str>,
        output: &Output,
    ) -> Result<Self, CliError> {
        Self::open_at(global, revision.map_or(At::Worktree, At::Revision), output)
    }

    /// The same, reading what `at` says.
    pub(crate) fn open_at(global: &Global, at: At<'_>, output: &Output) -> Result<Self, CliError> {
        let workspace = Self::at(Path::new("."), at, global.threads.unwrap_or(0))?;
        if workspace
            .git
            .as_ref()
            .is_some_and(crate::git::Repository::is_foreign)
        {
            output.note(
                "another user owns this repository; it is read without trusting its configuration \
                 (`git config --global --add safe.directory DIR` says that you trust it)",
            );
        }
        Ok(workspace)
    }
}

/// The directory a command works in, absolute, with symlinks resolved.
pub(crate) fn directory() -> Result<PathBuf, CliError> {
    let here = Path::new(".");
    here.canonicalize().map_err(|error| {
        WorkspaceError::Directory {
            path: here.to_owned(),
            reason: error.kind(),
        }
        .into()
    })
}

/// Where this program keeps its state for the worktree.
pub(super) fn state_directory(workspace: &Workspace) -> Result<PathBuf, CliError> {
    let found = workspace.state_directory().map_err(|(state, error)| {
        let said = format!("cannot write `{}`: {}", state.display(), error.kind());
        CliError::new(Code::U303, said)
    })?;
    found.ok_or_else(|| CliError::new(Code::U202, "this repository is bare: it has no worktree"))
}

impl From<WorkspaceError> for CliError {
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
