use super::global::Global;
use super::values::{COMMENT, Form};
use super::{AppError, Exit, Output, open};
use crate::app::{WhyRequest, find_cause};
use crate::model::{WhyReason, WhyVerdict};
use crate::report::{why_markdown, why_text};

/// Say which change made a command fail
///
/// Changes are taken back in a workplace and the failing tests are run again, until the smallest set is
/// known without which they pass: first what is not committed, else the commits since one at which they
/// pass. The worktree itself is not touched.
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
  mendit run pytest; mendit why             which change it was that the last run fails with
  mendit why npm test                       the same of a command
  mendit why --since v2.1                   among the commits since a release

Exit codes: 0 the cause is named, or nothing fails · 1 it is not by these changes, or not known · 2 it
could not be run · 3 the time was used up · 130 interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let mut app = open(global, &args.request)?;
    let document = find_cause(&mut app, &args.request, output)?;
    output.comment(args.format, &document, why_markdown, why_text)?;
    Ok(match (document.verdict, document.reason) {
        (WhyVerdict::Caused, _) | (_, Some(WhyReason::Passes)) => Exit::Yes,
        (_, Some(WhyReason::Interrupted)) => Exit::Interrupted,
        (_, Some(WhyReason::Budget)) => Exit::TimedOut,
        (WhyVerdict::NotRun, _) => Exit::Environment,
        _ => Exit::No,
    })
}
