use std::path::PathBuf;

use super::args::Global;
use super::check::{PatchArgs, exit};
use super::workspace::{At, Workspace};
use super::{CliError, Exit, Output};
use crate::git::{CommitRequest, IndexChange, Repository};
use crate::model::Code;
use crate::patch::{Change, Recovered, WriteError, judge, recover, write_worktree};

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Args {
    #[command(flatten)]
    patch: PatchArgs,
    /// Judge against a commit instead of the worktree; with --tree or --commit
    #[arg(long, value_name = "REV")]
    rev: Option<String>,
    /// Change the index alone
    #[arg(long, conflicts_with_all = ["index", "tree", "commit"])]
    cached: bool,
    /// Change worktree and index, which must agree
    #[arg(long, conflicts_with_all = ["tree", "commit"])]
    index: bool,
    /// Write the tree object, print its id and change nothing else
    #[arg(long)]
    tree: bool,
    /// Write a commit on top of the revision judged, print its id and change nothing else
    #[arg(long, requires = "message")]
    commit: bool,
    /// The message of --commit
    #[arg(short = 'm', long, value_name = "MSG")]
    message: Option<String>,
    /// Merge with what the files have become, when the blobs the patch was made for are known
    #[arg(long)]
    three_way: bool,
    /// Apply the other way round
    #[arg(short = 'R', long)]
    reverse: bool,
    /// Finish or undo an interrupted apply
    #[arg(long, conflicts_with = "patch")]
    recover: bool,
    /// Judge and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    if args.recover {
        return run_recover(global, output);
    }
    let objects_only = args.tree || args.commit;
    if args.rev.is_some() && !objects_only {
        return Err(CliError::usage("`--rev` goes with `--tree` or `--commit`"));
    }
    let revision = args.rev.as_deref().or(objects_only.then_some("HEAD"));
    let at = match revision {
        _ if args.cached || args.index => At::Index,
        Some(revision) => At::Revision(revision),
        None => At::Worktree,
    };
    let workspace = Workspace::open_at(global, at, output)?;
    if workspace.root.is_none() && !objects_only && !args.cached {
        return Err(CliError::new(
            Code::new("U202"),
            "this repository is bare: it has no worktree",
        )
        .hint("write a tree or a commit instead, with `--tree` or `--commit`"));
    }
    let objects = workspace.git.as_ref().map(Repository::objects);
    let mut options = args.patch.options(objects.as_ref())?;
    options.reverse = args.reverse;
    options.three_way = args.three_way;
    let input = args.patch.read()?;
    let mut judged = judge(&input, workspace.source.as_ref(), &options);
    let mut said = Vec::new();
    if judged.verdict.verdict.applies() && !args.dry_run {
        if objects_only {
            let git = need_git(&workspace)?;
            let changes = index_changes(git, &judged.changes)?;
            let base = revision.unwrap_or("HEAD");
            let tree = git.write_tree(base, &changes)?;
            judged.verdict.tree_id = Some(tree.clone());
            said.push(match &args.message {
                Some(message) if args.commit => git.write_commit(&CommitRequest {
                    tree: &tree,
                    parent: base,
                    message,
                })?,
                _ => tree,
            });
        } else {
            write(&workspace, &judged.changes, args.cached, args.index)?;
        }
    }
    args.patch.report(&input, &mut judged, output)?;
    if args.patch.format == super::check::Format::Text {
        for line in said {
            output.data(&format!("{line}\n"))?;
        }
    }
    Ok(exit(&judged.verdict))
}

fn need_git(workspace: &Workspace) -> Result<&Repository, CliError> {
    workspace.git.as_ref().ok_or_else(|| {
        CliError::new(
            Code::new("U204"),
            "this directory is not in a git repository",
        )
        .hint(
            "apply to the files themselves, without `--cached`, `--index`, `--tree` or `--commit`",
        )
    })
}

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
        write_worktree(root, &state(workspace)?, changes)?;
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
        write_worktree(root, &state(workspace)?, &back)?;
    }
    Ok(written?)
}

fn index_changes(git: &Repository, changes: &[Change]) -> Result<Vec<IndexChange>, CliError> {
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

pub(super) fn state(workspace: &Workspace) -> Result<PathBuf, CliError> {
    let found = workspace.state_directory().map_err(|(state, error)| {
        let said = format!("cannot write `{}`: {}", state.display(), error.kind());
        CliError::new(Code::new("U303"), said)
    })?;
    found.ok_or_else(|| {
        CliError::new(
            Code::new("U202"),
            "this repository is bare: it has no worktree",
        )
    })
}

fn run_recover(global: &Global, output: &Output) -> Result<Exit, CliError> {
    let workspace = Workspace::open(global, None, output)?;
    let Some(root) = &workspace.root else {
        return Err(CliError::new(
            Code::new("U202"),
            "this repository is bare: it has no worktree",
        ));
    };
    let said = match recover(root, &state(&workspace)?)? {
        Recovered::Nothing => "nothing was interrupted",
        Recovered::Undone => "the interrupted apply had changed nothing; it is cleared away",
        Recovered::Finished => "the interrupted apply is finished",
    };
    output.data(&format!("{said}\n"))?;
    Ok(Exit::Yes)
}

impl From<WriteError> for CliError {
    fn from(error: WriteError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            WriteError::Changed { .. } => said.exit(Exit::No).hint("judge the patch again"),
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
