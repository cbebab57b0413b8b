//! A scratch copy of a worktree with a repository of its own, in which commands may do anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::disk_entry::{Stamp, mode_on_disk, read_stamp, remove_path};
use super::scratch_repository::{fingerprint, make_repository, open_store};
use super::{Repository, ScratchError};
use crate::model::{AtPath as _, BlobId, RepoPath};
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
    /// The bytes of held files, apart from the copy.
    pub(super) store: Repository,
    fingerprint: Vec<(PathBuf, Option<Stamp>)>,
}

/// What a scratch copy is made of.
pub struct ScratchPlan<'a> {
    /// The folder that holds the copy; nothing else may use it at the same time.
    pub slot: &'a Path,
    /// What is copied.
    pub from: &'a dyn Source,
    /// Where `from` is on disk.
    pub original: &'a Path,
    /// The repository of the original, whose objects are borrowed.
    pub git: Option<&'a Repository>,
    /// Files and folders that other code fills: left alone, and not listed.
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

impl Scratch {
    /// Makes the copy, or brings the one in the slot to the same state.
    ///
    /// # Errors
    /// [`ScratchError`] when the disk or a file of the original refuses.
    pub fn prepare(plan: &ScratchPlan<'_>) -> Result<Self, ScratchError> {
        let root = plan.slot.join("tree");
        let manifest = plan.slot.join("manifest.json");
        let earlier: BTreeMap<RepoPath, Held> = fs::read(&manifest)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        // Until the copy is whole again nothing may be believed of it.
        let _ = fs::remove_file(&manifest);
        if earlier.is_empty() {
            remove_path(&root)?;
        }
        fs::create_dir_all(&root).at(&root)?;
        let mut scratch = Self {
            slot: plan.slot.to_owned(),
            original: plan.original.to_owned(),
            held: earlier,
            apart: plan.apart.to_vec(),
            store: open_store(plan.slot, plan.git)?,
            fingerprint: Vec::new(),
            root,
        };
        let listing = plan.from.listing();
        scratch.held.retain(|path, _| listing.get(path.as_str()).is_some());
        scratch.sweep()?;
        for entry in listing.entries() {
            scratch.copy_entry(entry, plan)?;
        }
        scratch.make_repository(plan.git)?;
        scratch.save()?;
        Ok(scratch)
    }

    /// The copy's worktree.
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

    /// What differs now from what the copy holds, sorted by path. Ignored files do not count.
    ///
    /// # Errors
    /// [`ScratchError`] when a file cannot be read.
    pub fn changes(&self) -> Result<Vec<ScratchChange>, ScratchError> {
        fs::create_dir_all(&self.root).at(&self.root)?;
        let source = self.source().or_else(|error| {
            Err(io::ErrorKind::NotFound).at(format!("{}: {error}", self.root.display()))
        })?;
        let listing = source.listing();
        let mut paths: BTreeSet<&RepoPath> = self.held.keys().collect();
        paths.extend(listing.entries().iter().map(|entry| &entry.path));
        let mut changes = Vec::new();
        for path in paths {
            let held = self.held.get(path);
            if self.is_apart(path.as_str())
                || held.is_some_and(|held| read_stamp(&self.at(path)) == Some(held.stamp))
            {
                continue;
            }
            let before = held.map(|held| self.before(path, held)).transpose()?;
            let entry = listing.get(path.as_str());
            let after = entry.and_then(|entry| Some((entry, entry.kind.mode()?)));
            let after = match after {
                Some((entry, mode)) => Some((read_entry(&source, entry)?, mode)),
                None => None,
            };
            if before != after {
                changes.push(ScratchChange {
                    path: path.clone(),
                    before,
                    after,
                });
            }
        }
        Ok(changes)
    }

    /// Undoes whatever happened to the copy since it was made or last [adopted](Self::adopt).
    ///
    /// # Errors
    /// [`ScratchError`] when the disk refuses.
    pub fn reset(&mut self) -> Result<(), ScratchError> {
        fs::create_dir_all(&self.root).at(&self.root)?;
        self.sweep()?;
        let paths: Vec<RepoPath> = self.held.keys().cloned().collect();
        for path in paths {
            let Some(held) = self.held.get(&path) else {
                continue;
            };
            if read_stamp(&self.at(&path)) == Some(held.stamp) {
                continue;
            }
            let (bytes, mode) = self.before(&path, held)?;
            self.put_file(&path, &bytes, mode)?;
        }
        if fingerprint(&self.root) != self.fingerprint {
            let original = Repository::discover(&self.original)?;
            self.make_repository(original.as_ref())?;
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
        for path in paths {
            let at = self.at(path);
            let found = at.symlink_metadata().ok();
            // A folder may have taken the place of a file.
            let Some(metadata) = found.filter(|about| !about.is_dir()) else {
                self.held.remove(path);
                continue;
            };
            let bytes = if metadata.is_symlink() {
                fs::read_link(&at).map(|target| target.to_string_lossy().into_owned().into())
            } else {
                fs::read(&at)
            };
            let bytes = bytes.at(&at)?;
            self.hold_file(path, &bytes, mode_on_disk(&metadata))?;
        }
        self.save()
    }

    /// Takes what is beside the held files, ignored by git, for what shall be there: it is
    /// left alone from now on.
    pub fn keep_ignored(&mut self) {
        let unknown = self.unknown();
        let below = unknown.iter().filter_map(|at| at.strip_prefix(&self.root).ok()?.to_str());
        let below: Vec<RepoPath> = below.filter_map(|path| RepoPath::new(path).ok()).collect();
        self.apart.extend(below);
    }

    fn make_repository(&mut self, original: Option<&Repository>) -> Result<(), ScratchError> {
        let entries: Vec<_> = self
            .held
            .iter()
            .filter_map(|(path, held)| Some((path, held.mode, held.id.as_deref()?)))
            .collect();
        make_repository(&self.root, &self.store, original, &entries)?;
        self.fingerprint = fingerprint(&self.root);
        Ok(())
    }

    pub(super) fn at(&self, path: &RepoPath) -> PathBuf {
        self.root.join(path.as_str())
    }

    fn before(&self, path: &RepoPath, held: &Held) -> Result<(Arc<[u8]>, u32), ScratchError> {
        let stored = match &held.id {
            Some(id) => self.store.find_blob(id),
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
        Ok(fs::write(&at, text).at(&at)?)
    }
}

fn read_entry(source: &Worktree, entry: &Entry) -> Result<Arc<[u8]>, ScratchError> {
    if let EntryKind::Symlink { target } = &entry.kind {
        return Ok(Arc::from(target.as_bytes()));
    }
    source.read(&entry.path).map_err(|source| ScratchError::Read {
        path: entry.path.clone(),
        source,
    })
}

struct Ids {
    root: PathBuf,
    held: BTreeMap<RepoPath, Held>,
}

impl Tracked for Ids {
    fn paths(&self) -> Vec<(RepoPath, TrackedKind)> {
        self.held.keys().map(|path| (path.clone(), TrackedKind::File)).collect()
    }

    fn fresh_blob_id(&self, path: &RepoPath) -> Option<BlobId> {
        let held = self.held.get(path)?;
        let fresh = read_stamp(&self.root.join(path.as_str())) == Some(held.stamp);
        held.id.as_deref().filter(|_| fresh)?.parse().ok()
    }
}
