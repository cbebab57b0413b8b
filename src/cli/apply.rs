use super::global::Global;
use super::patch_args::{Format, PatchArgs, exit, say_interrupted};
use super::workspace::{At, Workspace, state_directory};
use super::write::{index_changes, need_git, write};
use super::{CliError, Exit, Output};
use crate::git::{CommitRequest, Repository};
use crate::model::Code;
use crate::patch::{Recovered, judge, recover};

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
        return Err(
            CliError::new(Code::U202, "this repository is bare: it has no worktree")
                .hint("write a tree or a commit instead, with `--tree` or `--commit`"),
        );
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
    say_interrupted(&workspace, &judged.verdict, output);
    if args.patch.format == Format::Text {
        for line in said {
            output.data(&format!("{line}\n"))?;
        }
    }
    Ok(exit(&judged.verdict))
}

fn run_recover(global: &Global, output: &Output) -> Result<Exit, CliError> {
    let workspace = Workspace::open(global, None, output)?;
    let Some(root) = &workspace.root else {
        return Err(CliError::new(
            Code::U202,
            "this repository is bare: it has no worktree",
        ));
    };
    let said = match recover(root, &state_directory(&workspace)?)? {
        Recovered::Nothing => "nothing was interrupted",
        Recovered::Undone => "the interrupted apply is undone; everything is as it was",
        Recovered::Finished => "the interrupted apply is finished",
    };
    output.data(&format!("{said}\n"))?;
    Ok(Exit::Yes)
}
