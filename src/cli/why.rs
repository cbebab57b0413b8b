use super::global::Global;
use super::values::Flag as _;
use super::{AppError, Exit, Output, open};
use crate::app::settings::{Seconds, Settings};
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
    /// The command that fails, instead of that of the last `mendit run`
    #[arg(value_name = "CMD", trailing_var_arg = true)]
    command: Vec<std::ffi::OsString>,
    /// A revision at which it passed
    #[arg(long, value_name = "REV")]
    since: Option<String>,
    /// Time for all trials together, such as `2m`
    #[arg(long, value_name = "S")]
    budget_seconds: Option<Seconds>,
    /// Runs at most
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_runs: u32,
    /// Hand this variable on to the command: NAME or NAME=VALUE; can be given again
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Time for one run of the command, such as `10m`
    #[arg(long, value_name = "S")]
    timeout: Option<Seconds>,
    /// How to print the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// The document `why`.
    Json,
    /// For a comment.
    Markdown,
}

const EXITS: &str = "Examples:
  mendit run pytest; mendit why             which change it was that the last run fails with
  mendit why npm test                       the same of a command
  mendit why --since v2.1                   among the commits since a release

Exit codes: 0 the cause is named, or nothing fails · 1 it is not by these changes, or not known · 2 it
could not be run · 3 the time was used up · 130 interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let mut app = open(global, |settings| args.merge(settings))?;
    let request = WhyRequest {
        command: args.command.clone(),
        since: args.since.clone(),
        seconds: args.budget_seconds.map(|it| it.0.as_secs_f64()),
        max_runs: args.max_runs,
    };
    let document = find_cause(&mut app, &request, output)?;
    match args.format {
        Format::Json => output.json(&document)?,
        Format::Markdown => output.text(&why_markdown(&document))?,
        Format::Text => output.painted(|color| why_text(&document, color))?,
    }
    Ok(match (document.verdict, document.reason) {
        (WhyVerdict::Caused, _) | (_, Some(WhyReason::Passes)) => Exit::Yes,
        (_, Some(WhyReason::Interrupted)) => Exit::Interrupted,
        (_, Some(WhyReason::Budget)) => Exit::TimedOut,
        (WhyVerdict::NotRun, _) => Exit::Environment,
        _ => Exit::No,
    })
}

impl Args {
    fn merge(&self, settings: &mut Settings) {
        settings.test.env.extend_from_slice(&self.env);
        self.timeout.over(&mut settings.test.timeout);
    }
}
