//! The command `git-apply`. Messages go out unchanged, because scripts compare them with git's.

use std::path::PathBuf;

use super::args::Global;
use super::{AppError, Exit, Output};
use crate::app::flags::request;
use crate::app::{FATAL, GitApplyOptions, Input, MergeConflict, Verbosity, WhiteSpace, git_apply};

request! {
/// The flags of `git apply`.
Args {
    /// Patches; none or `-` reads standard input
    #[arg(value_name = "PATCH")] patches: Vec<String>;
    /// Check whether it applies, and change nothing
    #[arg(long)] check: bool;
    /// Print a diffstat instead of applying
    #[arg(long)] stat: bool;
    /// Print added and deleted lines of each file instead of applying
    #[arg(long)] numstat: bool;
    /// Print what is created, deleted, renamed and changed in mode instead of applying
    #[arg(long)] summary: bool;
    /// Apply, even with a flag that only prints
    #[arg(long)] apply: bool;
    /// End names with NUL and do not quote them, with --numstat
    #[arg(hide_short_help = true, short = 'z')] nul: bool;
    /// Change worktree and index, which must agree
    #[arg(long)] index: bool;
    /// Change only the index
    #[arg(long)] cached: bool;
    /// Merge with the blobs that the patch was made for, else place hunks
    #[arg(short = '3', long = "3way", conflicts_with = "reject")] three_way: bool;
    /// Settle conflicts of --3way with the current content
    #[arg(long, requires = "three_way", conflicts_with_all = ["theirs", "union"])] ours: bool;
    /// Settle conflicts of --3way with the patch
    #[arg(long, requires = "three_way", conflicts_with = "union")] theirs: bool;
    /// Settle conflicts of --3way with both
    #[arg(long, requires = "three_way")] union: bool;
    /// Apply the patch in reverse
    #[arg(short = 'R', long)] reverse: bool;
    /// Apply the hunks that fit and leave the others in .rej files
    #[arg(long)] reject: bool;
    /// Strip N leading components from names [default: 1]
    #[arg(short = 'p', value_name = "N")] strip: Option<usize>;
    /// Lines of context that must match; all when not given
    #[arg(short = 'C', value_name = "N")] min_context: Option<usize>;
    /// Apply hunks without context
    #[arg(long)] unidiff_zero: bool;
    /// Recount the lines of hunks
    #[arg(long)] recount: bool;
    /// Let white space in context differ
    #[arg(long, alias = "ignore-space-change")] ignore_whitespace: bool;
    /// How to treat whitespace errors in added lines: nowarn, warn, fix, error or error-all
    #[arg(long, value_name = "ACTION", value_parser = white_space)] whitespace: Option<WhiteSpace>;
    /// Put DIR before every name
    #[arg(id = "below", long = "directory", value_name = "DIR")] below: Option<String>;
    /// Work as if started in DIR, as -C is git's own here
    // It takes the place of the global flag of this name.
    #[arg(hide_short_help = true, id = "directory", long = "work-directory", value_name = "DIR")]
    work_directory: Option<PathBuf>;
    /// Let names lead out of the tree, without the index; git's own directory stays closed
    #[arg(hide_short_help = true, long)] unsafe_paths: bool;
    /// A last line may have lost its newline on the way
    #[arg(hide_short_help = true, long)] inaccurate_eof: bool;
    /// An input without a patch is not an error
    #[arg(hide_short_help = true, long)] allow_empty: bool;
    /// Accepted for compatibility; binary patches always apply
    #[arg(hide_short_help = true, long, alias = "allow-binary-replacement")] binary: bool;
}
}

impl Args {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let standard = ["-".to_owned()];
        let names = if self.patches.is_empty() { &standard[..] } else { &self.patches };
        let mut names = names.iter();
        let options = apply_options(self, global);
        let done = git_apply(options, self.whitespace, &mut || {
            let name = names.next()?;
            let message = if name == "-" { "<stdin>" } else { name };
            let patch =
                Input::from(name.clone()).bytes().map_err(|error| error.exit(Exit::Git(FATAL)));
            Some(patch.map(|patch| (message.to_owned(), patch)))
        })?;
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

fn apply_options(args: &Args, global: &Global) -> GitApplyOptions {
    let mut directory = args.below.clone().unwrap_or_default();
    if !directory.is_empty() && !directory.ends_with('/') {
        directory.push('/');
    }
    let prints = args.check || args.stat || args.numstat || args.summary;
    let apply = args.apply || args.reject || !prints;
    GitApplyOptions {
        strip: args.strip,
        directory,
        prefix: String::new(),
        apply,
        check: args.check,
        stat: args.stat,
        numstat: args.numstat,
        summary: args.summary,
        nul: args.nul,
        index: args.index,
        cached: args.cached,
        three_way: args.three_way,
        settled: match (args.ours, args.theirs, args.union) {
            (true, ..) => Some(MergeConflict::ResolveWithOurs),
            (_, true, _) => Some(MergeConflict::ResolveWithTheirs),
            (.., true) => Some(MergeConflict::ResolveWithUnion),
            _ => None,
        },
        reverse: args.reverse,
        reject: args.reject,
        min_context: args.min_context.unwrap_or(usize::MAX),
        unidiff_zero: args.unidiff_zero,
        recount: args.recount,
        ignore_white_space: args.ignore_whitespace,
        white_space: [WhiteSpace::NoWarn, WhiteSpace::Warn][usize::from(apply)],
        unsafe_paths: args.unsafe_paths,
        inaccurate_eof: args.inaccurate_eof,
        allow_empty: args.allow_empty,
        verbosity: match (global.quiet, global.verbose > 0 || args.reject) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        },
    }
}

fn white_space(text: &str) -> Result<WhiteSpace, String> {
    WhiteSpace::parse(text).ok_or_else(|| format!("unrecognized whitespace option '{text}'"))
}
