//! Floor 9: the command line. The only module that names clap, stdout and stderr.

mod args;
mod config;
mod error;
mod exit;
mod explain;
mod imports;
mod output;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
pub(crate) use error::CliError;
pub(crate) use exit::Exit;
pub(crate) use output::Output;

/// Parses the command line, runs the command, prints what went wrong, and says how it ended.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return args::report(&error),
    };
    let output = Output::new(cli.global.color, cli.global.quiet);
    if let Err(error) = set_threads(cli.global.threads) {
        return output.fail(&error).into();
    }
    match run(&cli, &output) {
        Ok(exit) => exit.into(),
        Err(error) => output.fail(&error).into(),
    }
}

fn run(cli: &Cli, output: &Output) -> Result<Exit, CliError> {
    let global = &cli.global;
    match &cli.command {
        Command::Config(args) => config::run(args, global, output),
        Command::Explain(args) => explain::run(args, output),
        Command::Imports(args) => imports::run(args, global, output),
    }
}

fn set_threads(threads: Option<usize>) -> Result<(), CliError> {
    let Some(threads) = threads else {
        return Ok(());
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|error| CliError::environment(format!("cannot start {threads} threads: {error}")))
}
