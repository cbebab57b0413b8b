use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use super::global::Global;
use super::values::{COMMENT, Form};
use super::{AppError, Exit, Output, bench_mine, open};
use crate::app::{
    App, BenchRequest, RealSets, bench_failure, broken_fixtures, compare_benches, merge_bench,
    run_bench,
};
use crate::model::{BenchDocument, FixtureOutcome, FixtureResult};
use crate::report::{bench_page, pairs_page};

/// Measure how often repositories with a known fix are fixed
///
/// Each fixture runs in its own copy; nothing is written to FIXTURES. Commands come from the fixtures: run only
/// fixtures that you trust.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXITS)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<BenchCommand>,
    /// A folder of fixtures, or one of them
    #[arg(value_name = "FIXTURES", required = true)]
    fixtures: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

/// Flags that `bench` and `bench real` share.
#[derive(Debug, clap::Args)]
struct How {
    #[command(flatten)]
    request: BenchRequest,
    /// How to print it
    #[arg(long, value_parser = COMMENT, default_value = "text")]
    format: Form,
}

#[derive(Debug, clap::Subcommand)]
enum BenchCommand {
    Compare(CompareArgs),
    Merge(MergeArgs),
    Mine(bench_mine::Args),
    Real(RealArgs),
}

const EXITS: &str = "Exit codes: 0 as expected · 1 a regression, an unsafe fix, a trick accepted as a \
fix, or a rate below --min-rate · 2 it could not run · 5 something forbidden left the run \
· 130 interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    match &args.command {
        Some(BenchCommand::Compare(args)) => return compare(args, output),
        Some(BenchCommand::Merge(args)) => return merge_parts(args, output),
        Some(BenchCommand::Mine(args)) => return bench_mine::run(args, global, output),
        Some(BenchCommand::Real(args)) => return real_fixes(args, global, output),
        None => {}
    }
    let request = BenchRequest {
        fixtures: args.fixtures.clone().unwrap_or_else(|| "fixtures".into()),
        ..args.how.request.clone()
    };
    let app = open(global, &request)?;
    perform(&app, &request, args.how.format, output)
}

/// Runs what is asked for and prints it.
fn perform(
    app: &App,
    request: &BenchRequest,
    format: Form,
    output: &Output,
) -> Result<Exit, AppError> {
    let (done, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let report = |outcome: &FixtureOutcome, all: usize| {
        let is_bad = matches!(outcome.result, FixtureResult::Failed | FixtureResult::Error);
        let failed = failed.fetch_add(usize::from(is_bad), SeqCst) + usize::from(is_bad);
        let done = done.fetch_add(1, SeqCst) + 1;
        let message = format!(
            "running fixtures: {done} of {all}, failed {failed}, last {}",
            outcome.id
        );
        output.doing(Some(message.as_str()).filter(|_| done < all));
    };
    match run_bench(app, request, &report)? {
        Some(document) => conclude(&document, format, request.min_rate, output),
        None => Ok(Exit::Interrupted),
    }
}

/// Prints a document and gives its exit code.
fn conclude(
    document: &BenchDocument,
    format: Form,
    min_rate: Option<f64>,
    output: &Output,
) -> Result<Exit, AppError> {
    output.comment(format, document, bench_page)?;
    if let Some(error) = bench_failure(document, min_rate) {
        return Err(error);
    }
    let broken = broken_fixtures(document);
    if broken > 0 {
        output.note(&format!("fixtures that could not be run: {broken}"));
        return Ok(Exit::Environment);
    }
    Ok(Exit::Yes)
}

/// Compare two benches case by case.
///
/// Takes two documents that `--save` wrote, of two agents or two versions over the same cases, and
/// says which cases only one of them repaired and how likely such a difference is by chance alone
/// (the exact test for paired shares).
#[derive(Debug, clap::Args)]
struct CompareArgs {
    /// The first document
    #[arg(value_name = "A")]
    first: PathBuf,
    /// The second
    #[arg(value_name = "B")]
    second: PathBuf,
    /// How to print it
    #[arg(long, value_parser = COMMENT, default_value = "text")]
    format: Form,
}

fn compare(args: &CompareArgs, output: &Output) -> Result<Exit, AppError> {
    let pairs = compare_benches(&args.first, &args.second)?;
    output.comment(args.format, &pairs, pairs_page)?;
    Ok(Exit::Yes)
}

/// Join the documents that `--save` wrote in each part of one run.
#[derive(Debug, clap::Args)]
struct MergeArgs {
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
    #[arg(long, value_parser = COMMENT, default_value = "text")]
    format: Form,
}

fn merge_parts(args: &MergeArgs, output: &Output) -> Result<Exit, AppError> {
    let document = merge_bench(&args.files, args.baseline.as_deref(), args.save.as_deref())?;
    conclude(&document, args.format, args.min_rate, output)
}

/// Measure how often fixes of real histories are fixed again.
///
/// Takes what `mendit bench mine` writes. Each fix is checked out from a clone below --clones, its tests run in
/// the environment that the set describes, and hidden tests confirm each fix. Commands come from the sets: run
/// only sets that you trust. Clones are only read.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
struct RealArgs {
    #[command(flatten)]
    sets: RealSets,
    #[command(flatten)]
    how: How,
}

fn real_fixes(args: &RealArgs, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let request = BenchRequest {
        real: Some(args.sets.clone()),
        ..args.how.request.clone()
    };
    let app = open(global, &request)?;
    perform(&app, &request, args.how.format, output)
}
