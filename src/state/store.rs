//! A cache on disk. It never fails, since every value can be computed again.

use std::fs;
use std::hash::BuildHasher as _;
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use foldhash::quality::FixedState;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::home::is_own;

/// Raise it whenever values are computed or written in another way.
const REVISION: u32 = 11;
/// Files of a store: few, because to make a file costs more than to parse one; several, because one is read whole.
const SHARDS: usize = 16;
/// Bytes before each value: its key, its checksum and its length.
const HEAD: usize = 21 + 8 + 4;

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
                "no cache: {} does not belong to this user",
                directory.display()
            );
            return Self::nothing();
        }
        let [facts, outlines, history] =
            ["facts", "outlines", "history"].map(|kind| Store::open(&directory.join(kind)));
        Self {
            facts,
            outlines,
            history,
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

    // Ids of objects are spread evenly.
    fn shard(&self) -> usize {
        usize::from(self.0[0]) % SHARDS
    }
}

/// Values by key, kept between runs: a few files in a folder of this user's own, to which each run appends.
///
/// Nothing here fails: a folder that cannot be read or written is an empty store. Each value has a checksum, so any
/// number of processes may share the folder, and a file that is cut or damaged loses values and harms nothing.
pub struct Store {
    // The folder of this revision; `None` keeps nothing.
    folder: Option<PathBuf>,
    // Each is read when it is first needed.
    shards: [Mutex<Option<Shard>>; SHARDS],
}

/// One file of a store.
#[derive(Default)]
struct Shard {
    // As on disk up to `saved`.
    bytes: Vec<u8>,
    saved: usize,
    values: HashMap<Key, Range<usize>>,
}

impl Shard {
    // Empty where the file is damaged, so that the next run replaces it.
    fn read(path: &Path) -> Self {
        let bytes = is_own(path, false).then(|| fs::read(path).ok()).flatten().unwrap_or_default();
        let (mut values, mut saved) = (HashMap::default(), 0);
        while let Some(head) = bytes.get(saved..).and_then(|rest| rest.first_chunk::<HEAD>())
            && let Some((key, length)) = head.first_chunk().zip(head.last_chunk())
        {
            let end = saved + HEAD + u32::from_le_bytes(*length) as usize;
            // The last one counts.
            values.insert(Key(*key), saved..end);
            saved = end;
        }
        let whole = Some(bytes).filter(|bytes| bytes.len() == saved);
        whole.map_or_else(Self::default, |bytes| Self {
            bytes,
            saved,
            values,
        })
    }

    fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let (head, value) = self.bytes[self.values.get(key)?.clone()].split_at(HEAD);
        (head[21..29] == checksum(key, value)).then(|| value.to_vec())
    }

    fn put(&mut self, key: Key, value: &[u8]) {
        let start = self.bytes.len();
        let (sum, length) = (checksum(&key, value), (value.len() as u32).to_le_bytes());
        for part in [&key.0[..], &sum, &length, value] {
            self.bytes.extend_from_slice(part);
        }
        self.values.insert(key, start..self.bytes.len());
    }

    // Appends what is new, in one step; else puts a file with nothing else in its place.
    fn write(&self, path: &Path) -> io::Result<()> {
        let new = &self.bytes[self.saved..];
        // A larger file starts anew. All of a store hold two states of a repository of 30,000 files.
        if self.saved > 0 && self.bytes.len() <= 16 << 20 {
            return fs::File::options().append(true).open(path)?.write_all(new);
        }
        let unfinished = path.with_extension(std::process::id().to_string());
        fs::write(&unfinished, new)?;
        fs::rename(unfinished, path)
    }
}

fn checksum(key: &Key, value: &[u8]) -> [u8; 8] {
    FixedState::with_seed(0).hash_one((key, value)).to_le_bytes()
}

impl Store {
    /// The store in `directory`, which need not exist.
    pub fn open(directory: &Path) -> Self {
        // One folder for each revision, because another release may have computed other facts.
        let folder = directory.join(format!("{}-{REVISION}", env!("CARGO_PKG_VERSION")));
        // A folder that another user made, or a link, may hold anything.
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
            shards: Default::default(),
        }
    }

    /// Whether values are kept at all.
    pub fn keeps(&self) -> bool {
        self.folder.is_some()
    }

    /// The value that this run or an earlier one put under a key.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        self.with_shard(key.shard(), |shard| shard.get(key))?
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
            self.put(key, &data);
        }
        made
    }

    /// Puts a value under a key; the next [`Store::save`] writes it, unless it has more than 4 MiB.
    pub fn put(&self, key: Key, value: &[u8]) {
        // A larger value is not kept.
        if value.len() <= 4 << 20 {
            self.with_shard(key.shard(), |shard| shard.put(key, value));
        }
    }

    /// Writes what is new. Does nothing when there is nothing, or no place for it.
    pub fn save(&self) {
        let Some(folder) = &self.folder else {
            return;
        };
        for number in 0..SHARDS {
            // Read again when it is needed again: others may have written to it.
            let Some(shard) = self.lock(number).take() else {
                continue;
            };
            let new = shard.bytes.len() - shard.saved;
            if new == 0 {
                continue;
            }
            tracing::debug!(new, "cache {}", folder.display());
            let written =
                make_folder(folder).and_then(|()| shard.write(&shard_path(folder, number)));
            if let Err(error) = written {
                return tracing::warn!("no cache in {}: {error}", folder.display());
            }
        }
    }

    fn with_shard<T>(&self, number: usize, work: impl FnOnce(&mut Shard) -> T) -> Option<T> {
        let folder = self.folder.as_ref()?;
        let mut shard = self.lock(number);
        Some(work(shard.get_or_insert_with(|| {
            Shard::read(&shard_path(folder, number))
        })))
    }

    fn lock(&self, number: usize) -> MutexGuard<'_, Option<Shard>> {
        self.shards[number].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn shard_path(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{number:x}"))
}

// Makes the folder, and removes those of other revisions.
fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let other_revisions = folder.parent().map(fs::read_dir);
    for entry in other_revisions.into_iter().flatten().flatten().flatten() {
        let _ = fs::remove_dir_all(entry.path());
    }
    fs::create_dir_all(folder)
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
            store.put(key(n), &vec![n; usize::from(n)]);
            assert_eq!(store.get(&key(n)).unwrap(), vec![n; usize::from(n)]);
            store.save();
        }
        let store = Store::open(&directory);
        for n in 0..3 {
            assert_eq!(store.get(&key(n)).unwrap(), vec![n; usize::from(n)]);
        }
        assert!(store.get(&Key::new(&[1; 20], 1)).is_none());
        let nothing = Store::nothing();
        nothing.put(key(1), &[1]);
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
        store.put(key(1), &[1]);
        store.save();
        assert!(!other.exists());
        assert_eq!(Store::open(directory.path()).get(&key(1)).unwrap(), [1]);
    }
}
