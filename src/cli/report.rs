//! The command `report`.

use std::io::IsTerminal as _;
use std::path::Path;

use super::args::Global;
use super::{AppError, Exit, Output, open_app, yes_if};
use crate::app::{KeptRun, Reported, add_up_runs, find_run, holds_runs, share};
use crate::model::RunRecord;
use crate::report::{failure_text, kept_summary, rates_page, run_html, run_markdown, run_text};

/// Report why a run failed and what was tried, or the rates of several runs
///
/// Name a run by its folder, its name, or `latest`. Several folders, or a folder of runs, are
/// aggregated: how many failures were fixed, by kind.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mendit report                                 why the latest run failed
  mendit report --format markdown               a comment for its pull request
  mendit report --format html > run.html        a page with every attempt
  mendit report --format text                   for the agent that started it
  mendit report .mendit/runs                    the rates of all runs

Exit codes: 0 printed · 1 more failures stay unfixed than --alert-rate allows · 2 no such run or report")]
pub(crate) struct ReportArgs {
    /// A run's folder or name, or folders of runs
    #[arg(value_name = "RUN|DIR", default_value = "latest")]
    what: Vec<String>,
    /// Only runs that ended in the last N days
    #[arg(long, value_name = "DAYS")]
    since: Option<u64>,
    /// Exit with 1 if a larger share of failures stays unfixed (0 to 1)
    #[arg(long, value_name = "X", value_parser = share)]
    alert_rate: Option<f64>,
    /// Output format [default: summary on a terminal and where no agent was asked, else text]; markdown
    /// and html show every attempt
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Summary,
    /// For the agent that started it: of a run that failed, `report.txt`
    Text,
    /// For programs
    Json,
    /// For a pull request
    Markdown,
    /// A page
    Html,
}

impl ReportArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let named = match self.what.as_slice() {
            [one] if !self.adds_up() && !holds_runs(Path::new(one)) => one,
            folders => return self.show_rates(folders, output),
        };
        match find_run(&open_app(global, &(), output)?, named)? {
            Reported::Command(run, name) => self.show_command(&run, &name, output)?,
            Reported::Run(run, name) => self.show_run(&run, &name, output)?,
        }
        Ok(Exit::Yes)
    }

    // Whether a flag asks for rates.
    fn adds_up(&self) -> bool {
        self.since.is_some() || self.alert_rate.is_some()
    }

    fn format(&self) -> Format {
        let on_terminal = std::io::stdout().is_terminal();
        let usual = [Format::Text, Format::Summary][usize::from(on_terminal)];
        self.format.unwrap_or(usual)
    }

    fn show_rates(&self, folders: &[String], output: &Output) -> Result<Exit, AppError> {
        let rates = add_up_runs(folders, self.since, self.alert_rate)?;
        if rates.runs == 0 {
            output.note("no finished run in it; a worktree's runs are in `.mendit/runs`");
        }
        match self.format {
            Some(Format::Json) => output.print_json(&rates)?,
            Some(Format::Markdown) => output.print_text(&rates_page(&rates).markdown())?,
            Some(Format::Html) => return Err(no_page("html and summary show one run only")),
            _ => output.print_text(&rates_page(&rates).text(false))?,
        }
        if let Some(alarm) = &rates.alarm {
            output.note(&format!("alarm: {alarm}"));
        }
        Ok(yes_if(rates.alarm.is_none()))
    }

    fn show_run(&self, run: &RunRecord, name: &str, output: &Output) -> Result<(), AppError> {
        // No agent failed where none was asked, so that none waits for the block.
        let format = match self.format {
            None if run.result.agent_calls == 0 => Format::Summary,
            _ => self.format(),
        };
        match (format, &run.report) {
            (Format::Text, Some(report)) => output.print_text(&failure_text(report)),
            (Format::Summary | Format::Text, _) => output.print_text(&run_text(&run.result, name)),
            (Format::Json, Some(report)) => output.print_json(report),
            (Format::Json, None) => output.print_json(&run.result),
            (Format::Markdown, _) => output.print_text(&run_markdown(run)),
            (Format::Html, _) => output.print_text(&run_html(run)),
        }
    }

    fn show_command(&self, run: &KeptRun, name: &str, output: &Output) -> Result<(), AppError> {
        match self.format() {
            Format::Json => output.print_json(&run.record),
            Format::Summary | Format::Text => output.print_painted(|color| {
                let mut text = format!("`{}`: {}\n", run.command().unwrap_or_default(), run.end());
                if let Some(summary) = run.summary() {
                    text.push_str(&format!("{}: {}\n", summary.kind, summary.explanation));
                    text.push_str(&kept_summary(&summary, true, color));
                }
                text + &format!("run      {name}\n")
            }),
            Format::Markdown | Format::Html => {
                let error =
                    no_page("the last run did not try a fix, so there are no attempts to show");
                Err(error.hint("run `mendit fix` to try one"))
            }
        }
    }
}

fn no_page(message: &str) -> AppError {
    AppError::usage(message).hint("`--format text` and `--format json` show it")
}
