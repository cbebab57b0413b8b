use std::path::PathBuf;

use super::args::Global;
use super::{AppError, Exit, Output};
use crate::app::{GitApplyRequest, Verbosity, git_apply};

/// The flags of `git apply`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    request: GitApplyRequest,
    /// Work as if started in DIR, as -C is git's own here
    #[arg(
        hide_short_help = true,
        id = "directory",
        long = "work-directory",
        value_name = "DIR"
    )]
    // It takes the place of the global flag of this name.
    _work_directory: Option<PathBuf>,
}

impl Args {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let verbosity = match (global.quiet, global.verbose > 0 || self.request.reject) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        let done = git_apply(&self.request, verbosity)?;
        output.print_bytes(&done.stdout)?;
        output.raw_error(&done.stderr);
        if let Some(error) = done.unread {
            return Err(error);
        }
        Ok(match done.exit {
            0 => Exit::Yes,
            1 => Exit::No,
            code => Exit::Git(code),
        })
    }
}
