use std::path::{Path, PathBuf};

use super::args::Global;
use super::{CliError, Output};
use crate::git::Repository;
use crate::model::{Code, RepoPath};
use crate::source::{Source, Untracked, Worktree};

/// The repository a command works on, and where the user stands in it.
pub(crate) struct Workspace {
    /// The bytes: the worktree, or a commit.
    pub(crate) source: Box<dyn Source>,
    /// The repository, when there is one.
    pub(crate) git: Option<Repository>,
    /// The worktree's root, or the directory itself without git; `None` in a bare repository.
    pub(crate) root: Option<PathBuf>,
    /// The user's directory below the root; `""` at the root.
    pub(crate) prefix: String,
}

/// What a command reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At<'a> {
    /// The files as they stand.
    Worktree,
    /// What the index records.
    Index,
    /// A commit.
    Revision(&'a str),
}

impl Workspace {
    /// Opens what `-C` or the current directory is in; `revision` reads a commit instead of the
    /// worktree.
    pub(crate) fn open(
        global: &Global,
        revision: Option<&str>,
        output: &Output,
    ) -> Result<Self, CliError> {
        Self::open_at(global, revision.map_or(At::Worktree, At::Revision), output)
    }

    /// The same, reading what `at` says.
    pub(crate) fn open_at(global: &Global, at: At<'_>, output: &Output) -> Result<Self, CliError> {
        let directory = directory()?;
        let git = Repository::discover(&directory)?;
        if let Some(git) = &git
            && git.is_foreign()
        {
            output.note(
                "another user owns this repository; it is read without trusting its configuration \
                 (`git config --global --add safe.directory DIR` says that you trust it)",
            );
        }
        let root = match &git {
            Some(git) => git.workdir().map(canonical).transpose()?,
            None => Some(directory.clone()),
        };
        let source: Box<dyn Source> = match (&git, at) {
            (Some(git), At::Revision(revision)) => Box::new(git.tree(revision)?),
            (Some(git), At::Index) => Box::new(git.index_source()?),
            (None, At::Index) => {
                return Err(CliError::new(
                    Code::new("U204"),
                    "this directory is not in a git repository",
                ));
            }
            (None, At::Revision(_)) => {
                return Err(CliError::new(
                    Code::new("U204"),
                    format!("`{}` is not in a git repository", directory.display()),
                )
                .hint("`--rev` reads a commit; leave it out to read the files themselves"));
            }
            (Some(git), At::Worktree) => {
                let tracked = git.tracked()?;
                let root = root.as_deref().unwrap_or(&directory);
                Box::new(Worktree::open(root, tracked, global.threads.unwrap_or(0))?)
            }
            (None, At::Worktree) => Box::new(Worktree::open(
                &directory,
                Box::new(Untracked),
                global.threads.unwrap_or(0),
            )?),
        };
        let prefix = root
            .as_deref()
            .and_then(|root| directory.strip_prefix(root).ok())
            .and_then(Path::to_str)
            .map(|prefix| prefix.replace('\\', "/"))
            .unwrap_or_default();
        Ok(Self {
            source,
            git,
            root,
            prefix,
        })
    }

    /// Where this program may keep what it learnt about the repository: under the git directory
    /// that all worktrees share, else in the user's cache directory. `None` when there is neither,
    /// or the repository is somebody else's.
    pub(crate) fn cache_directory(&self, name: &str) -> Option<PathBuf> {
        match &self.git {
            Some(git) if git.is_foreign() => None,
            Some(git) => Some(git.common_dir().join("mendit").join(name)),
            None => {
                let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
                let base = set("XDG_CACHE_HOME")
                    .map(PathBuf::from)
                    .filter(|path| path.is_absolute())
                    .or_else(|| Some(Path::new(&set("HOME")?).join(".cache")))?;
                Some(base.join("mendit").join(name))
            }
        }
    }

    /// A path as the user typed it, relative to where the user stands, or absolute inside the
    /// worktree, as a path of the repository. `None` when it lies elsewhere or is the root.
    pub(crate) fn repo_path(&self, typed: &str) -> Option<RepoPath> {
        if Path::new(typed).is_absolute() {
            let root = self.root.as_deref()?;
            let below = Path::new(typed).strip_prefix(root).ok()?;
            return RepoPath::new(below.to_str()?).ok();
        }
        RepoPath::resolve(&self.prefix, typed).ok()
    }
}

/// The directory a command works in, absolute, with symlinks resolved.
pub(crate) fn directory() -> Result<PathBuf, CliError> {
    canonical(Path::new("."))
}

fn canonical(directory: &Path) -> Result<PathBuf, CliError> {
    directory.canonicalize().map_err(|error| {
        CliError::new(
            Code::new("U304"),
            format!("cannot enter `{}`: {}", directory.display(), error.kind()),
        )
    })
}
