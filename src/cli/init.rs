use std::path::Path;

use super::{AppError, Exit, Output};
use crate::app::settings::{FILE_NAMES, commented_defaults};
use crate::app::write_file;
use crate::model::Code;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print the file instead of writing it
    #[arg(long)]
    stdout: bool,
}

/// Writes a configuration file that says every default, each commented out.
pub(crate) fn run(args: &Args, output: &Output) -> Result<Exit, AppError> {
    let text = commented_defaults();
    if args.stdout {
        output.data(&text)?;
        return Ok(Exit::Yes);
    }
    let there = |name: &&&str| Path::new(name).symlink_metadata().is_ok();
    if let Some(name) = FILE_NAMES.iter().find(there) {
        return Err(
            AppError::new(Code::U105, format!("`{name}` is already there"))
                .hint("`mendit init --stdout` prints the defaults"),
        );
    }
    let name = FILE_NAMES[0];
    write_file(Path::new(name), text)?;
    output.note(&format!("wrote {name}"));
    Ok(Exit::Yes)
}
