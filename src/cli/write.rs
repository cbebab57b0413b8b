use super::CliError;
use super::workspace::{Workspace, state_directory};
use crate::git::{IndexChange, Repository};
use crate::model::Code;
use crate::patch::{Change, WriteError, write_worktree};

/// Writes changes to the worktree, the index or both: all or nothing.
pub(super) fn write(
    workspace: &Workspace,
    changes: &[Change],
    cached: bool,
    index: bool,
) -> Result<(), CliError> {
    let staged = if cached || index {
        let git = need_git(workspace)?;
        Some((git, index_changes(git, changes)?))
    } else {
        None
    };
    if !cached && let Some(root) = &workspace.root {
        write_worktree(root, &state_directory(workspace)?, changes)?;
    }
    let Some((git, entries)) = staged else {
        return Ok(());
    };
    let written = git.write_index(&entries, index);
    // Files and index change together: files that the index does not follow are put back.
    if written.is_err()
        && !cached
        && let Some(root) = &workspace.root
    {
        let back: Vec<Change> = changes.iter().map(Change::undone).collect();
        write_worktree(root, &state_directory(workspace)?, &back)?;
    }
    Ok(written?)
}

/// The repository, for what cannot be done without one.
pub(super) fn need_git(workspace: &Workspace) -> Result<&Repository, CliError> {
    workspace.git.as_ref().ok_or_else(|| {
        CliError::new(Code::U204, "this directory is not in a git repository").hint(
            "apply to the files themselves, without `--cached`, `--index`, `--tree` or `--commit`",
        )
    })
}

/// The changes as entries of an index, their contents stored as blobs.
pub(super) fn index_changes(
    git: &Repository,
    changes: &[Change],
) -> Result<Vec<IndexChange>, CliError> {
    changes
        .iter()
        .map(|change| {
            let entry = match &change.after {
                Some(after) => Some((git.store_blob(&after.bytes)?, after.mode)),
                None => None,
            };
            Ok(IndexChange {
                path: change.path.clone(),
                entry,
            })
        })
        .collect()
}

impl From<WriteError> for CliError {
    fn from(error: WriteError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            WriteError::Changed { .. } => said.hint("judge the patch again"),
            WriteError::HalfWay { .. } => said.hint(
                "make the directories writable again, then `mendit apply --recover` puts it back",
            ),
            WriteError::Interrupted => said.hint("`mendit apply --recover`"),
            WriteError::Busy => said.hint("wait until it is done"),
            WriteError::Foreign { .. } => {
                said.hint("put the file back to one of its sides and recover again")
            }
            WriteError::Io { .. } | WriteError::RolledBack { .. } => {
                said.hint("check permissions and room on the disk, then apply again")
            }
        }
    }
}
