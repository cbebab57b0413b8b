use std::path::PathBuf;

use super::{AppError, Exit, Output};
use crate::app::compare_benches;
use crate::report::{pairs_markdown, pairs_text};

/// Compare two benches case by case.
///
/// Takes two documents that `--save` wrote, of two agents or two versions over the same cases, and
/// says which cases only one of them repaired and how likely such a difference is by chance alone
/// (the exact test for paired shares).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The first document
    #[arg(value_name = "A")]
    first: PathBuf,
    /// The second
    #[arg(value_name = "B")]
    second: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    Markdown,
}

pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, AppError> {
    let pairs = compare_benches(&args.first, &args.second)?;
    match args.format {
        Format::Text => output.text(&pairs_text(&pairs))?,
        Format::Json => output.json(&pairs)?,
        Format::Markdown => output.text(&pairs_markdown(&pairs))?,
    }
    Ok(Exit::Yes)
}
