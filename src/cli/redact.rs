use super::global::Global;
use super::{AppError, Exit, Output, open};
use crate::app::{RedactRequest, redact_text};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print where the secrets are (never what they are) as JSON, and exit with 1 when there are any
    #[arg(long)]
    findings: bool,
    #[command(flatten)]
    request: RedactRequest,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let masked = redact_text(&open(global, &())?, &args.request, output)?;
    if !args.findings {
        output.bytes(&masked.bytes)?;
        return Ok(Exit::Yes);
    }
    output.json(&masked.findings)?;
    Ok(if masked.findings.is_empty() {
        Exit::Yes
    } else {
        Exit::No
    })
}
