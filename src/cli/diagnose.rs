use super::global::Global;
use super::input::read_log;
use super::workspace::Workspace;
use super::{CliError, Exit, Output};
use crate::diagnose::{LogFacts, diagnose};
use crate::git::Repository;
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
pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let log = read_log(&args.log)?;
    let facts = LogFacts {
        exit_code: args.exit_code,
        command: args.command.clone(),
        timed_out: false,
    };
    // Outside a repository there is nothing to map paths into.
    let inside = std::env::current_dir()
        .ok()
        .and_then(|directory| Repository::discover(&directory).ok().flatten())
        .is_some();
    let workspace = inside
        .then(|| Workspace::open(global, None, output))
        .transpose()?;
    let listing = workspace
        .as_ref()
        .map(|workspace| workspace.source.listing());
    let diagnosis = diagnose(&String::from_utf8_lossy(&log), &facts, listing);
    match args.format {
        Format::Text => output.data(&diagnosis_text(&diagnosis))?,
        Format::Json => output.json(&DiagnosisDocument::new(&diagnosis))?,
        Format::Github => output.data(&diagnosis_github(&diagnosis))?,
        Format::Sarif => output.json(&diagnosis_sarif(&diagnosis))?,
    }
    Ok(if diagnosis.kind == FailureKind::Unknown {
        Exit::No
    } else {
        Exit::Yes
    })
}
