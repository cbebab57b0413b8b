use super::global::Global;
use super::patch_args::PatchArgs;
use super::values::Form;
use super::{AppError, Exit, Output, open};
use crate::app::{Against, PatchRequest, Recovered, Target, apply_patch, recover_apply};

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Args {
    #[command(flatten)]
    patch: PatchArgs,
    /// Change the index alone
    #[arg(long, conflicts_with_all = ["index", "tree", "commit"])]
    cached: bool,
    /// Write the tree object, print its id and change nothing else
    #[arg(long, conflicts_with = "index")]
    tree: bool,
    /// Write a commit on top of the validated revision, print its id and change nothing else
    #[arg(long, requires = "message", conflicts_with = "index")]
    commit: bool,
    /// The message of --commit
    #[arg(short = 'm', long, value_name = "MSG")]
    message: Option<String>,
    /// Finish or undo an interrupted apply
    #[arg(long, conflicts_with = "patch")]
    recover: bool,
    /// Validate and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let app = open(global, &args.patch.request)?;
    if args.recover {
        output.text(match recover_apply(&app, output)? {
            Recovered::Nothing => "nothing was interrupted\n",
            Recovered::Undone => "the interrupted apply is undone; everything is as it was\n",
        })?;
        return Ok(Exit::Yes);
    }
    if args.patch.rev.is_some() && !args.tree && !args.commit {
        return Err(AppError::usage("`--rev` goes with `--tree` or `--commit`"));
    }
    let target = match &args.message {
        _ if args.dry_run => Target::DryRun,
        _ if args.cached => Target::Cached,
        _ if args.patch.index => Target::Index,
        Some(message) if args.commit => Target::Commit(message.clone()),
        _ if args.tree || args.commit => Target::Tree,
        _ => Target::Worktree,
    };
    let shared = args.patch.request()?;
    let request = PatchRequest {
        against: match &args.patch.rev {
            None if args.cached => Against::Index,
            None if args.tree || args.commit => Against::Revision("HEAD".to_owned()),
            _ => shared.against.clone(),
        },
        ..shared
    };
    let (mut judged, written) = apply_patch(&app, &request, &target, output)?;
    args.patch.report(&request.patch, &mut judged, output)?;
    let wrote = judged.verdict.verdict.applies() && !judged.changes.is_empty();
    let place = match target {
        Target::Worktree => Some("the worktree"),
        Target::Index => Some("the worktree and the index"),
        Target::Cached => Some("the index"),
        Target::Tree | Target::Commit(_) | Target::DryRun => None,
    };
    if let Some(place) = place.filter(|_| wrote && args.patch.format == Form::Text) {
        output.data(&format!("applied to {place}\n"))?;
    }
    if let Some(id) = written.filter(|_| args.patch.format == Form::Text) {
        output.data(&format!("{id}\n"))?;
    }
    Ok(judged.verdict.exit())
}
