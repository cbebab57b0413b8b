use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::home::is_own;
use super::segment::{Key, MAX_BYTES, MAX_ENTRY, Segment, encode};

/// Raised whenever what is kept of files or commits is found out or written in another way.
const REVISION: u64 = 7;
/// More segments than this are merged into one.
const MAX_SEGMENTS: usize = 8;

/// What was found out about files and commits, by their ids: what may be found out again, but not
/// for nothing.
pub struct Known {
    /// What files import, export and define.
    pub facts: Store,
    /// Which words files hold.
    pub words: Store,
    /// The definitions of files and where their statements begin.
    pub outlines: Store,
    /// What commits changed.
    pub history: Store,
}

impl Known {
    /// What is kept below `directory`, which need not exist; nothing when it is a link or another's.
    #[must_use]
    pub fn open(directory: &Path) -> Self {
        if directory.symlink_metadata().is_ok() && !is_own(directory, true) {
            return Self::nothing();
        }
        let store = |kind| Store::open(&directory.join(kind));
        Self {
            facts: store("facts"),
            words: store("words"),
            outlines: store("outlines"),
            history: store("history"),
        }
    }

    /// Nothing is known, and nothing is kept.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            facts: Store::nothing(),
            words: Store::nothing(),
            outlines: Store::nothing(),
            history: Store::nothing(),
        }
    }

    /// Writes what is new.
    pub fn save(&self) {
        for store in [&self.facts, &self.words, &self.outlines, &self.history] {
            store.save();
        }
    }
}

/// Values by key, kept between runs in a directory of our own.
///
/// Nothing here fails: a directory that cannot be read or written is an empty store. Segments are
/// written under a new name in one step and never changed, so any number of processes may share
/// the directory; at worst two of them keep the same values twice until the next merge.
pub struct Store {
    directory: Option<PathBuf>,
    segments: OnceLock<Vec<(PathBuf, Segment)>>,
    fresh: Mutex<BTreeMap<Key, Vec<u8>>>,
}

impl Store {
    /// The store in `directory`, which need not exist. Nothing is read before the first question.
    #[must_use]
    pub fn open(directory: &Path) -> Self {
        Self {
            directory: Some(directory.to_owned()),
            ..Self::nothing()
        }
    }

    /// A store that holds nothing and keeps nothing.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            directory: None,
            segments: OnceLock::new(),
            fresh: Mutex::default(),
        }
    }

    /// Whether values are kept at all.
    #[must_use]
    pub fn keeps(&self) -> bool {
        self.directory.is_some()
    }

    /// Reads all values at once, for when most of them will be asked for.
    pub fn load(&self) {
        for (_, segment) in self.segments() {
            segment.load();
        }
    }

    /// The value that this run or an earlier one put under a key.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Cow<'_, [u8]>> {
        let mut segments = self.segments().iter();
        let kept = segments.find_map(|(_, segment)| segment.get(key));
        kept.or_else(|| self.fresh().get(key).cloned().map(Cow::Owned))
    }

    /// Puts a value under a key; the next [`Store::save`] writes it, unless it has more than 4 MiB.
    pub fn put(&self, key: Key, value: Vec<u8>) {
        if self.keeps() && value.len() <= MAX_ENTRY {
            self.fresh().insert(key, value);
        }
    }

    /// Writes what is new. Does nothing when there is nothing, or no place for it.
    pub fn save(&self) {
        let new = std::mem::take(&mut *self.fresh());
        let Some(directory) = self.directory.as_ref().filter(|_| !new.is_empty()) else {
            return;
        };
        let old = self.segments();
        let merge = old.len() >= MAX_SEGMENTS;
        let mut entries = new;
        if merge {
            let of_old = || old.iter().flat_map(|(_, segment)| segment.entries());
            let mut all: BTreeMap<Key, Cow<'_, [u8]>> =
                of_old().map(|(key, value, _)| (key, value)).collect();
            let of_all = all.values().map(|it| it.len());
            let size: usize = of_all.chain(entries.values().map(Vec::len)).sum();
            // What exceeds this keeps only what the present run used.
            if size > MAX_BYTES {
                let used = of_old().filter(|(_, _, used)| *used);
                all = used.map(|(key, value, _)| (key, value)).collect();
            }
            for (key, value) in all {
                entries.entry(key).or_insert_with(|| value.into_owned());
            }
        }
        let mut size = 0;
        let entries: Vec<(Key, Vec<u8>)> = entries
            .into_iter()
            .take_while(|(_, value)| {
                size += value.len();
                size <= MAX_BYTES
            })
            .collect();
        if write(directory, &encode(&entries, revision())).is_some() && merge {
            for (path, _) in old {
                // Another process may have removed it already.
                let _ = std::fs::remove_file(path);
            }
        }
    }

    fn fresh(&self) -> std::sync::MutexGuard<'_, BTreeMap<Key, Vec<u8>>> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn segments(&self) -> &[(PathBuf, Segment)] {
        self.segments.get_or_init(|| {
            // What somebody else put here, or made this a link to, is not what we found out.
            let directory = self.directory.as_ref();
            let own = directory.filter(|it| is_own(it, true));
            let Some(Ok(entries)) = own.map(std::fs::read_dir) else {
                return Vec::new();
            };
            let mut paths: Vec<PathBuf> = entries
                .flatten()
                .filter(|entry| !entry.file_name().to_string_lossy().starts_with(UNFINISHED))
                .map(|entry| entry.path())
                .collect();
            paths.sort();
            let ours = prefix();
            paths
                .into_iter()
                .filter_map(|path| {
                    let is_ours = path.file_name()?.to_string_lossy().starts_with(&ours);
                    if is_ours
                        && is_own(&path, false)
                        && let Some(segment) = Segment::open(&path, revision())
                    {
                        return Some((path, segment));
                    }
                    // Of another version, damaged or foreign: of no use to anybody here.
                    let _ = std::fs::remove_file(&path);
                    None
                })
                .collect()
        })
    }
}

/// How the name of a segment begins while it is written.
const UNFINISHED: &str = "new-";

// The revision is a part of each segment's name.
fn prefix() -> String {
    format!("{:016x}-", revision())
}

fn write(directory: &Path, bytes: &[u8]) -> Option<()> {
    std::fs::create_dir_all(directory).ok()?;
    let mut file = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(directory)
        .ok()?;
    file.write_all(bytes).ok()?;
    let name = file.path().file_name()?.to_str()?;
    let path = directory.join(name.replacen(UNFINISHED, &prefix(), 1));
    file.persist_noclobber(path).ok()?;
    Some(())
}

fn revision() -> u64 {
    // What another release of the program found out is not trusted.
    env!("CARGO_PKG_VERSION")
        .bytes()
        .fold(REVISION, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

#[cfg(test)]
mod tests {
    use super::{Key, Store, prefix};

    fn key(n: u8) -> Key {
        Key::new(&[n; 20], 0)
    }

    #[test]
    fn what_was_put_is_there_in_this_run_and_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path().join("below/words");
        for n in 0..30 {
            let store = Store::open(&directory);
            assert!(store.get(&key(n)).is_none());
            store.put(key(n), vec![n; usize::from(n)]);
            assert_eq!(store.get(&key(n)).unwrap(), vec![n; usize::from(n)]);
            store.save();
        }
        assert!(directory.read_dir().unwrap().count() <= 9, "merged");
        for all_at_once in [false, true] {
            let store = Store::open(&directory);
            if all_at_once {
                store.load();
            }
            for n in 0..30 {
                assert_eq!(store.get(&key(n)).unwrap(), vec![n; usize::from(n)]);
            }
            assert!(store.get(&Key::new(&[1; 20], 1)).is_none());
        }
        let nothing = Store::nothing();
        nothing.put(key(1), vec![1]);
        assert!(nothing.get(&key(1)).is_none());
    }

    #[test]
    fn what_another_version_kept_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path());
        store.put(key(1), vec![1]);
        store.save();
        let ours = directory
            .path()
            .read_dir()
            .unwrap()
            .next()
            .unwrap()
            .unwrap();
        let name = ours.file_name().into_string().unwrap();
        let other = name.replace(&prefix(), "0123456789abcdef-");
        assert_ne!(name, other);
        let other = directory.path().join(other);
        std::fs::copy(ours.path(), &other).unwrap();
        // The right name does not help what was written by another version.
        let renamed = directory.path().join(name + "x");
        let mut bytes = std::fs::read(ours.path()).unwrap();
        bytes[8] ^= 1;
        std::fs::write(&renamed, bytes).unwrap();
        let unfinished = directory.path().join("new-1");
        std::fs::write(&unfinished, "").unwrap();
        let store = Store::open(directory.path());
        assert_eq!(*store.get(&key(1)).unwrap(), [1]);
        assert!(!other.exists() && !renamed.exists() && unfinished.exists());
    }
}
