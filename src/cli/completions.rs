use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Cli;
use super::{CliError, Exit, Output};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell to write for
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints a completion script.
pub(crate) fn run(args: &Args, output: &Output) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mendit", &mut script);
    output.bytes(&script)?;
    Ok(Exit::Yes)
}
