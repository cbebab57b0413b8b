//! The options of `git apply`.

use crate::git::MergeConflict;

/// What `git apply` is asked to do.
#[derive(Debug, Clone)]
pub struct GitApplyOptions {
    /// Leading components to strip; `None` is 1 unless the names show another number.
    pub strip: Option<usize>,
    /// Put before every name; empty or with a final `/`.
    pub directory: String,
    /// The user's directory below the root; empty or with a final `/`.
    pub prefix: String,
    /// Change files; off where something is only to be printed or checked.
    pub apply: bool,
    /// Print a diffstat.
    pub stat: bool,
    /// Print added and deleted lines of each file.
    pub numstat: bool,
    /// Print what is created, deleted, renamed and changed in mode.
    pub summary: bool,
    /// End printed names with NUL and do not quote them.
    pub nul: bool,
    /// Find out whether it applies.
    pub check: bool,
    /// Index and worktree must agree and both change.
    pub index: bool,
    /// Change only the index.
    pub cached: bool,
    /// Merge with what the file has become, and fall back to placing hunks.
    pub three_way: bool,
    /// What settles conflicts of a merge.
    pub settled: Option<MergeConflict>,
    /// Apply the hunks that fit, and leave the others in `.rej` files.
    pub reject: bool,
    /// Let names lead out of the tree; never with the index.
    pub unsafe_paths: bool,
    /// A last line may have lost its newline on the way.
    pub inaccurate_eof: bool,
    /// Apply the other way round.
    pub reverse: bool,
    /// Lines of context that must match.
    pub min_context: usize,
    /// Apply hunks without context by their numbers.
    pub unidiff_zero: bool,
    /// Recount the lines of hunks.
    pub recount: bool,
    /// Let white space in context differ.
    pub ignore_white_space: bool,
    /// What errors of white space lead to.
    pub white_space: WhiteSpace,
    /// An input without a patch is not an error.
    pub allow_empty: bool,
    /// How much is said.
    pub verbosity: Verbosity,
}

/// What errors of white space lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhiteSpace {
    /// Nothing.
    NoWarn,
    /// A few warnings.
    Warn,
    /// They are corrected.
    Fix,
    /// The patch is not applied; the first are shown.
    Error,
    /// The patch is not applied; all are shown.
    ErrorAll,
}

impl WhiteSpace {
    /// Reads the words of `--whitespace` and `apply.whitespace`.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "warn" => Self::Warn,
            "nowarn" => Self::NoWarn,
            "error" => Self::Error,
            "error-all" => Self::ErrorAll,
            "strip" | "fix" => Self::Fix,
            _ => return None,
        })
    }

    pub(super) fn is_error(self) -> bool {
        matches!(self, Self::Error | Self::ErrorAll)
    }
}

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Verbosity {
    /// Errors alone.
    Quiet,
    /// Warnings too.
    #[default]
    Normal,
    /// What is done as well.
    Verbose,
}

impl GitApplyOptions {
    /// Whether the index takes part.
    pub fn uses_index(&self) -> bool {
        self.index || self.cached || self.three_way
    }

    /// Whether a path is below the user's directory.
    pub(super) fn uses(&self, path: &str) -> bool {
        let below = path.strip_prefix(&self.prefix);
        self.unsafe_paths || self.prefix.is_empty() || below.is_some_and(|below| !below.is_empty())
    }
}
