use std::path::PathBuf;

use super::bench::{Format, conclude};
use super::{AppError, Exit, Output};
use crate::app::merge_bench;

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

pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, AppError> {
    let document = merge_bench(&args.files, args.baseline.as_deref(), args.save.as_deref())?;
    conclude(&document, args.format, args.min_rate, output)
}
