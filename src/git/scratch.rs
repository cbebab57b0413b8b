use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::scratch_repository::{fingerprint, initialise};
use super::{GitError, Repository};
use crate::model::{BlobId, RepoPath};
use crate::source::{Entry, EntryKind, ReadError, Source, Tracked, TrackedKind, Worktree};

/// A copy of a worktree in which commands may do what they like: a git repository of its own with
/// one commit, which borrows the objects of the original. The folder is kept between uses, so
/// only what differs is written again.
pub struct Scratch {
    slot: PathBuf,
    root: PathBuf,
    original: PathBuf,
    held: BTreeMap<RepoPath, Held>,
    shared: Vec<RepoPath>,
    fingerprint: String,
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
    /// Ignored folders that the copy needs and that are linked rather than copied, such as
    /// `node_modules`.
    pub shared: &'a [RepoPath],
}

/// Why a scratch copy cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// The disk refused.
    #[error("cannot write the scratch copy `{path}`: {kind}")]
    Io {
        /// The path.
        path: String,
        /// What the system said.
        kind: io::ErrorKind,
    },
    /// A file of the original cannot be copied.
    #[error("cannot copy `{path}`: {source}")]
    Read {
        /// The path.
        path: RepoPath,
        /// Why.
        source: ReadError,
    },
    /// The copy's repository refused.
    #[error(transparent)]
    Git(#[from] GitError),
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
struct Held {
    id: Option<String>,
    mode: u32,
    stamp: Stamp,
}

/// What tells that a file was not touched since it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    bytes: u64,
    modified: i128,
    changed: i128,
    inode: u64,
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
            remove(&root)?;
        }
        fs::create_dir_all(&root).map_err(|error| failed(&root, &error))?;
        let mut scratch = Self {
            slot: plan.slot.to_owned(),
            original: plan.original.to_owned(),
            held: earlier,
            shared: plan.shared.to_vec(),
            fingerprint: String::new(),
            root,
        };
        let listing = plan.from.listing();
        scratch
            .held
            .retain(|path, _| listing.get(path.as_str()).is_some());
        scratch.sweep()?;
        for entry in listing.entries() {
            scratch.copy(entry, plan)?;
        }
        scratch.link()?;
        let entries: Vec<_> = scratch
            .held
            .iter()
            .filter_map(|(path, held)| Some((path, held.mode, held.id.as_deref()?)))
            .collect();
        let state = plan.slot.join("repository");
        initialise(&scratch.root, &state, plan.git, plan.from, &entries)?;
        scratch.fingerprint = fingerprint(&scratch.root);
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
        let source = self.source().map_err(|error| ScratchError::Io {
            path: format!("{}: {error}", self.root.display()),
            kind: io::ErrorKind::NotFound,
        })?;
        let shared: Vec<&str> = self.shared.iter().map(RepoPath::as_str).collect();
        let mut changes = Vec::new();
        for entry in source.listing().entries() {
            let path = &entry.path;
            if shared.contains(&path.as_str()) {
                continue;
            }
            let held = self.held.get(path);
            let Some(mode) = mode_of(&entry.kind) else {
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
        self.link()?;
        if !self.repository_is_untouched() {
            self.renew_repository()?;
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
            let Ok(metadata) = at.symlink_metadata() else {
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
                stamp: Stamp::of(&metadata),
            };
            self.held.insert(path.clone(), held);
        }
        self.save()
    }

    fn repository(&self) -> Result<Repository, ScratchError> {
        Repository::discover(&self.root)?
            .ok_or_else(|| GitError::Unreadable("the scratch copy lost its repository".to_owned()))
            .map_err(ScratchError::from)
    }

    fn renew_repository(&mut self) -> Result<(), ScratchError> {
        // The objects stay: blobs of adopted files may stand nowhere else.
        super::scratch_repository::renew(&self.root)?;
        self.fingerprint = fingerprint(&self.root);
        Ok(())
    }

    fn at(&self, path: &RepoPath) -> PathBuf {
        self.root.join(path.as_str())
    }

    fn copy(&mut self, entry: &Entry, plan: &ScratchPlan<'_>) -> Result<(), ScratchError> {
        let path = &entry.path;
        let Some(mode) = mode_of(&entry.kind) else {
            return Ok(());
        };
        if let EntryKind::Symlink { target } = &entry.kind {
            let id = BlobId::of(target.as_bytes()).to_string();
            if self.is_held(path, mode, Some(&id)) {
                return Ok(());
            }
            return self.put(path, target.as_bytes(), mode, Some(id));
        }
        let id = plan.from.blob_id(path).map(|id| id.to_string());
        if id.is_some() && self.is_held(path, mode, id.as_deref()) {
            return Ok(());
        }
        match plan.from.read(path) {
            Ok(bytes) => self.put(path, &bytes, mode, id),
            Err(ReadError::TooLarge { .. }) => self.put_large(path, mode),
            // It vanished since it was listed.
            Err(ReadError::NotFound) => Ok(()),
            Err(source) => Err(ScratchError::Read {
                path: path.clone(),
                source,
            }),
        }
    }

    fn is_held(&self, path: &RepoPath, mode: u32, id: Option<&str>) -> bool {
        self.held.get(path).is_some_and(|held| {
            held.mode == mode
                && held.id.as_deref() == id
                && stamp(&self.at(path)) == Some(held.stamp)
        })
    }

    fn put(
        &mut self,
        path: &RepoPath,
        bytes: &[u8],
        mode: u32,
        id: Option<String>,
    ) -> Result<(), ScratchError> {
        let at = self.at(path);
        self.clear_way(path)?;
        write_entry(&at, bytes, mode).map_err(|error| failed(&at, &error))?;
        self.hold(path, mode, id)
    }

    // Too large to be read whole: the system copies it, and it is known by its stamp alone.
    fn put_large(&mut self, path: &RepoPath, mode: u32) -> Result<(), ScratchError> {
        let at = self.at(path);
        self.clear_way(path)?;
        fs::copy(self.original.join(path.as_str()), &at).map_err(|error| failed(&at, &error))?;
        self.hold(path, mode, None)
    }

    fn hold(&mut self, path: &RepoPath, mode: u32, id: Option<String>) -> Result<(), ScratchError> {
        let at = self.at(path);
        let metadata = at.symlink_metadata().map_err(|error| failed(&at, &error))?;
        let stamp = Stamp::of(&metadata);
        self.held.insert(path.clone(), Held { id, mode, stamp });
        Ok(())
    }

    // Whatever a command put where the file or one of its directories belongs.
    fn clear_way(&self, path: &RepoPath) -> Result<(), ScratchError> {
        let mut directories: Vec<&str> = path.ancestors().filter(|it| !it.is_empty()).collect();
        directories.sort_by_key(|directory| directory.len());
        for directory in directories {
            let at = self.root.join(directory);
            match at.symlink_metadata() {
                Ok(metadata) if metadata.is_dir() => continue,
                Ok(_) => remove(&at)?,
                Err(_) => {}
            }
            fs::create_dir(&at).map_err(|error| failed(&at, &error))?;
        }
        remove(&self.at(path))
    }

    // Removes all that is not held. Links are removed, never followed.
    fn sweep(&self) -> Result<(), ScratchError> {
        let mut directories: std::collections::HashSet<&str> = std::collections::HashSet::new();
        for path in self.held.keys() {
            directories.extend(path.ancestors());
        }
        let mut open = vec![String::new()];
        while let Some(directory) = open.pop() {
            let at = self.root.join(&directory);
            let Ok(entries) = fs::read_dir(&at) else {
                continue;
            };
            for entry in entries.filter_map(Result::ok) {
                let name = entry.file_name();
                if directory.is_empty() && name == ".git" {
                    continue;
                }
                let Some(name) = name.to_str() else {
                    remove(&entry.path())?;
                    continue;
                };
                let path = if directory.is_empty() {
                    name.to_owned()
                } else {
                    format!("{directory}/{name}")
                };
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_directory && directories.contains(path.as_str()) {
                    open.push(path);
                } else if is_directory
                    || !RepoPath::new(&path).is_ok_and(|path| self.held.contains_key(&path))
                {
                    remove(&entry.path())?;
                }
            }
        }
        Ok(())
    }

    fn link(&self) -> Result<(), ScratchError> {
        for path in &self.shared {
            let target = self.original.join(path.as_str());
            if !target.exists() {
                continue;
            }
            let at = self.at(path);
            self.clear_way(path)?;
            symlink(&target, &at).map_err(|error| failed(&at, &error))?;
        }
        Ok(())
    }

    fn bytes(&self, source: &Worktree, entry: &Entry) -> Result<Arc<[u8]>, ScratchError> {
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
            Some(id) => self.repository()?.objects().find(id),
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

impl Stamp {
    #[cfg(unix)]
    fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let nanos =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            bytes: metadata.len(),
            modified: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanos(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    #[cfg(not(unix))]
    fn of(metadata: &Metadata) -> Self {
        let since = |time: io::Result<std::time::SystemTime>| {
            time.ok()
                .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
                .map_or(0, |time| i128::try_from(time.as_nanos()).unwrap_or(0))
        };
        Self {
            bytes: metadata.len(),
            modified: since(metadata.modified()),
            changed: since(metadata.created()),
            inode: 0,
        }
    }
}

fn stamp(at: &Path) -> Option<Stamp> {
    at.symlink_metadata().ok().as_ref().map(Stamp::of)
}

fn mode_of(kind: &EntryKind) -> Option<u32> {
    match kind {
        EntryKind::File { executable: true } => Some(0o100_755),
        EntryKind::File { executable: false } => Some(0o100_644),
        EntryKind::Symlink { .. } => Some(0o120_000),
        EntryKind::Submodule { .. } | EntryKind::Special | EntryKind::NotCheckedOut => None,
    }
}

fn mode_on_disk(metadata: &Metadata) -> u32 {
    #[cfg(unix)]
    let executable = {
        use std::os::unix::fs::PermissionsExt as _;
        metadata.permissions().mode() & 0o100 != 0
    };
    #[cfg(not(unix))]
    let executable = false;
    match (metadata.is_symlink(), executable) {
        (true, _) => 0o120_000,
        (false, true) => 0o100_755,
        (false, false) => 0o100_644,
    }
}

fn write_entry(at: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    if mode == 0o120_000 {
        return symlink(Path::new(&*String::from_utf8_lossy(bytes)), at);
    }
    fs::write(at, bytes)?;
    #[cfg(unix)]
    if mode == 0o100_755 {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(at, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

#[cfg(unix)]
fn symlink(target: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

#[cfg(not(unix))]
fn symlink(target: &Path, at: &Path) -> io::Result<()> {
    if target.is_dir() {
        std::os::windows::fs::symlink_dir(target, at)
    } else {
        std::os::windows::fs::symlink_file(target, at)
    }
}

// Of whatever kind, and without following a link.
fn remove(at: &Path) -> Result<(), ScratchError> {
    let removed = match at.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(at),
        Ok(_) => fs::remove_file(at),
        Err(_) => return Ok(()),
    };
    removed.map_err(|error| failed(at, &error))
}

fn failed(at: &Path, error: &io::Error) -> ScratchError {
    ScratchError::Io {
        path: at.display().to_string(),
        kind: error.kind(),
    }
}
