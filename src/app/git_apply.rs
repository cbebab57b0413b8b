use std::path::{Path, PathBuf};

use super::flags::request;
use super::{AppError, Input, Result};
use crate::git::{MergeConflict, Repository};
use crate::model::{Code, Exit};
use crate::patch::{GitApply, GitApplyOptions, Verbosity, WhiteSpace};

request! {
/// The flags of `git apply`.
GitApplyRequest {
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
    /// Apply, even with a flag that would only print
    #[arg(long)] apply: bool;
    /// End names with NUL and do not quote them, with --numstat
    #[arg(hide_short_help = true, short = 'z')] nul: bool;
    /// Change worktree and index, which must agree
    #[arg(long)] index: bool;
    /// Change the index alone
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
    /// Count the lines of hunks anew
    #[arg(long)] recount: bool;
    /// Let white space in context differ
    #[arg(long, alias = "ignore-space-change")] ignore_whitespace: bool;
    /// How to treat whitespace errors in added lines: nowarn, warn, fix, error or error-all
    #[arg(long, value_name = "ACTION", value_parser = white_space)] whitespace: Option<WhiteSpace>;
    /// Put DIR before every name
    #[arg(id = "below", long = "directory", value_name = "DIR", default_value = "", hide_default_value = true)]
    below: String;
    /// Let names lead out of the tree, without the index; git's own directory stays closed
    #[arg(hide_short_help = true, long)] unsafe_paths: bool;
    /// A last line may have lost its newline on the way
    #[arg(hide_short_help = true, long)] inaccurate_eof: bool;
    /// An input without a patch is no error
    #[arg(hide_short_help = true, long)] allow_empty: bool;
    /// Taken for git's sake: binary patches always apply
    #[arg(hide_short_help = true, long, alias = "allow-binary-replacement")] binary: bool;
}
}

fn white_space(text: &str) -> std::result::Result<WhiteSpace, String> {
    WhiteSpace::parse(text).ok_or_else(|| format!("unrecognized whitespace option '{text}'"))
}

/// What git would have printed.
pub struct GitApplied {
    /// To standard output.
    pub stdout: Vec<u8>,
    /// To standard error.
    pub stderr: Vec<u8>,
    /// git's exit code.
    pub exit: u8,
    /// Why a patch could not be read, after those before it.
    pub unread: Option<AppError>,
}

/// git's own exit code for what it calls fatal.
const FATAL: u8 = 128;

/// Applies patches by git's own rules, to what the directory where the program runs belongs to.
///
/// # Errors
/// A repository or an index that cannot be read.
pub fn git_apply(request: &GitApplyRequest, verbosity: Verbosity) -> Result<GitApplied> {
    let mut place = GitPlace::open(Path::new("."))?;
    let uses_index = [
        ("--3way", request.three_way),
        ("--index", request.index),
        ("--cached", request.cached),
    ];
    let mut uses_index = uses_index.iter().filter(|(_, is_given)| *is_given);
    match uses_index.next() {
        Some((flag, _)) if place.repository.is_none() => {
            let message = format!("error: '{flag}' outside a repository\n");
            return Ok(GitApplied {
                stdout: Vec::new(),
                stderr: message.into_bytes(),
                exit: FATAL,
                unread: None,
            });
        }
        None if request.unsafe_paths => place.leave_tree(),
        _ => {}
    }
    let options = build_options(request, verbosity, &place);
    let state = crate::state::StateHome::open()?.repository(&place.root)?;
    let state = state.directory().to_owned();
    let mut work = GitApply::open(place.repository.as_ref(), &place.root, state, &options)?;
    let mut unread = None;
    let standard = ["-".to_owned()];
    let names = if request.patches.is_empty() {
        &standard[..]
    } else {
        &request.patches
    };
    for name in names {
        let patch = Input::named(name).whole();
        let said = if name == "-" { "<stdin>" } else { name };
        let goes_on = match patch {
            Ok(patch) => work.patch(said, &patch),
            Err(error) => {
                let message = format!("can't open patch '{name}': {}", error.kind());
                unread = Some(AppError::new(Code::U302, message).exit(Exit::Git(FATAL)));
                false
            }
        };
        if !goes_on {
            break;
        }
    }
    let done = work.finish();
    Ok(GitApplied {
        stdout: done.stdout.into_bytes(),
        stderr: visible(done.stderr),
        exit: done.exit,
        unread,
    })
}

/// Where git would work: at the root of the worktree, or where the user stands without one.
struct GitPlace {
    repository: Option<Repository>,
    root: PathBuf,
    /// The user's directory below the root, with `/` at its end; `""` at the root.
    prefix: String,
}

impl GitPlace {
    fn open(directory: &Path) -> Result<Self> {
        let directory = crate::workspace::canonical(directory)?;
        let repository = Repository::discover(&directory)?;
        // In git's own directory there is no worktree.
        let is_git_dir = |git_dir: &Path| {
            git_dir
                .canonicalize()
                .is_ok_and(|git_dir| directory.starts_with(git_dir))
        };
        let root = repository.as_ref().and_then(|repository| {
            let root = repository.workdir()?.canonicalize().ok()?;
            (directory.starts_with(&root) && !is_git_dir(repository.git_dir())).then_some(root)
        });
        let root = root.unwrap_or_else(|| directory.clone());
        Ok(Self {
            prefix: prefix_below(&directory, &root),
            repository,
            root,
        })
    }

    /// Counts names from the root of the file system.
    fn leave_tree(&mut self) {
        let root = Path::new("/");
        self.prefix = prefix_below(&self.root.join(&self.prefix), root);
        self.root = root.to_owned();
    }

    fn setting(&self, key: &str) -> Option<String> {
        self.repository.as_ref()?.setting(key)
    }
}

fn prefix_below(directory: &Path, root: &Path) -> String {
    let below = directory.strip_prefix(root).unwrap_or(directory);
    match below.to_string_lossy().trim_end_matches('/') {
        "" => String::new(),
        below => format!("{below}/"),
    }
}

fn build_options(
    request: &GitApplyRequest,
    verbosity: Verbosity,
    place: &GitPlace,
) -> GitApplyOptions {
    let mut directory = request.below.clone();
    if !directory.is_empty() && !directory.ends_with('/') {
        directory.push('/');
    }
    let prints = request.check || request.stat || request.numstat || request.summary;
    let apply = request.apply || request.reject || !prints;
    let set = place.setting("apply.whitespace");
    let set = set.and_then(|action| WhiteSpace::parse(&action));
    let usual = if apply {
        WhiteSpace::Warn
    } else {
        WhiteSpace::NoWarn
    };
    let ignores = place.setting("apply.ignoreWhitespace");
    GitApplyOptions {
        strip: request.strip,
        directory,
        prefix: place.prefix.clone(),
        apply,
        check: request.check,
        stat: request.stat,
        numstat: request.numstat,
        summary: request.summary,
        nul: request.nul,
        index: request.index,
        cached: request.cached,
        three_way: request.three_way,
        settled: match (request.ours, request.theirs, request.union) {
            (true, ..) => Some(MergeConflict::ResolveWithOurs),
            (_, true, _) => Some(MergeConflict::ResolveWithTheirs),
            (.., true) => Some(MergeConflict::ResolveWithUnion),
            _ => None,
        },
        reverse: request.reverse,
        reject: request.reject,
        min_context: request.min_context.unwrap_or(usize::MAX),
        unidiff_zero: request.unidiff_zero,
        recount: request.recount,
        ignore_white_space: request.ignore_whitespace || ignores.as_deref() == Some("change"),
        white_space: request.whitespace.or(set).unwrap_or(usual),
        unsafe_paths: place.root == Path::new("/"),
        inaccurate_eof: request.inaccurate_eof,
        allow_empty: request.allow_empty,
        verbosity,
    }
}

// As git's own messages: a control character of a name or a line becomes a question mark.
fn visible(mut text: Vec<u8>) -> Vec<u8> {
    for byte in &mut text {
        if byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t') {
            *byte = b'?';
        }
    }
    text
}
