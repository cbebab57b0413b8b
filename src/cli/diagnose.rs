use super::global::Global;
use super::input;
use super::{AppError, Exit, Output, open};
use crate::app::{DiagnoseRequest, Log, diagnose_log, no_run, summarise_diagnosis};
use crate::model::{DiagnosisDocument, FailureKind};
use crate::report::{diagnosis_text, summary_github, summary_sarif};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The log, or `-` for standard input; without one, what is piped in, else the last run
    log: Option<String>,
    /// The same as LOG
    #[arg(long = "log", value_name = "FILE", conflicts_with = "log")]
    log_flag: Option<String>,
    /// A report of the tests in the form of `JUnit`; can be given again
    #[arg(long, value_name = "FILE")]
    junit: Vec<String>,
    /// The exit code of the command that wrote it; a negative number is a signal
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    exit_code: Option<i32>,
    /// The command that wrote it
    #[arg(long, value_name = "CMD")]
    command: Option<String>,
    /// How to print the diagnosis
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    /// A workflow command of GitHub Actions
    Github,
    Sarif,
}

/// Says what a log tells about a failure; exits with 1 when it tells nothing, with 0 when nothing
/// failed.
pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let app = open(global, |_| {})?;
    let named = args.log.as_ref().or(args.log_flag.as_ref());
    let (log, last) = match named {
        Some(path) => (input::log(&app, path, output)?, None),
        None if !args.junit.is_empty() => (Log::default(), None),
        None if input::is_piped() => (input::log(&app, "-", output)?, None),
        None => {
            let last = input::last(&app, output)?.ok_or_else(no_run)?;
            (last.log.clone(), Some(last))
        }
    };
    let last = last.as_ref();
    let request = DiagnoseRequest {
        log,
        reports: input::reports(&args.junit, output)?,
        exit_code: args.exit_code.or(last.and_then(|it| it.exit_code)),
        timed_out: args.exit_code.is_none() && last.is_some_and(|it| it.timed_out),
        command: (args.command.clone()).or_else(|| last.and_then(|it| it.command.clone())),
    };
    let diagnosis = diagnose_log(&app, &request, output)?;
    let command = request.command.as_deref();
    let summary = || summarise_diagnosis(&app, &diagnosis, command, output);
    match args.format {
        Format::Text => output.painted(|color| diagnosis_text(&diagnosis, color))?,
        Format::Json => output.json(&DiagnosisDocument::new(&diagnosis))?,
        Format::Github => output.text(&summary_github(&summary()?))?,
        Format::Sarif => output.json(&summary_sarif(&summary()?))?,
    }
    Ok(if diagnosis.kind == FailureKind::Unknown {
        Exit::No
    } else {
        Exit::Yes
    })
}
