use super::global::Global;
use super::values::{Form, PLACES};
use super::{AppError, Exit, Output, open};
use crate::app::{DiagnoseRequest, Input, diagnose_log, is_piped, summarise_diagnosis};
use crate::model::{DiagnosisDocument, FailureKind};
use crate::report::{diagnosis_text, summary_github, summary_sarif};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    request: DiagnoseRequest,
    /// How to print the diagnosis
    #[arg(long, value_parser = PLACES, default_value = "text")]
    format: Form,
}

/// Says what a log tells about a failure; exits with 1 when it tells nothing, with 0 when nothing
/// failed.
pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let app = open(global, &())?;
    let mut request = args.request.clone();
    let unnamed = request.log.is_none() && request.log_flag.is_none() && request.junit.is_empty();
    if unnamed && is_piped() {
        request.log = Some(Input::standard());
    }
    let found = diagnose_log(&app, &request, output)?;
    let diagnosis = &found.diagnosis;
    let summary = || summarise_diagnosis(&app, &found, output);
    match args.format {
        Form::Json => output.json(&DiagnosisDocument::new(diagnosis))?,
        Form::Github => output.text(&summary_github(&summary()?))?,
        Form::Sarif => output.json(&summary_sarif(&summary()?))?,
        _ => output.painted(|color| diagnosis_text(diagnosis, color))?,
    }
    Ok(if diagnosis.kind == FailureKind::Unknown {
        Exit::No
    } else {
        Exit::Yes
    })
}
