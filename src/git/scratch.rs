use std::collections::BTreeMap;
use std::fs::{self};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::disk_entry::{Stamp, failed, mode_on_disk, remove, stamp};
use super::scratch_repository::{STORE, fingerprint, initialise};
use super::{GitError, Repository, ScratchError};
use crate::model::{BlobId, RepoPath};
use crate::source::{Entry, EntryKind, ReadError, Source, Tracked, TrackedKind, Worktree};

/// A copy of a worktree in which commands may do what they like: a git repository of its own with
/// one commit, which borrows the objects of the original. The folder is kept between uses, so
/// only what differs is written again.
pub struct Scratch {
    pub(super) slot: PathBuf,
    pub(super) root: PathBuf,
    pub(super) original: PathBuf,
    pub(super) held: BTreeMap<RepoPath, Held>,
    pub(super) apart: Vec<RepoPath>,
    pub(super) fingerprint: String,
}

/// What a scratch copy is made of.
pub struct ScratchPlan<'a> {
    /// The folder that holds the copy; nothing else may use it at the same time.
    pub slot: &'a Path,
    /// What is copied.
    pub from: &'a dyn Source,
    /// Where `from` stands on disk.
    pub original: &'a Path,
    /// The repository of the original, whose objects are borrowed.
    pub git: Option<&'a Repository>,
    /// Files and folders that somebody else fills and keeps: left alone, and not listed.
    pub apart: &'a [RepoPath],
}

/// A file that differs from what the copy held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScratchChange {
    /// Where it is.
    pub path: RepoPath,
    /// Bytes and git mode before; `None` for a new file.
    pub before: Option<(Arc<[u8]>, u32)>,
    /// Bytes and git mode now; `None` for a deleted file.
    pub after: Option<(Arc<[u8]>, u32)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) id: Option<String>,
    pub(super) mode: u32,
    pub(super) stamp: Stamp,
}

const TOLD_EVERY: usize = 500;

impl Scratch {
    /// Makes the copy, or brings the one in the slot to the same state; `progress` is told how many
    /// files of how many were looked at.
    ///
    /// # Errors
    /// [`ScratchError`] when the disk or a file of the original refuses.
    pub fn prepare(
        plan: &ScratchPlan<'_>,
        progress: &dyn Fn(usize, usize),
    ) -> Result<Self, ScratchError> {
        let root = plan.slot.join("tree");
        let manifest = plan.slot.join("manifest.json");
        let earlier: BTreeMap<RepoPath, Held> = fs::read(&manifest)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        // Until the copy is whole again nothing may be believed of it.
        let _ = fs::remove_file(&manifest);
        if earlier.is_empty() {
            remove(&root)?;
        }
        fs::create_dir_all(&root).map_err(|error| failed(&root, &error))?;
        let mut scratch = Self {
            slot: plan.slot.to_owned(),
            original: plan.original.to_owned(),
            held: earlier,
            apart: plan.apart.to_vec(),
            fingerprint: String::new(),
            root,
        };
        let listing = plan.from.listing();
        scratch
            .held
            .retain(|path, _| listing.get(path.as_str()).is_some());
        scratch.sweep()?;
        let entries = listing.entries();
        for (done, entry) in entries.iter().enumerate() {
            if done % TOLD_EVERY == 0 {
                progress(done, entries.len());
            }
            scratch.copy(entry, plan)?;
        }
        scratch.make_repository(plan.git, Some(plan.from))?;
        scratch.save()?;
        Ok(scratch)
    }

    /// The copy's worktree.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The files of the copy as they are now.
    ///
    /// # Errors
    /// [`ReadError::Io`] when the copy is gone.
    pub fn source(&self) -> Result<Worktree, ReadError> {
        let ids = Ids {
            root: self.root.clone(),
            held: self.held.clone(),
        };
        Worktree::open(&self.root, Box::new(ids), 0)
    }

    /// Whether the copy's own repository is as it was made: settings, hooks, refs and `HEAD`.
    #[must_use]
    pub fn repository_is_untouched(&self) -> bool {
        fingerprint(&self.root) == self.fingerprint
    }

    /// What differs now from what the copy holds, sorted by path. Ignored files do not count.
    ///
    /// # Errors
    /// [`ScratchError`] when a file cannot be read.
    pub fn changes(&self) -> Result<Vec<ScratchChange>, ScratchError> {
        fs::create_dir_all(&self.root).map_err(|error| failed(&self.root, &error))?;
        let source = self.source().map_err(|error| ScratchError::Io {
            path: format!("{}: {error}", self.root.display()),
            kind: io::ErrorKind::NotFound,
        })?;
        let mut changes = Vec::new();
        for entry in source.listing().entries() {
            let path = &entry.path;
            if self.is_apart(path.as_str()) {
                continue;
            }
            let held = self.held.get(path);
            let Some(mode) = entry.kind.mode() else {
                continue;
            };
            if held.is_some_and(|it| it.mode == mode && stamp(&self.at(path)) == Some(it.stamp)) {
                continue;
            }
            let bytes = self.bytes(&source, entry)?;
            let before = held.map(|held| self.before(path, held)).transpose()?;
            if before
                .as_ref()
                .is_some_and(|(old, old_mode)| *old_mode == mode && **old == *bytes)
            {
                continue;
            }
            changes.push(ScratchChange {
                path: path.clone(),
                before,
                after: Some((bytes, mode)),
            });
        }
        for (path, held) in &self.held {
            if source.listing().get(path.as_str()).is_none() {
                changes.push(ScratchChange {
                    path: path.clone(),
                    before: Some(self.before(path, held)?),
                    after: None,
                });
            }
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(changes)
    }

    /// Undoes whatever happened to the copy since it was made or last [adopted](Self::adopt).
    ///
    /// # Errors
    /// [`ScratchError`] when the disk refuses.
    pub fn reset(&mut self) -> Result<(), ScratchError> {
        fs::create_dir_all(&self.root).map_err(|error| failed(&self.root, &error))?;
        self.sweep()?;
        let paths: Vec<RepoPath> = self.held.keys().cloned().collect();
        for path in paths {
            let Some(held) = self.held.get(&path) else {
                continue;
            };
            if stamp(&self.at(&path)) == Some(held.stamp) {
                continue;
            }
            let (bytes, mode) = self.before(&path, held)?;
            let id = held.id.clone();
            self.put(&path, &bytes, mode, id)?;
        }
        if !self.repository_is_untouched() {
            let original = Repository::discover(&self.original)?;
            self.make_repository(original.as_ref(), None)?;
        }
        self.save()
    }

    /// Takes what the copy holds now at these paths for what it shall hold.
    ///
    /// # Errors
    /// [`ScratchError`] when a file cannot be read or stored.
    pub fn adopt<'a>(
        &mut self,
        paths: impl IntoIterator<Item = &'a RepoPath>,
    ) -> Result<(), ScratchError> {
        let git = self.repository()?;
        for path in paths {
            let at = self.at(path);
            let found = at.symlink_metadata().ok();
            // A folder may have taken the place of a file.
            let Some(metadata) = found.filter(|it| !it.is_dir()) else {
                self.held.remove(path);
                continue;
            };
            let bytes = if metadata.is_symlink() {
                let target = fs::read_link(&at).map_err(|error| failed(&at, &error))?;
                target.to_string_lossy().into_owned().into_bytes()
            } else {
                fs::read(&at).map_err(|error| failed(&at, &error))?
            };
            let id = git.store_blob(&bytes)?;
            let held = Held {
                id: Some(id.to_string()),
                mode: mode_on_disk(&metadata),
                stamp: Stamp::from_metadata(&metadata),
            };
            self.held.insert(path.clone(), held);
        }
        self.save()
    }

    /// Takes what stands beside the held files, ignored by git, for what shall be there: it is
    /// left alone from now on.
    ///
    /// # Errors
    /// [`ScratchError`] when the copy cannot be listed.
    pub fn keep_ignored(&mut self) -> Result<(), ScratchError> {
        let unknown = self.unknown()?;
        self.apart.extend(unknown);
        Ok(())
    }

    fn repository(&self) -> Result<Repository, ScratchError> {
        Repository::discover(&self.slot.join(STORE))?
            .ok_or_else(|| GitError::Unreadable("the scratch copy lost its repository".to_owned()))
            .map_err(ScratchError::from)
    }

    fn make_repository(
        &mut self,
        original: Option<&Repository>,
        from: Option<&dyn Source>,
    ) -> Result<(), ScratchError> {
        let entries: Vec<_> = self
            .held
            .iter()
            .filter_map(|(path, held)| Some((path, held.mode, held.id.as_deref()?)))
            .collect();
        initialise(&self.root, &self.slot, original, from, &entries)?;
        self.fingerprint = fingerprint(&self.root);
        Ok(())
    }

    pub(super) fn at(&self, path: &RepoPath) -> PathBuf {
        self.root.join(path.as_str())
    }

    pub(super) fn bytes(
        &self,
        source: &Worktree,
        entry: &Entry,
    ) -> Result<Arc<[u8]>, ScratchError> {
        if let EntryKind::Symlink { target } = &entry.kind {
            return Ok(Arc::from(target.as_bytes()));
        }
        source
            .read(&entry.path)
            .map_err(|source| ScratchError::Read {
                path: entry.path.clone(),
                source,
            })
    }

    fn before(&self, path: &RepoPath, held: &Held) -> Result<(Arc<[u8]>, u32), ScratchError> {
        let stored = match &held.id {
            Some(id) => self.repository()?.find_blob(id),
            None => fs::read(self.original.join(path.as_str())).ok(),
        };
        let bytes = stored.ok_or_else(|| ScratchError::Read {
            path: path.clone(),
            source: ReadError::NotFound,
        })?;
        Ok((bytes.into(), held.mode))
    }

    fn save(&self) -> Result<(), ScratchError> {
        let at = self.slot.join("manifest.json");
        let text = serde_json::to_vec(&self.held).unwrap_or_default();
        fs::write(&at, text).map_err(|error| failed(&at, &error))
    }
}

struct Ids {
    root: PathBuf,
    held: BTreeMap<RepoPath, Held>,
}

impl Tracked for Ids {
    fn paths(&self) -> Vec<(RepoPath, TrackedKind)> {
        self.held
            .keys()
            .map(|path| (path.clone(), TrackedKind::File))
            .collect()
    }

    fn fresh_blob_id(&self, path: &RepoPath) -> Option<BlobId> {
        let held = self.held.get(path)?;
        let fresh = stamp(&self.root.join(path.as_str())) == Some(held.stamp);
        held.id.as_deref().filter(|_| fresh)?.parse().ok()
    }
}
