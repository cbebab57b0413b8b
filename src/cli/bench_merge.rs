use std::path::PathBuf;

use super::bench_document::{Format, conclude, print, read_document};
use super::output::{to_json, write_file};
use super::{CliError, Exit, Output};
use crate::bench::{MergeError, compare, merge};

/// Join the documents that `--save` wrote in each part of one run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The documents of all parts, in any order
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Compare with what --save wrote earlier
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the joined document here
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Fail when a smaller share passes, from 0 to 1
    #[arg(long, value_name = "X")]
    min_rate: Option<f64>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, CliError> {
    let documents: Result<Vec<_>, _> = args.files.iter().map(|it| read_document(it)).collect();
    let before = args.baseline.as_deref().map(read_document).transpose()?;
    let mut document = merge(documents?)?;
    document.comparison = before.map(|before| compare(&document, &before));
    if let Some(path) = &args.save {
        write_file(path, to_json(&document)?)?;
    }
    print(&document, args.format, output)?;
    conclude(&document, args.min_rate, output)
}

impl From<MergeError> for CliError {
    fn from(error: MergeError) -> Self {
        Self::new(error.code(), error.to_string())
            .hint("give the files that `--save` wrote in every part of one run")
    }
}
