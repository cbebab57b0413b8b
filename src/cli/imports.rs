use super::global::Global;
use super::{AppError, Exit, Output, open};
use crate::app::{ImportsRequest, list_imports};
use crate::report::{imports_paths, imports_text};

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct Args {
    /// Files, or directories whose source files are meant
    #[arg(value_name = "FILE", required_unless_present_any = ["graph", "changed"])]
    files: Vec<String>,
    /// How many imports away files may be [default: 1; any with `--changed` or `--tests`]
    #[arg(long, value_name = "N")]
    hops: Option<u32>,
    /// Who imports the files, instead of what they import
    #[arg(long, conflicts_with = "graph")]
    reverse: bool,
    /// What the files that differ from this commit can reach: their importers and those of them
    #[arg(long, value_name = "BASE", conflicts_with_all = ["graph", "files", "rev"])]
    changed: Option<String>,
    /// Only tests, of what imports the files; as text a path on each line
    #[arg(long, conflicts_with = "graph")]
    tests: bool,
    /// Every source file of the repository
    #[arg(long, conflicts_with = "files")]
    graph: bool,
    /// Follow each imported name to the file that defines it
    #[arg(long)]
    symbols: bool,
    /// Neither use nor fill the cache of parsed files
    #[arg(long)]
    no_cache: bool,
    /// Read a commit instead of the worktree
    #[arg(long, value_name = "REV")]
    rev: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let far = args.changed.is_some() || args.tests;
    let request = ImportsRequest {
        // The whole repository is what is meant when no file is named, and `--graph` allows that.
        files: args.files.clone(),
        hops: args.hops.unwrap_or(if far { u32::MAX } else { 1 }),
        reverse: args.reverse || far,
        changed: args.changed.clone(),
        tests: args.tests,
        symbols: args.symbols,
        no_cache: args.no_cache,
        rev: args.rev.clone(),
    };
    let document = list_imports(&open(global, |_| {})?, &request, output)?;
    match args.format {
        Format::Json => output.json(&document)?,
        Format::Text if args.tests => output.text(&imports_paths(&document))?,
        Format::Text => output.text(&imports_text(&document))?,
    }
    Ok(Exit::Yes)
}
