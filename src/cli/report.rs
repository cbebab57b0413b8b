use std::path::{Path, PathBuf};

use super::global::Global;
use super::workspace::Workspace;
use super::{CliError, Exit, Output, run_folder};
use crate::model::{ChildFailure, Code, RunRecord};
use crate::repair::read_run;
use crate::report::{failure_text, parse_failure_text, run_html, run_markdown, run_text};

/// Say why a run failed, or show what was tried in it.
///
/// A run is named by its folder, its name, or `latest`. A report in a file or on standard input is
/// read back, in the text form and as JSON; of several in a text the last one counts.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mendit report                                 why the latest run failed
  mendit report --format markdown               a comment for its pull request
  mendit report --format html > run.html        a page with every attempt
  mendit report report.txt --format json        the text form read back

Exit codes: 0 shown · 2 there is no such run or no report in the file")]
pub(crate) struct Args {
    /// A run's folder or name, a report's file, or `-`
    #[arg(value_name = "RUN|FILE|-", default_value = "latest")]
    what: String,
    /// How to print it; markdown and html show the run, with every attempt
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    Markdown,
    Html,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    if args.what == "-" || Path::new(&args.what).is_file() {
        let bytes = super::input::read_log(&args.what)?;
        return one_report(args, &bytes, output);
    }
    let folder = if Path::new(&args.what).is_dir() {
        PathBuf::from(&args.what)
    } else {
        let workspace = Workspace::open(global, None, output)?;
        let here = PathBuf::from(".");
        let root = workspace.root.clone().unwrap_or(here);
        run_folder::find(&args.what, &workspace, &root)?
    };
    let name = folder.display().to_string();
    let Some(record) = read_run(&folder) else {
        let log = folder.join("test.log");
        let hint = if log.is_file() {
            let log = log.display();
            format!("it is of `mendit run`; `mendit diagnose {log}` says what broke")
        } else {
            "a run that was cut off is continued with `mendit repair --resume RUN`".to_owned()
        };
        return Err(
            CliError::new(Code::U306, format!("`{name}` holds no repair that ended")).hint(hint),
        );
    };
    show(args, &record, &name, output)
}

fn show(args: &Args, run: &RunRecord, name: &str, output: &Output) -> Result<Exit, CliError> {
    match (args.format, &run.report) {
        (Format::Text, Some(report)) => output.data(&failure_text(report))?,
        (Format::Text, None) => output.data(&run_text(&run.result, name))?,
        (Format::Json, Some(report)) => output.json(report)?,
        (Format::Json, None) => output.json(&run.result)?,
        (Format::Markdown, _) => output.data(&run_markdown(run))?,
        (Format::Html, _) => output.data(&run_html(run))?,
    }
    Ok(Exit::Yes)
}

fn one_report(args: &Args, bytes: &[u8], output: &Output) -> Result<Exit, CliError> {
    let text = String::from_utf8_lossy(bytes);
    let report: Option<ChildFailure> =
        parse_failure_text(&text).or_else(|| serde_json::from_str(&text).ok());
    let Some(report) = report else {
        return Err(CliError::new(
            Code::U306,
            format!("there is no failure report in `{}`", args.what),
        )
        .hint("a report ends with a `<task_metadata>` block, or is a `report.json`"));
    };
    match args.format {
        Format::Text => output.data(&failure_text(&report))?,
        Format::Json => output.json(&report)?,
        Format::Markdown | Format::Html => {
            return Err(
                CliError::usage("a report alone has no attempts to show".to_owned())
                    .hint("name the run's folder, or use `--format text` or `--format json`"),
            );
        }
    }
    Ok(Exit::Yes)
}
