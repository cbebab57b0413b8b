//! The task of `mendit git-apply`.

use std::path::{Path, PathBuf};

use super::{AppError, Result};
use crate::git::Repository;
use crate::patch::{GitApply, GitApplyOptions, WhiteSpace};
use crate::workspace::canonical;

/// What git would have printed.
#[derive(Default)]
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

// Where git works: the root of the worktree, or the directory itself without one or in git's own folder.
fn find_root(repository: Option<&Repository>, directory: &Path) -> PathBuf {
    let root = repository.and_then(|repository| {
        let git_dir = repository.git_dir().canonicalize().ok();
        let is_own = git_dir.is_some_and(|git_dir| directory.starts_with(git_dir));
        let root = repository.workdir()?.canonicalize().ok()?;
        (!is_own && directory.starts_with(&root)).then_some(root)
    });
    root.unwrap_or_else(|| directory.to_owned())
}

/// git's own exit code for what it calls fatal.
pub const FATAL: u8 = 128;

/// A patch and the name that messages give it, or why it could not be read.
pub type NamedPatch = Result<(String, Vec<u8>)>;

/// Applies patches by git's own rules from the current directory; git's settings have a say where no flag is given.
/// `next` gives the next patch with its name, until there is none or it cannot be read.
///
/// # Errors
/// A repository or an index that cannot be read.
pub fn git_apply(
    mut options: GitApplyOptions,
    white_space: Option<WhiteSpace>,
    next: &mut dyn FnMut() -> Option<NamedPatch>,
) -> Result<GitApplied> {
    let directory = canonical(Path::new("."))?;
    let repository = Repository::discover(&directory)?;
    if repository.is_none() && options.uses_index() {
        let flag = match (options.index, options.cached) {
            (true, _) => "--index",
            (_, true) => "--cached",
            _ => "--3way",
        };
        return Ok(GitApplied {
            stderr: format!("error: '{flag}' outside a repository\n").into_bytes(),
            exit: FATAL,
            ..GitApplied::default()
        });
    }
    options.unsafe_paths &= !options.uses_index();
    let root = if options.unsafe_paths {
        PathBuf::from("/")
    } else {
        find_root(repository.as_ref(), &directory)
    };
    let [action, ignores] =
        ["apply.whitespace", "apply.ignoreWhitespace"].map(|key| repository.as_ref()?.setting(key));
    if let Some(action) = white_space.or_else(|| WhiteSpace::parse(&action?)) {
        options.white_space = action;
    }
    options.ignore_white_space |= ignores.as_deref() == Some("change");
    if let Some(below) = directory.strip_prefix(&root).ok().filter(|_| directory != root) {
        options.prefix = format!("{}/", below.display());
    }
    let state = crate::state::StateHome::open()?.repository(&root)?.directory().to_owned();
    let mut work = GitApply::open(repository.as_ref(), &root, state, &options)?;
    let mut unread = None;
    while let Some(input) = next() {
        let is_last = match input {
            Ok((name, patch)) => !work.patch(&name, &patch),
            Err(error) => {
                unread = Some(error);
                true
            }
        };
        if is_last {
            break;
        }
    }
    let done = work.finish();
    Ok(GitApplied {
        stdout: done.stdout.into_bytes(),
        stderr: escape_controls(done.stderr),
        exit: done.exit,
        unread,
    })
}

// As git's own messages: a control character of a name or a line becomes a question mark.
fn escape_controls(mut text: Vec<u8>) -> Vec<u8> {
    for byte in &mut text {
        if byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t') {
            *byte = b'?';
        }
    }
    text
}
