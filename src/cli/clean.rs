use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output, open};
use crate::app::{Clean, KeptDocument, KeptRow, clean};
use crate::report::table;

/// Show what is kept between runs, and remove it.
///
/// Runs, journals of writes, workplaces and caches are kept outside the repository, by worktree.
/// Nothing is removed while a repair holds it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Remove what is kept for worktrees that are gone
    #[arg(long)]
    gone: bool,
    /// Remove what is kept for this worktree
    #[arg(long, conflicts_with = "gone")]
    here: bool,
    /// Remove everything
    #[arg(long, conflicts_with_all = ["gone", "here"])]
    all: bool,
    /// How to print it
    #[arg(long, value_parser = PLAIN, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let what = match (args.gone, args.here, args.all) {
        (true, _, _) => Clean::Gone,
        (_, true, _) => Clean::Here,
        (_, _, true) => Clean::All,
        _ => Clean::Show,
    };
    let kept = clean(&open(global, &())?, what, output)?;
    output.document(args.format, &kept, text)?;
    Ok(Exit::Yes)
}

fn text(kept: &KeptDocument) -> String {
    if kept.repositories.is_empty() {
        return "nothing is kept\n".to_owned();
    }
    let row = |row: &KeptRow| {
        let state = match (row.removed, row.there) {
            (true, _) => "  removed",
            (_, false) => "  gone",
            _ => "",
        };
        [
            format!("{} MB", row.bytes / 1_000_000),
            format!("{} runs", row.runs),
            format!("{}{state}", row.root),
        ]
    };
    let rows: Vec<_> = kept.repositories.iter().map(row).collect();
    table(&rows, &[0, 1])
}
