use std::path::{Path, PathBuf};

use super::args::Global;
use super::{AppError, Exit, Output};
use crate::app::{GitApplyOptions, GitPlace, Input, Verbosity, WhiteSpace, git_apply};
use crate::model::Code;

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
    /// An input without a patch is not an error
    #[arg(hide_short_help = true, long)]
    allow_empty: bool,
    /// Accepted for compatibility; binary patches always apply
    #[arg(hide_short_help = true, long, alias = "allow-binary-replacement")]
    binary: bool,
}

/// git's own exit code for what it calls fatal.
const FATAL: u8 = 128;

impl Args {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        apply_patch(self, global, output)
    }
}

fn apply_patch(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let place = GitPlace::open(Path::new("."))?;
    let options = apply_options(args, global, &place);
    if let Some(message) = refuse_options(args, &place) {
        output.raw_error(format!("error: {message}\n").as_bytes());
        return Ok(Exit::Git(FATAL));
    }
    let standard = ["-".to_owned()];
    let names = if args.patches.is_empty() {
        &standard[..]
    } else {
        &args.patches
    };
    let mut names = names.iter();
    let done = git_apply(&place, &options, &mut || {
        let name = names.next()?;
        let message = if name == "-" { "<stdin>" } else { name };
        Some(read_patch(name).map(|patch| (message.to_owned(), patch)))
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

// Flags that do not go together or need a repository, in git's words.
fn refuse_options(args: &Args, place: &GitPlace) -> Option<String> {
    let needs = [("--index", args.index), ("--cached", args.cached)];
    let outside = !place.in_repository();
    needs
        .iter()
        .find(|(_, given)| *given && outside)
        .map(|(flag, _)| format!("'{flag}' outside a repository"))
}

fn apply_options(args: &Args, global: &Global, place: &GitPlace) -> GitApplyOptions {
    let mut directory = args.below.clone().unwrap_or_default();
    if !directory.is_empty() && !directory.ends_with('/') {
        directory.push('/');
    }
    let setting = |key: &str| place.setting(key);
    let white_space = match args.whitespace {
        Some(given) => given,
        None => place.white_space().unwrap_or(if args.check {
            WhiteSpace::NoWarn
        } else {
            WhiteSpace::Warn
        }),
    };
    GitApplyOptions {
        strip: args.strip,
        directory,
        prefix: place.prefix().to_owned(),
        check: args.check,
        index: args.index,
        cached: args.cached,
        reverse: args.reverse,
        min_context: args.min_context.unwrap_or(usize::MAX),
        unidiff_zero: args.unidiff_zero,
        recount: args.recount,
        ignore_white_space: args.ignore_whitespace
            || setting("apply.ignoreWhitespace").as_deref() == Some("change"),
        white_space,
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

fn read_patch(name: &str) -> Result<Vec<u8>, AppError> {
    Input::named(name).whole().map_err(|error| {
        let message = format!("can't open patch '{name}': {}", error.kind());
        AppError::new(Code::U302, message).exit(Exit::Git(FATAL))
    })
}
