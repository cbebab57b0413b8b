use super::global::Global;
use super::input::whole;
use super::{AppError, Exit, Output, open};
use crate::app::{FindingRow, RedactRequest, redact_text};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The text, or `-` for standard input
    file: String,
    /// Print where the secrets are (never what they are) as JSON, and exit with 1 when there are any
    #[arg(long)]
    findings: bool,
    /// Mask the values of secret-named environment variables as well
    #[arg(
        long,
        value_enum,
        default_value = "on",
        default_missing_value = "on",
        num_args = 0..=1,
        require_equals = true
    )]
    env: Switch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    On,
    Off,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let request = RedactRequest {
        text: whole(&args.file).map_err(|error| AppError::unreadable(&args.file, &error))?,
        name: args.file.clone(),
        without_environment: args.env == Switch::Off,
    };
    let redacted = redact_text(&open(global, |_| {})?, &request, output)?;
    if !args.findings {
        output.bytes(&redacted.bytes)?;
        return Ok(Exit::Yes);
    }
    let rows = FindingRow::of(&redacted.findings);
    output.json(&rows)?;
    Ok(if rows.is_empty() { Exit::Yes } else { Exit::No })
}
