use super::global::Global;
use super::input;
use super::{AppError, Exit, Output, open};
use crate::app::{DiagnoseRequest, diagnose_log};
use crate::model::{DiagnosisDocument, FailureKind};
use crate::report::{diagnosis_github, diagnosis_sarif, diagnosis_text};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The log, or `-` for standard input
    #[arg(default_value = "-")]
    log: String,
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
    let request = DiagnoseRequest {
        log: input::log(&app, &args.log)?,
        exit_code: args.exit_code,
        command: args.command.clone(),
    };
    let diagnosis = diagnose_log(&app, &request, output)?;
    match args.format {
        Format::Text => output.text(&diagnosis_text(&diagnosis))?,
        Format::Json => output.json(&DiagnosisDocument::new(&diagnosis))?,
        Format::Github => output.text(&diagnosis_github(&diagnosis))?,
        Format::Sarif => output.json(&diagnosis_sarif(&diagnosis))?,
    }
    Ok(if diagnosis.kind == FailureKind::Unknown {
        Exit::No
    } else {
        Exit::Yes
    })
}
