use std::io::Read as _;

use serde::Serialize;

use super::{CliError, Exit, Output, settings};
use crate::model::Profile;
use crate::policy::{Finding, ReadPolicy, ReadRules, Redactor};

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

// One row of `--findings`.
#[derive(Debug, Serialize)]
struct Row<'a> {
    rule: &'a str,
    line: u32,
    range: [usize; 2],
}

pub(crate) fn run(args: &Args, output: &Output) -> Result<Exit, CliError> {
    let bytes = read(&args.file)?;
    let redactor = match args.env {
        Switch::On => Redactor::new(std::env::vars_os().filter_map(settings::utf8)),
        Switch::Off => Redactor::default(),
    };
    let policy = ReadPolicy::new(&ReadRules::default(), Profile::Ranked)
        .map_err(|error| CliError::new(error.code(), error.to_string()))?;
    let redacted = if policy.is_credential_file(&args.file) {
        output.note("the name says that the file holds credentials, so every line is masked");
        redactor.mask_all(&bytes)
    } else {
        redactor.redact_bytes(&bytes)
    };
    if !args.findings {
        output.bytes(&redacted.bytes)?;
        return Ok(Exit::Yes);
    }
    let rows: Vec<Row<'_>> = redacted.findings.iter().map(row).collect();
    output.json(&rows)?;
    Ok(if rows.is_empty() { Exit::Yes } else { Exit::No })
}

fn row(finding: &Finding) -> Row<'_> {
    Row {
        rule: &finding.rule,
        line: finding.line,
        range: [finding.start, finding.end],
    }
}

fn read(file: &str) -> Result<Vec<u8>, CliError> {
    let read = if file == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    read.map_err(|error| CliError::unreadable(file, &error))
}
