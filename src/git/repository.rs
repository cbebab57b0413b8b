//! Opens a repository: normal, bare, linked, shallow or partial.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::guard::{look_at_worktree, look_before_opening, nested_repositories};
use super::index::{IndexIds, blob_id};
use super::{GitError, TreeSource};
use crate::model::BlobId;
use crate::source::Tracked;

/// A git repository on disk: normal, bare, linked worktree, shallow or partial.
#[derive(Clone)]
pub struct Repository {
    inner: gix::ThreadSafeRepository,
}

impl Repository {
    /// Finds the repository that holds `directory`, going up. `None` when there is none.
    ///
    /// A repository that another user owns is opened with reduced trust: its configuration is
    /// not used for anything that could run a program (see [`Repository::is_foreign`]).
    ///
    /// # Errors
    /// [`GitError::Unreadable`] when there is one and it cannot be opened, or its configuration puts the
    /// worktree elsewhere.
    pub fn discover(directory: &Path) -> Result<Option<Self>, GitError> {
        look_before_opening(directory)?;
        let mut options = gix::sec::trust::Mapping::<gix::open::Options>::default();
        for options in [&mut options.full, &mut options.reduced] {
            // As git does: the checksum of an index takes longer than all else that is read of it. Threads cost more.
            let overrides = ["index.skipHash=true", "index.threads=1"];
            options.modify(|options| options.config_overrides(overrides));
        }
        match gix::ThreadSafeRepository::discover_opts(
            directory,
            gix::discover::upwards::Options::default(),
            options,
        ) {
            Ok(inner) => {
                look_at_worktree(directory, inner.work_dir())?;
                tracing::debug!("opened {}", inner.path().display());
                Ok(Some(Self { inner }))
            }
            Err(error) if error.dominant_class() == Some(gix::error::Class::NotFound) => {
                tracing::info!("no git repository contains {}", directory.display());
                Ok(None)
            }
            Err(error) => Err(GitError::unreadable(error)),
        }
    }

    /// The root of the worktree; `None` for a bare repository.
    pub fn workdir(&self) -> Option<&Path> {
        self.inner.work_dir()
    }

    /// The git directory of this worktree.
    pub fn git_dir(&self) -> &Path {
        self.inner.path()
    }

    /// The git directory that all linked worktrees share.
    pub fn common_dir(&self) -> PathBuf {
        self.local().common_dir().to_owned()
    }

    /// Returns the folders that git reads as its own, those of repositories inside the worktree included.
    pub fn own_folders(&self) -> Vec<PathBuf> {
        let homes = [self.git_dir().to_owned(), self.common_dir()];
        let homes = homes.iter().filter_map(|home| home.canonicalize().ok());
        let nested = self.workdir().map(nested_repositories);
        homes.chain(nested.unwrap_or_default()).collect()
    }

    /// Whether someone else owns the repository and `safe.directory` does not name it.
    pub fn is_foreign(&self) -> bool {
        self.local().git_dir_trust() != gix::sec::Trust::Full
    }

    /// Whether history ends before the first commit.
    pub fn is_shallow(&self) -> bool {
        self.local().is_shallow().unwrap_or(false)
    }

    /// The commit that is checked out, in hex; `None` before the first.
    pub fn head(&self) -> Option<String> {
        let repository = self.local();
        let id = repository.head_id().ok()?;
        Some(id.to_string())
    }

    /// The tree of a revision, in git's own syntax for revisions.
    ///
    /// # Errors
    /// [`GitError::Revision`] when it names no tree, [`GitError::Unreadable`] when the tree's
    /// objects are damaged.
    pub fn tree(&self, revision: &str) -> Result<TreeSource, GitError> {
        TreeSource::open(&self.inner, revision)
    }

    /// What the index knows of the worktree: tracked paths and trusted blob ids.
    ///
    /// # Errors
    /// [`GitError::Bare`] without a worktree, [`GitError::Unreadable`] for a damaged index.
    pub fn tracked(&self) -> Result<Box<dyn Tracked>, GitError> {
        let workdir = self.workdir().ok_or(GitError::Bare)?;
        Ok(Box::new(IndexIds::open(&self.local(), workdir)?))
    }

    pub(super) fn local(&self) -> gix::Repository {
        self.inner.to_thread_local()
    }
}

/// The commit that a revision names.
pub(super) fn commit_of<'r>(
    repo: &'r gix::Repository,
    revision: &str,
) -> Result<gix::Commit<'r>, GitError> {
    let object = repo.rev_parse_single(revision).and_then(|id| id.object());
    let commit = object.and_then(gix::Object::peel_to_commit);
    if let Ok(commit) = &commit {
        tracing::debug!("{revision} is the commit {}", commit.id);
    }
    commit.map_err(|error| GitError::revision(repo, revision, &error))
}

/// The tree that a revision names.
pub(super) fn tree_of<'r>(
    repo: &'r gix::Repository,
    revision: &str,
) -> Result<gix::Tree<'r>, GitError> {
    let object = repo.rev_parse_single(revision).and_then(|id| id.object());
    let tree = object.and_then(gix::Object::peel_to_tree);
    tree.map_err(|error| GitError::revision(repo, revision, &error))
}

/// Repositories of single threads, made once and used again: opening one for every object read
/// would cost more than the read.
pub(super) struct Pool {
    shared: gix::ThreadSafeRepository,
    free: Mutex<Vec<gix::Repository>>,
}

impl Pool {
    pub(super) fn new(shared: gix::ThreadSafeRepository) -> Self {
        Self {
            shared,
            free: Mutex::new(Vec::new()),
        }
    }

    /// Lends a repository to the calling thread.
    pub(super) fn with<T>(&self, work: impl FnOnce(&gix::Repository) -> T) -> T {
        let taken = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let repo = taken.unwrap_or_else(|| self.shared.to_thread_local());
        let result = work(&repo);
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(repo);
        result
    }
}

impl Repository {
    /// The blob with this hex id, of at least seven digits; never fetches what is missing.
    pub fn find_blob(&self, hex: &str) -> Option<Vec<u8>> {
        let is_id =
            (7..=40).contains(&hex.len()) && hex.bytes().all(|digit| digit.is_ascii_hexdigit());
        if !is_id {
            return None;
        }
        let repo = self.local();
        let object = repo.rev_parse_single(hex).ok()?.object().ok()?;
        Some(object.try_into_blob().ok()?.take_data())
    }

    /// Stores a blob.
    ///
    /// # Errors
    /// [`GitError::Unreadable`] when the database cannot be written.
    pub fn store_blob(&self, bytes: &[u8]) -> Result<BlobId, GitError> {
        write_blob(&self.local(), bytes)
    }
}

/// Stores a blob in a repository of this thread.
pub(super) fn write_blob(repo: &gix::Repository, bytes: &[u8]) -> Result<BlobId, GitError> {
    let id = repo.write_blob(bytes).map_err(GitError::unreadable)?;
    blob_id(id.detach())
        .ok_or_else(|| GitError::Unreadable("the repository does not use SHA-1".to_owned()))
}
