//! The command `bench` and its subcommands.

use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use super::args::{Form, Global, comment_forms, plain_forms};
use super::{AppError, Exit, Output, open_app, yes_if};
use crate::app::{
    BenchRequest, MineRequest, RealSets, bench_failure, compare_benches, merge_bench, mine_fixes,
    run_bench,
};
use crate::model::{BenchDocument, FixtureResult};
use crate::report::{bench_page, mine_text, pairs_page};

/// Measure how often repositories with a known fix are fixed
///
/// Each fixture runs in its own copy; nothing is written to FIXTURES. Commands come from the fixtures: run only
/// fixtures that you trust.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXITS)]
pub(crate) struct BenchArgs {
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
    /// Output format
    #[arg(long, value_parser = comment_forms(), default_value = "text")]
    format: Form,
}

#[derive(Debug, clap::Subcommand)]
enum BenchCommand {
    Compare(CompareArgs),
    Merge(MergeArgs),
    Mine(MineArgs),
    Real(RealArgs),
}

const EXITS: &str = include_str!("help/bench.txt").trim_ascii_end();

impl BenchArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        match &self.command {
            Some(BenchCommand::Compare(args)) => args.run(output),
            Some(BenchCommand::Merge(args)) => {
                let (baseline, save) = (args.baseline.as_deref(), args.save.as_deref());
                let document = merge_bench(&args.files, baseline, save)?;
                conclude_bench(&document, args.format, args.min_rate, output)
            }
            Some(BenchCommand::Mine(args)) => args.run(global, output),
            Some(BenchCommand::Real(args)) => {
                let real = Some(args.sets.clone());
                let request = args.how.request.clone();
                args.how.run(&BenchRequest { real, ..request }, global, output)
            }
            None => {
                let fixtures = self.fixtures.clone();
                let request = BenchRequest {
                    fixtures: fixtures.unwrap_or_else(|| "fixtures".into()),
                    ..self.how.request.clone()
                };
                self.how.run(&request, global, output)
            }
        }
    }
}

impl How {
    // Runs what is asked for and prints it.
    fn run(
        &self,
        request: &BenchRequest,
        global: &Global,
        output: &Output,
    ) -> Result<Exit, AppError> {
        let app = open_app(global, request, output)?;
        let (done, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        match run_bench(&app, request, &|outcome, all| {
            let is_bad = matches!(outcome.result, FixtureResult::Failed | FixtureResult::Error);
            let failed = failed.fetch_add(usize::from(is_bad), SeqCst) + usize::from(is_bad);
            let done = done.fetch_add(1, SeqCst) + 1;
            let id = &outcome.id;
            let step = format!("running fixtures: {done} of {all}, failed {failed}, last {id}");
            output.doing(Some(step.as_str()).filter(|_| done < all));
        })? {
            Some(document) => conclude_bench(&document, self.format, request.min_rate, output),
            None => Ok(Exit::Interrupted),
        }
    }
}

/// Prints a document and gives its exit code.
fn conclude_bench(
    document: &BenchDocument,
    format: Form,
    min_rate: Option<f64>,
    output: &Output,
) -> Result<Exit, AppError> {
    output.print_comment(format, document, bench_page)?;
    if let Some(error) = bench_failure(document, min_rate) {
        return Err(error.into());
    }
    let fixtures = document.fixtures.iter();
    let broken = fixtures.filter(|row| row.result == FixtureResult::Error).count();
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
    /// Output format
    #[arg(long, value_parser = comment_forms(), default_value = "text")]
    format: Form,
}

impl CompareArgs {
    fn run(&self, output: &Output) -> Result<Exit, AppError> {
        let pairs = compare_benches(&self.first, &self.second)?;
        output.print_comment(self.format, &pairs, pairs_page)?;
        Ok(Exit::Yes)
    }
}

/// Merge the documents that `--save` wrote for the parts of one run.
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
    /// Output format
    #[arg(long, value_parser = comment_forms(), default_value = "text")]
    format: Form,
}

/// Measure pass rates on fixes of real histories.
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

/// Search a history for fixes whose tests fail before and pass after.
///
/// Walks the first-parent line for commits that change tests and product. Each is tried in a checkout
/// of its own: the parent with the fix's tests must fail, with the fix's product pass, twice the same.
/// What holds is written to DIR/fixes.json by reference: commits, commands, files and line numbers, no
/// contents. REPO is only read, and nothing in it says what is run: that is --environment.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mendit bench mine . --environment bench.toml --to fixes --limit 20

Exit codes: 0 searched · 1 no fix was found · 2 it could not be searched · 130 interrupted")]
struct MineArgs {
    #[command(flatten)]
    request: MineRequest,
    /// Output format
    #[arg(long, value_parser = plain_forms(), default_value = "text")]
    format: Form,
}

impl MineArgs {
    fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let app = open_app(global, &self.request, output)?;
        let Some(document) = mine_fixes(&app, &self.request, &|line| {
            if !global.no_progress && !global.quiet {
                output.print_aside(|_| line.to_owned());
            }
        })?
        else {
            return Ok(Exit::Interrupted);
        };
        output.print_document(self.format, &document, |_, _| mine_text(&document))?;
        Ok(yes_if(document.kept > 0))
    }
}
