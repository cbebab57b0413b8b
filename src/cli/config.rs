use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output, open};
use crate::app::{Clean, KeptDocument, KeptRow, SettingRow, clean, show_settings};
use crate::report::table;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// How to print it
    #[arg(long, value_parser = PLAIN, default_value = "text", global = true)]
    format: Form,
}

#[derive(Debug, Clone, Copy, clap::Subcommand)]
enum Action {
    /// Print each setting, its value and its origin
    Show,
    /// List what is kept between runs, and delete it
    ///
    /// Runs, journals, isolated copies and caches are kept outside the repository, by worktree. Nothing is
    /// deleted while a fix uses it. Without a flag, nothing is deleted.
    Clean {
        /// Delete what is kept for worktrees that are gone
        #[arg(long)]
        gone: bool,
        /// Delete what is kept for this worktree
        #[arg(long, conflicts_with = "gone")]
        here: bool,
        /// Delete everything
        #[arg(long, conflicts_with_all = ["gone", "here"])]
        all: bool,
    },
}

/// Shows the settings in force, or lists and deletes what is kept.
pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let app = open(global, &())?;
    match args.action.unwrap_or(Action::Show) {
        Action::Show => output.document(args.format, &show_settings(&app), |rows| {
            rows.iter().map(setting_text).collect()
        })?,
        Action::Clean { gone, here, all } => {
            let what = match (gone, here, all) {
                (true, _, _) => Clean::Gone,
                (_, true, _) => Clean::Here,
                (_, _, true) => Clean::All,
                _ => Clean::Show,
            };
            output.document(args.format, &clean(&app, what, output)?, kept_text)?;
        }
    }
    Ok(Exit::Yes)
}

fn setting_text(row: &SettingRow) -> String {
    let value = row.value.as_ref();
    let value = value.map_or_else(|| "(unset)".to_owned(), ToString::to_string);
    format!("{} = {value}  # {}\n", row.key, row.origin)
}

fn kept_text(kept: &KeptDocument) -> String {
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
