use clap::Command;
use clap_complete::Shell;

use super::{AppError, Exit, Output};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell to write for
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints a completion script for `program`.
pub(crate) fn run(args: &Args, mut program: Command, output: &Output) -> Result<Exit, AppError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "mendit", &mut script);
    output.bytes(&script)?;
    Ok(Exit::Yes)
}
