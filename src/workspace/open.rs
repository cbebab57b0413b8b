//! Opens the repository of a command at a revision, and reads the settings in force there.

use std::path::{Path, PathBuf};

use crate::config::{ConfigError, File, Settings, find};
use crate::git::{GitError, Repository};
use crate::model::{AtPath as _, Code, PathError, RepoPath};
use crate::source::{ReadError, Source, Untracked, Worktree};

/// The repository that a command works on, and where its user is in it.
pub struct Workspace {
    /// The bytes: the worktree, the index, or a commit.
    pub source: Box<dyn Source>,
    /// The repository, when there is one.
    pub git: Option<Repository>,
    /// The worktree's root, or the directory itself without git; `None` in a bare repository.
    pub root: Option<PathBuf>,
    /// The user's directory below the root; `""` at the root.
    pub prefix: String,
}

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At<'a> {
    /// The files as they are, all listed now.
    Worktree,
    /// The files as they are, those that git ignores too where they are asked for by name; listed when that is
    /// needed.
    Named,
    /// What the index records.
    Index,
    /// A commit.
    Revision(&'a str),
}

impl Workspace {
    /// Opens what `directory` is in. `threads` is for listing; 0 leaves it to the machine.     ///
    /// # Errors
    /// A [`WorkspaceError`].
    pub fn at(directory: &Path, at: At<'_>, threads: usize) -> Result<Self, WorkspaceError> {
        let directory = canonical(directory)?;
        let git = Repository::discover(&directory)?;
        let root = match &git {
            Some(git) => git.workdir().map(canonical).transpose()?,
            None => Some(directory.clone()),
        };
        let source: Box<dyn Source> = match (&git, at) {
            (Some(git), At::Revision(revision)) => Box::new(git.tree(revision)?),
            (Some(git), At::Index) => Box::new(git.index_source()?),
            (None, At::Revision(_) | At::Index) => {
                return Err(WorkspaceError::NoGit(directory));
            }
            (git, At::Worktree | At::Named) => {
                let root = root.as_deref().ok_or(GitError::Bare)?;
                let git = git.clone();
                let tracked = move || git.map_or(Ok(Box::new(Untracked) as _), |git| git.tracked());
                if at == At::Worktree {
                    Box::new(Worktree::open(root, tracked()?, threads)?)
                } else {
                    // As for git, an index that cannot be read keeps nobody from patching a file that is there.
                    Box::new(Worktree::unlisted(
                        root,
                        || tracked().unwrap_or_else(|_| Box::new(Untracked)),
                        threads,
                    )?)
                }
            }
        };
        tracing::info!("reading {at:?} of {}", directory.display());
        let prefix = root.as_deref().map_or_else(String::new, |root| path_below(root, &directory));
        Ok(Self {
            source,
            git,
            root,
            prefix,
        })
    }

    /// A path as the user typed it, relative to where the user is, or absolute inside the
    /// worktree, as a path of the repository. `None` when it lies elsewhere or is the root.
    pub fn repo_path(&self, typed: &str) -> Option<RepoPath> {
        if Path::new(typed).is_absolute() {
            let root = self.root.as_deref()?;
            let below = Path::new(typed).strip_prefix(root).ok()?;
            return RepoPath::new(below.to_str()?).ok();
        }
        RepoPath::resolve(&self.prefix, typed).ok()
    }
}

fn path_below(root: &Path, directory: &Path) -> String {
    let prefix = directory.strip_prefix(root).ok().and_then(Path::to_str);
    prefix.unwrap_or_default().to_owned()
}

/// Returns a directory as an absolute path with its links resolved.
///
/// # Errors
/// [`WorkspaceError::Directory`].
pub fn canonical(directory: &Path) -> Result<PathBuf, WorkspaceError> {
    Ok(directory.canonicalize().at(directory)?)
}

/// Why there is nothing to work on.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The directory is not there, or may not be entered.
    #[error("cannot enter {0}")]
    Directory(#[from] PathError),
    /// A commit or the index was asked for, outside a repository.
    #[error("`{path}` is not in a git repository", path = .0.display())]
    NoGit(PathBuf),
    /// The repository cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The directory cannot be listed.
    #[error("cannot read the directory: {0}")]
    Read(#[from] ReadError),
}

impl WorkspaceError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::Directory(_) => Code::U302,
            Self::Git(GitError::Revision(..)) => Code::U201,
            Self::NoGit(_) | Self::Git(GitError::Bare) => Code::U204,
            Self::Git(GitError::Unreadable(_) | GitError::Locked(_)) => Code::U203,
            Self::Read(_) => Code::U301,
        }
    }
}

/// What a person says of the settings' file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsChoice {
    /// This file and no other of the repository; to name it is to trust it.
    pub file: Option<PathBuf>,
    /// Whether what a repository brings along may run commands and loosen rules.
    pub trust: bool,
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The directory or its repository cannot be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A source of them is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// The settings in force in a directory: those of the user, of the closest file on the way up to
/// the root of the repository, and of the environment. Without git only the directory itself is
/// looked at.
///
/// # Errors
/// A [`SettingsError`].
pub fn settings(
    directory: &Path,
    choice: &SettingsChoice,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Settings, SettingsError> {
    let file = match &choice.file {
        Some(file) => Some(File::Trusted(file.clone())),
        None => find_file(directory, choice.trust)?,
    };
    Ok(Settings::load(file.as_ref(), environment)?)
}

fn find_file(directory: &Path, trust: bool) -> Result<Option<File>, WorkspaceError> {
    let directory = canonical(directory)?;
    // Most directories have no such file above them, and need no repository to say so.
    let Some(path) = find(&directory) else {
        return Ok(None);
    };
    let root = Repository::discover(&directory)?
        .and_then(|git| git.workdir()?.canonicalize().ok())
        .unwrap_or(directory);
    Ok(path.starts_with(&root).then_some(match trust {
        true => File::Trusted(path),
        false => File::Repository { path, root },
    }))
}
