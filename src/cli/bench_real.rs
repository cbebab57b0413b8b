use std::path::PathBuf;

use super::bench::{EXITS, How, perform};
use super::global::Global;
use super::{AppError, Exit, Output};
use crate::app::{BenchRequest, RealSets};

/// Say how often fixes of real histories are repaired.
///
/// Takes what `mendit bench mine` writes. Each fix is laid out from a clone below --clones, its tests
/// run in the environment that the set describes, and what a run calls fixed is judged by tests that
/// no run sees. Commands come from the sets: run only sets that you trust. Clones are only read.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub(crate) struct Args {
    /// Sets of fixes: files, or folders of such
    #[arg(value_name = "FILE|DIR", required = true)]
    sets: Vec<PathBuf>,
    /// The folder with the clones: OWNER+NAME, OWNER/NAME or NAME
    #[arg(long, value_name = "DIR")]
    clones: PathBuf,
    /// Keep checkouts and environments here, so that they are set up once
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

pub(super) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let request = BenchRequest {
        real: Some(RealSets {
            sets: args.sets.clone(),
            clones: args.clones.clone(),
            work: args.work.clone(),
        }),
        ..args.how.request()
    };
    perform(&args.how, &request, global, output)
}
