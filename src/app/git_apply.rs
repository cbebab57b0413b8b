use std::path::{Path, PathBuf};

use super::{AppError, Result};
use crate::git::Repository;
use crate::patch::{GitApply, GitApplyOptions, WhiteSpace};

/// Where git would work: at the root of the worktree, or where the user stands without one.
pub struct GitPlace {
    repository: Option<Repository>,
    root: PathBuf,
    prefix: String,
}

/// What git would have printed.
pub struct GitApplied {
    /// To standard error.
    pub stderr: Vec<u8>,
    /// git's exit code.
    pub exit: u8,
    /// Why a patch could not be read, after those before it.
    pub unread: Option<AppError>,
}

impl GitPlace {
    /// Finds it from a directory.
    ///
    /// # Errors
    /// A repository that cannot be read.
    pub fn open(directory: &Path) -> Result<Self> {
        let directory = crate::workspace::canonical(directory)?;
        let repository = Repository::discover(&directory)?;
        // In git's own directory there is no worktree.
        let is_git_dir = |git_dir: &Path| {
            git_dir
                .canonicalize()
                .is_ok_and(|git_dir| directory.starts_with(git_dir))
        };
        let found = repository.as_ref().and_then(|repository| {
            let root = repository.workdir()?.canonicalize().ok()?;
            let below = directory.strip_prefix(&root).ok()?.to_owned();
            (!is_git_dir(repository.git_dir())).then_some((root, below))
        });
        let (root, below) = found.unwrap_or((directory.clone(), PathBuf::new()));
        let mut prefix = below.to_string_lossy().into_owned();
        if !prefix.is_empty() {
            prefix.push('/');
        }
        Ok(Self {
            repository,
            root,
            prefix,
        })
    }

    /// The user's directory below the root, with `/` at its end; `""` at the root.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether there is a repository.
    #[must_use]
    pub fn in_repository(&self) -> bool {
        self.repository.is_some()
    }

    /// A setting of git.
    #[must_use]
    pub fn setting(&self, key: &str) -> Option<String> {
        self.repository.as_ref()?.setting(key)
    }

    /// How white space is looked at when no flag says so.
    #[must_use]
    pub fn white_space(&self) -> Option<WhiteSpace> {
        WhiteSpace::parse(&self.setting("apply.whitespace")?)
    }
}

/// A patch and the name that messages give it, or why it could not be read.
pub type NamedPatch = Result<(String, Vec<u8>)>;

/// Applies patches by git's own rules. `next` gives the next patch with its name, until there is
/// none or it cannot be read.
///
/// # Errors
/// A repository or an index that cannot be read.
pub fn git_apply(
    place: &GitPlace,
    options: &GitApplyOptions,
    next: &mut dyn FnMut() -> Option<NamedPatch>,
) -> Result<GitApplied> {
    let state = crate::state::StateHome::open()?.repository(&place.root)?;
    let state = state.directory().to_owned();
    let mut work = GitApply::open(place.repository.as_ref(), &place.root, state, options)?;
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
        stderr: visible(done.stderr),
        exit: done.exit,
        unread,
    })
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
