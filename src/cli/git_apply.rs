use std::path::PathBuf;

use super::args::Global;
use super::{AppError, Exit, Output};
use crate::app::{FATAL, GitApplyOptions, Input, Verbosity, WhiteSpace, git_apply};

/// The flags of `git apply`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of git")]
pub(crate) struct Args {
    /// Patches; none or `-` reads standard input
    #[arg(value_name = "PATCH")]
    patches: Vec<String>,
    /// Check whether it applies, and change nothing
    #[arg(long)]
    check: bool,
    /// Change worktree and index, which must agree
    #[arg(long)]
    index: bool,
    /// Change the index alone
    #[arg(long)]
    cached: bool,
    /// Apply the patch in reverse
    #[arg(short = 'R', long)]
    reverse: bool,
    /// Strip N leading components from names [default: 1]
    #[arg(short = 'p', value_name = "N")]
    strip: Option<usize>,
    /// Lines of context that must match; all when not given
    #[arg(short = 'C', value_name = "N")]
    min_context: Option<usize>,
    /// Apply hunks without context
    #[arg(long)]
    unidiff_zero: bool,
    /// Count the lines of hunks anew
    #[arg(long)]
    recount: bool,
    /// Let white space in context differ
    #[arg(long, alias = "ignore-space-change")]
    ignore_whitespace: bool,
    /// How to treat whitespace errors in added lines: nowarn, warn, fix, error or error-all
    #[arg(long, value_name = "ACTION", value_parser = white_space)]
    whitespace: Option<WhiteSpace>,
    /// Put DIR before every name
    #[arg(id = "below", long = "directory", value_name = "DIR")]
    below: Option<String>,
    /// Work as if started in DIR, as -C is git's own here
    #[arg(
        hide_short_help = true,
        id = "directory",
        long = "work-directory",
        value_name = "DIR"
    )]
    // It takes the place of the global flag of this name.
    _work_directory: Option<PathBuf>,
    /// An input without a patch is no error
    #[arg(hide_short_help = true, long)]
    allow_empty: bool,
    /// Taken for git's sake: binary patches always apply
    #[arg(hide_short_help = true, long, alias = "allow-binary-replacement")]
    binary: bool,
}

impl Args {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let standard = ["-".to_owned()];
        let names = if self.patches.is_empty() {
            &standard[..]
        } else {
            &self.patches
        };
        let mut names = names.iter();
        let options = apply_options(self, global);
        let done = git_apply(options, self.whitespace, &mut || {
            let name = names.next()?;
            let message = if name == "-" { "<stdin>" } else { name };
            let patch = Input::from(name.clone())
                .bytes()
                .map_err(|error| error.exit(Exit::Git(FATAL)));
            Some(patch.map(|patch| (message.to_owned(), patch)))
        })?;
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

fn apply_options(args: &Args, global: &Global) -> GitApplyOptions {
    let mut directory = args.below.clone().unwrap_or_default();
    if !directory.is_empty() && !directory.ends_with('/') {
        directory.push('/');
    }
    GitApplyOptions {
        strip: args.strip,
        directory,
        prefix: String::new(),
        check: args.check,
        index: args.index,
        cached: args.cached,
        reverse: args.reverse,
        min_context: args.min_context.unwrap_or(usize::MAX),
        unidiff_zero: args.unidiff_zero,
        recount: args.recount,
        ignore_white_space: args.ignore_whitespace,
        white_space: [WhiteSpace::Warn, WhiteSpace::NoWarn][usize::from(args.check)],
        allow_empty: args.allow_empty,
        verbosity: match (global.quiet, global.verbose > 0) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        },
    }
}

fn white_space(text: &str) -> Result<WhiteSpace, String> {
    WhiteSpace::parse(text).ok_or_else(|| format!("unrecognized whitespace option '{text}'"))
}
