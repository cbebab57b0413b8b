use super::global::Global;
use super::values::{COMMENT, Form};
use super::{AppError, Exit, Output, open};
use crate::app::{WhyRequest, find_cause};
use crate::model::{WhyReason, WhyVerdict};
use crate::report::why_page;

/// Find the change that broke the tests
///
/// mendit reverts changes in an isolated copy and reruns the failing tests until it finds the smallest set of
/// changes whose revert makes them pass: uncommitted changes first, otherwise commits since a good one. The
/// worktree is not touched.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub(crate) struct Args {
    #[command(flatten)]
    request: WhyRequest,
    /// How to print the answer
    #[arg(long, value_parser = COMMENT, default_value = "text")]
    format: Form,
}

const EXITS: &str = "Examples:
  mendit run pytest; mendit why             the change that broke the last run
  mendit why npm test                       the change that broke a command
  mendit why --since v2.1                   among the commits since a release

Exit codes: 0 culprit found, or nothing fails · 1 not by these changes, or unknown · 2 it could not
run · 3 out of time or runs · 130 interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let mut app = open(global, &args.request)?;
    let document = find_cause(&mut app, &args.request, output)?;
    output.comment(args.format, &document, why_page)?;
    Ok(match (document.verdict, document.reason) {
        (WhyVerdict::Caused, _) | (_, Some(WhyReason::Passes)) => Exit::Yes,
        (_, Some(WhyReason::Interrupted)) => Exit::Interrupted,
        (_, Some(WhyReason::Budget)) => Exit::TimedOut,
        (WhyVerdict::NotRun, _) => Exit::Environment,
        _ => Exit::No,
    })
}
