use clap::CommandFactory as _;
use clap_complete::Shell;

use super::args::Cli;
use super::global::Global;
use super::{AppError, Exit, Output};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell to write for
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints a completion script.
pub(crate) fn run(args: &Args, _: &Global, output: &Output) -> Result<Exit, AppError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mendit", &mut script);
    output.bytes(&script)?;
    Ok(Exit::Yes)
}
