//! The worktree as a source. Symlinks are listed and not followed, so that nothing outside is read.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::io::Read;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock, mpsc};

use foldhash::HashSet;
use ignore::{WalkBuilder, WalkState};

use super::{Entry, EntryKind, Listing, MAX_READ_BYTES, ReadError, Skipped, Source};
use crate::model::{BlobId, RepoPath};

/// The files on disk below one directory: tracked ones, and untracked ones that git would not
/// ignore. Symlinks, pipes and nested repositories are listed and never entered.
pub struct Worktree {
    root: Root,
    threads: usize,
    listing: OnceLock<Listing>,
    /// Whether nothing counts but what is listed.
    is_listed_first: bool,
    tracked: LazyLock<Box<dyn Tracked>, Box<dyn FnOnce() -> Box<dyn Tracked> + Send>>,
}

/// What version control knows about a worktree without looking at file contents.
pub trait Tracked: Send + Sync {
    /// Every tracked path and how it is recorded.
    fn paths(&self) -> Vec<(RepoPath, TrackedKind)>;

    /// How one path is recorded.
    fn kind(&self, path: &RepoPath) -> Option<TrackedKind> {
        let mut paths = self.paths().into_iter();
        paths.find_map(|(one, kind)| (one == *path).then_some(kind))
    }

    /// The recorded blob id, when it is proven to be that of the bytes on disk.
    fn fresh_blob_id(&self, path: &RepoPath) -> Option<BlobId>;
}

/// How a path is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackedKind {
    /// A file or symlink.
    File,
    /// The same, left out of the worktree on purpose (sparse checkout).
    SkipWorktree,
    /// A gitlink and its commit.
    Submodule(String),
}

/// A directory without version control.
pub struct Untracked;

impl Tracked for Untracked {
    fn paths(&self) -> Vec<(RepoPath, TrackedKind)> {
        Vec::new()
    }

    fn fresh_blob_id(&self, _path: &RepoPath) -> Option<BlobId> {
        None
    }
}

impl Worktree {
    /// Lists what is below `root` now; `threads` 0 means one per core.
    ///
    /// # Errors
    /// [`ReadError::Io`] when `root` cannot be opened as a directory.
    pub fn open(root: &Path, tracked: Box<dyn Tracked>, threads: usize) -> Result<Self, ReadError> {
        let worktree = Self::unlisted(root, || tracked, threads)?;
        worktree.listing();
        Ok(Self {
            is_listed_first: true,
            ..worktree
        })
    }

    /// As [`Self::open`], listed when the listing is first needed, as `tracked` is: for what looks at a few files by
    /// name, ignored ones too, and is done before anything changes.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn unlisted(
        root: &Path,
        tracked: impl FnOnce() -> Box<dyn Tracked> + Send + 'static,
        threads: usize,
    ) -> Result<Self, ReadError> {
        let root = Root::open(root).map_err(|error| ReadError::Io(error.to_string()))?;
        Ok(Self {
            root,
            threads,
            listing: OnceLock::new(),
            is_listed_first: false,
            tracked: LazyLock::new(Box::new(tracked)),
        })
    }

    fn list(&self) -> Listing {
        let (root, tracked) = (self.root.path.as_path(), &self.tracked);
        let (mut entries, skipped) = walk_files(root, self.threads);
        let walked: HashSet<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
        let mut directories = RealDirectories::new(root);
        let mut unwalked = Vec::new();
        for (path, kind) in tracked.paths() {
            if let TrackedKind::Submodule(commit) = kind {
                unwalked.push(Entry {
                    path,
                    kind: EntryKind::Submodule {
                        commit: Some(commit),
                    },
                    bytes: 0,
                });
            } else if !walked.contains(path.as_str()) {
                let found =
                    directories.is_real(path.directory()).then(|| entry_at(root, &path)).flatten();
                match found {
                    Some(entry) => unwalked.push(entry),
                    None if kind == TrackedKind::SkipWorktree => unwalked.push(Entry {
                        path,
                        kind: EntryKind::NotCheckedOut,
                        bytes: 0,
                    }),
                    None => {}
                }
            }
        }
        // The first of two entries with one path stays: what version control says of a submodule
        // beats the plain nested repository that the walk saw.
        unwalked.append(&mut entries);
        Listing::new(unwalked, skipped)
    }

    /// What is at a path, where the disk and the index show it without a listing: a file below real folders
    /// of this very repository, ignored or not, or nothing.
    fn peek(&self, path: &str) -> Option<Option<Entry>> {
        let root = self.root.path.as_path();
        let Ok(path) = RepoPath::new(path) else {
            return Some(None);
        };
        let at = root.join(path.as_str());
        let Ok(about) = at.symlink_metadata() else {
            return self.tracked.kind(&path).is_none().then_some(None);
        };
        let is_nested = |folder: &str| root.join(folder).join(".git").symlink_metadata().is_ok();
        let is_own = !path.ancestors().filter(|folder| !folder.is_empty()).any(is_nested);
        // The index comes last: to read a large one takes longer than all else here. Submodules have their file.
        let is_known = RealDirectories::new(root).is_real(path.directory())
            && match about.is_dir() {
                true if root.join(".gitmodules").symlink_metadata().is_ok() => {
                    is_own && !is_nested(path.as_str()) && self.tracked.kind(&path).is_none()
                }
                true => is_own && !is_nested(path.as_str()),
                false => is_own || self.tracked.kind(&path) == Some(TrackedKind::File),
            };
        is_known.then(|| (!about.is_dir()).then(|| entry_of(&at, path, &about)))
    }
}

impl Source for Worktree {
    fn listing(&self) -> &Listing {
        self.listing.get_or_init(|| self.list())
    }

    fn entry(&self, path: &str) -> Option<Entry> {
        let found = self.listing.get().and_then(|listing| listing.get(path));
        if found.is_some() || self.is_listed_first {
            return found.cloned();
        }
        self.peek(path).unwrap_or_else(|| self.listing().get(path).cloned())
    }

    fn read(&self, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
        match self.entry(path.as_str()) {
            None => Err(ReadError::NotFound),
            Some(entry) if !matches!(entry.kind, EntryKind::File { .. }) => {
                Err(ReadError::NotAFile)
            }
            Some(_) => read_regular(&self.root, path),
        }
    }

    fn blob_id(&self, path: &RepoPath) -> Option<BlobId> {
        self.entry(path.as_str())
            .filter(|entry| matches!(entry.kind, EntryKind::File { .. }))?;
        self.tracked
            .fresh_blob_id(path)
            .or_else(|| self.read(path).ok().map(|bytes| BlobId::from_content(&bytes)))
    }
}

enum Found {
    Entry(Entry),
    Skipped(Skipped),
}

fn walk_files(root: &Path, threads: usize) -> (Vec<Entry>, Vec<Skipped>) {
    if let Some(reason) = strange_rules(&root.join(".gitignore")) {
        return (Vec::new(), vec![strange_folder(Path::new("."), reason)]);
    }
    let (sender, receiver) = mpsc::channel();
    let (top, unlisted) = (root.to_owned(), sender.clone());
    WalkBuilder::new(root)
        .standard_filters(false)
        .hidden(false)
        .git_ignore(true)
        .git_exclude(strange_rules(&root.join(".git/info/exclude")).is_none())
        .require_git(false)
        .follow_links(false)
        .threads(threads)
        .filter_entry(move |entry| {
            let name = entry.file_name();
            if name.eq_ignore_ascii_case(".git") || name == "node_modules" {
                return false;
            }
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            // What is installed is no part of the repository, whether it is ignored or not.
            if is_folder && entry.depth() > 0 && entry.path().join("pyvenv.cfg").is_file() {
                return false;
            }
            let rules = is_folder.then(|| entry.path().join(".gitignore"));
            let reason = rules.and_then(|rules| strange_rules(&rules));
            if let Some(reason) = reason {
                let folder = entry.path().strip_prefix(&top).unwrap_or(entry.path());
                let _ = unlisted.send(Found::Skipped(strange_folder(folder, reason)));
            }
            reason.is_none()
        })
        .build_parallel()
        .run(|| {
            let sender = sender.clone();
            Box::new(move |entry| match entry {
                Ok(entry) if entry.depth() > 0 => visit_entry(root, &entry, &sender),
                _ => WalkState::Continue,
            })
        });
    let (mut entries, mut skipped) = (Vec::new(), Vec::new());
    for found in receiver.try_iter() {
        match found {
            Found::Entry(entry) => entries.push(entry),
            Found::Skipped(name) => skipped.push(name),
        }
    }
    (entries, skipped)
}

fn strange_folder(folder: &Path, reason: &str) -> Skipped {
    Skipped {
        lossy_path: folder.to_string_lossy().into_owned(),
        reason: reason.to_owned(),
    }
}

// Why a file of rules is not read, which leads out of the repository or never ends. What is
// untracked below it is then not listed.
fn strange_rules(rules: &Path) -> Option<&'static str> {
    let about = rules.symlink_metadata().ok()?;
    if !about.is_file() {
        return Some("its ignore file is not a regular file");
    }
    (about.len() > (1 << 20)).then_some("its ignore file is larger than 1 MB")
}

fn visit_entry(root: &Path, found: &ignore::DirEntry, sender: &mpsc::Sender<Found>) -> WalkState {
    let Ok(relative) = found.path().strip_prefix(root) else {
        return WalkState::Continue;
    };
    let is_folder = found.file_type().is_some_and(|kind| kind.is_dir());
    let is_plain_folder = is_folder && found.path().join(".git").symlink_metadata().is_err();
    let (result, next) = match repo_path(relative) {
        None => {
            let name = Skipped::unnamed(relative.to_string_lossy());
            (Some(Found::Skipped(name)), WalkState::Skip)
        }
        Some(_) if is_plain_folder => (None, WalkState::Continue),
        // A nested repository is one entry; what is inside belongs to it.
        Some(path) if is_folder => {
            let kind = EntryKind::Submodule { commit: None };
            let bytes = 0;
            (
                Some(Found::Entry(Entry { path, kind, bytes })),
                WalkState::Skip,
            )
        }
        Some(path) => {
            let about = found.path().symlink_metadata().ok();
            let entry = about.map(|about| Found::Entry(entry_of(found.path(), path, &about)));
            (entry, WalkState::Continue)
        }
    };
    if let Some(result) = result {
        // The receiver lives as long as the walk.
        let _ = sender.send(result);
    }
    next
}

fn repo_path(relative: &Path) -> Option<RepoPath> {
    let text = relative.to_str()?;
    RepoPath::resolve("", text).ok()
}

pub(super) fn entry_at(root: &Path, path: &RepoPath) -> Option<Entry> {
    let absolute = root.join(path.as_str());
    let metadata = absolute.symlink_metadata().ok()?;
    (!metadata.is_dir()).then(|| entry_of(&absolute, path.clone(), &metadata))
}

fn entry_of(absolute: &Path, path: RepoPath, metadata: &std::fs::Metadata) -> Entry {
    let (kind, bytes) = if metadata.is_file() {
        let executable = metadata.permissions().mode() & 0o100 != 0;
        (EntryKind::File { executable }, metadata.len())
    } else if metadata.is_symlink() {
        let target = std::fs::read_link(absolute).unwrap_or_default();
        let target = target.to_string_lossy().into_owned();
        (EntryKind::Symlink { target }, 0)
    } else {
        (EntryKind::Special, 0)
    };
    Entry { path, kind, bytes }
}

// Answers whether every component of a directory is a directory and no symlink.
struct RealDirectories {
    root: PathBuf,
    known: HashMap<String, bool>,
}

impl RealDirectories {
    fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            known: HashMap::from([(String::new(), true)]),
        }
    }

    fn is_real(&mut self, directory: &str) -> bool {
        if let Some(known) = self.known.get(directory) {
            return *known;
        }
        let above = directory.rsplit_once('/').map_or("", |(above, _)| above);
        let at = self.root.join(directory);
        let real = self.is_real(above) && at.symlink_metadata().is_ok_and(|about| about.is_dir());
        self.known.insert(directory.to_owned(), real);
        real
    }
}

/// An opened directory below which files are read.
struct Root {
    path: PathBuf,
    #[cfg(target_os = "linux")]
    handle: File,
}

impl Root {
    fn open(path: &Path) -> io::Result<Self> {
        if !path.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self {
            path: path.to_owned(),
            #[cfg(target_os = "linux")]
            handle: File::open(path)?,
        })
    }

    // Without following a symlink in any component, and without waiting on a pipe.
    #[cfg(target_os = "linux")]
    fn open_beneath(&self, path: &RepoPath) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(&self.handle, path.as_str(), flags, Mode::empty(), resolve) {
            Ok(file) => Ok(file.into()),
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => self.open_checked(path),
            Err(rustix::io::Errno::LOOP | rustix::io::Errno::XDEV) => {
                Err(io::ErrorKind::InvalidInput.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_beneath(&self, path: &RepoPath) -> io::Result<File> {
        self.open_checked(path)
    }

    fn open_checked(&self, path: &RepoPath) -> io::Result<File> {
        let mut absolute = self.path.clone();
        for part in path.as_str().split('/') {
            absolute.push(part);
            let metadata = absolute.symlink_metadata()?;
            if !metadata.is_dir() && !metadata.is_file() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
        }
        File::open(absolute)
    }
}

/// Reads one regular file whole, without following symlinks.
fn read_regular(root: &Root, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
    let file = root.open_beneath(path).map_err(|error| read_refusal(&error))?;
    let metadata = file.metadata().map_err(|error| read_refusal(&error))?;
    if !metadata.is_file() {
        return Err(ReadError::NotAFile);
    }
    if metadata.len() > MAX_READ_BYTES {
        return Err(too_large(metadata.len()));
    }
    let length = usize::try_from(metadata.len()).unwrap_or(0);
    let mut bytes = vec![0; length + 1];
    let start = (&file).read(&mut bytes).map_err(|error| read_refusal(&error))?;
    bytes.truncate(start);
    // A file that ends where it should is not asked for more.
    if start != length {
        let rest = file.take(MAX_READ_BYTES + 1).read_to_end(&mut bytes);
        rest.map_err(|error| read_refusal(&error))?;
    }
    if bytes.len() as u64 > MAX_READ_BYTES {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes.into())
}

fn too_large(bytes: u64) -> ReadError {
    ReadError::TooLarge {
        bytes,
        limit: MAX_READ_BYTES,
    }
}

fn read_refusal(error: &io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::NotFound => ReadError::NotFound,
        io::ErrorKind::InvalidInput => ReadError::NotAFile,
        // The kind's own words, because the system's message differs between machines and locales.
        kind => ReadError::Io(kind.to_string()),
    }
}
