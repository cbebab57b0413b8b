//! A cache on disk. It never fails, since every value can be computed again.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::home::is_own;
use crate::model::{BlobId, hex};

/// Raise it whenever values are computed or written in another way.
const REVISION: u32 = 10;
/// A larger value is not kept.
const MAX_VALUE: usize = 4 << 20;
/// With more files than this in a store the older half goes: two states of a repository of 30,000 files.
const MAX_FILES: usize = 60_000;
/// Bytes of the digest before each value.
const DIGEST: usize = 20;

/// Facts about files and commits by their ids. They can be computed again; keeping them saves time.
pub struct Known {
    /// What files import, export and define.
    pub facts: Store,
    /// The definitions of files and where their statements begin.
    pub outlines: Store,
    /// What commits changed.
    pub history: Store,
}

impl Known {
    /// Opens the stores below `directory`, which need not exist; empty ones when it is a link or another's.
    pub fn open(directory: &Path) -> Self {
        if directory.symlink_metadata().is_ok() && !is_own(directory, true) {
            tracing::warn!(
                "no cache: {} is not this user's own folder",
                directory.display()
            );
            return Self::nothing();
        }
        let store = |kind| Store::open(&directory.join(kind));
        Self {
            facts: store("facts"),
            outlines: store("outlines"),
            history: store("history"),
        }
    }

    /// Knows nothing and keeps nothing.
    pub fn nothing() -> Self {
        Self {
            facts: Store::nothing(),
            outlines: Store::nothing(),
            history: Store::nothing(),
        }
    }

    /// Writes what is new.
    pub fn save(&self) {
        for store in [&self.facts, &self.outlines, &self.history] {
            store.save();
        }
    }
}

/// The id of an object, and how that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; 21]);

impl Key {
    /// The key of an object, by its 20 bytes, read in one of several ways.
    pub fn new(id: &[u8; 20], reading: u8) -> Self {
        let mut key = [reading; 21];
        key[..20].copy_from_slice(id);
        Self(key)
    }

    fn file_name(&self) -> String {
        hex(&self.0)
    }
}

/// Values by key, kept between runs: one file for each key, in a folder of this user's own.
///
/// Nothing here fails: a folder that cannot be read or written is an empty store. Files are renamed into
/// place and begin with a digest of their value, so any number of processes may share the folder.
pub struct Store {
    // The folder of this revision; `None` keeps nothing.
    folder: Option<PathBuf>,
    fresh: Mutex<BTreeMap<Key, Vec<u8>>>,
    found: AtomicUsize,
}

impl Store {
    /// The store in `directory`, which need not exist.
    pub fn open(directory: &Path) -> Self {
        // One folder for each revision, because another release may have computed other facts.
        let folder = directory.join(format!("{}-{REVISION}", env!("CARGO_PKG_VERSION")));
        // What somebody else put there, or made a link, is not what this program found out.
        let is_trusted = [directory, &folder]
            .iter()
            .all(|path| path.symlink_metadata().is_err() || is_own(path, true));
        Self {
            folder: is_trusted.then_some(folder),
            ..Self::nothing()
        }
    }

    /// A store that holds nothing and keeps nothing.
    pub fn nothing() -> Self {
        Self {
            folder: None,
            fresh: Mutex::default(),
            found: AtomicUsize::new(0),
        }
    }

    /// Whether values are kept at all.
    pub fn keeps(&self) -> bool {
        self.folder.is_some()
    }

    /// The value that this run or an earlier one put under a key.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let folder = self.folder.as_ref()?;
        if let Some(value) = self.lock_fresh().get(key) {
            return Some(value.clone());
        }
        let path = folder.join(key.file_name());
        if !is_own(&path, false) {
            return None;
        }
        let mut bytes = fs::read(path).ok()?;
        if bytes.len() < DIGEST {
            return None;
        }
        let value = bytes.split_off(DIGEST);
        if bytes != BlobId::from_content(&value).as_bytes() {
            return None;
        }
        self.found.fetch_add(1, Ordering::Relaxed);
        Some(value)
    }

    /// The value under a key, else what `make` gives, which is kept.
    pub fn remember<T>(&self, key: Option<Key>, make: impl FnOnce() -> T) -> T
    where
        T: Serialize + DeserializeOwned,
    {
        let Some(key) = key.filter(|_| self.keeps()) else {
            return make();
        };
        let known = self.get(&key);
        if let Some(known) = known.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            return known;
        }
        let made = make();
        if let Ok(data) = serde_json::to_vec(&made) {
            self.put(key, data);
        }
        made
    }

    /// Puts a value under a key; the next [`Store::save`] writes it, unless it has more than 4 MiB.
    pub fn put(&self, key: Key, value: Vec<u8>) {
        if self.keeps() && value.len() <= MAX_VALUE {
            self.lock_fresh().insert(key, value);
        }
    }

    /// Writes what is new. Does nothing when there is nothing, or no place for it.
    pub fn save(&self) {
        let new = std::mem::take(&mut *self.lock_fresh());
        let Some(folder) = &self.folder else {
            return;
        };
        let found = self.found.load(Ordering::Relaxed);
        tracing::debug!(found, new = new.len(), "cache {}", folder.display());
        if new.is_empty() {
            return;
        }
        let written = make_room(folder)
            .and_then(|()| new.iter().try_for_each(|(key, value)| write_value(folder, key, value)));
        if let Err(error) = written {
            tracing::warn!("no cache in {}: {error}", folder.display());
        }
    }

    fn lock_fresh(&self) -> std::sync::MutexGuard<'_, BTreeMap<Key, Vec<u8>>> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Makes the folder, and removes those of other revisions; one that is full loses its older half.
fn make_room(folder: &Path) -> io::Result<()> {
    if !folder.is_dir() {
        let other_revisions = folder.parent().map(fs::read_dir);
        for entry in other_revisions.into_iter().flatten().flatten().flatten() {
            let _ = fs::remove_dir_all(entry.path());
        }
        return fs::create_dir_all(folder);
    }
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    if files.len() > MAX_FILES {
        files.sort_by_cached_key(|path| path.metadata().and_then(|about| about.modified()).ok());
        for path in files.iter().take(files.len() / 2) {
            // Another process may have removed it already.
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}

fn write_value(folder: &Path, key: &Key, value: &[u8]) -> io::Result<()> {
    let name = key.file_name();
    // Written to a file of its own first, so that two processes cannot mix under one key.
    let unfinished = folder.join(format!("{name}.{}", std::process::id()));
    fs::write(
        &unfinished,
        [BlobId::from_content(value).as_bytes(), value].concat(),
    )?;
    fs::rename(unfinished, folder.join(name))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Key, Store};

    fn key(n: u8) -> Key {
        Key::new(&[n; 20], 0)
    }

    #[test]
    fn returns_values_in_this_run_and_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path().join("below/words");
        for n in 0..3 {
            let store = Store::open(&directory);
            assert!(store.get(&key(n)).is_none());
            store.put(key(n), vec![n; usize::from(n)]);
            assert_eq!(store.get(&key(n)).unwrap(), vec![n; usize::from(n)]);
            store.save();
        }
        let store = Store::open(&directory);
        for n in 0..3 {
            assert_eq!(store.get(&key(n)).unwrap(), vec![n; usize::from(n)]);
        }
        assert!(store.get(&Key::new(&[1; 20], 1)).is_none());
        let nothing = Store::nothing();
        nothing.put(key(1), vec![1]);
        assert!(nothing.get(&key(1)).is_none());
    }

    #[test]
    fn drops_values_of_another_revision() {
        let directory = tempfile::tempdir().unwrap();
        let other = directory.path().join("0.0.1-1");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("x"), "").unwrap();
        let store = Store::open(directory.path());
        assert!(other.exists());
        store.put(key(1), vec![1]);
        store.save();
        assert!(!other.exists());
        assert_eq!(Store::open(directory.path()).get(&key(1)).unwrap(), [1]);
    }
}
