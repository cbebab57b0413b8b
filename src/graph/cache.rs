use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::segment::{Key, MAX_ENTRY, Segment, encode};
use crate::model::{FileFacts, RepoPath};
use crate::resolve::{FactsReader, parsed};
use crate::source::Source;

/// Raised whenever the reading of files changes in a way that facts show.
const REVISION: u64 = 5;
/// More segments than this are merged into one.
const MAX_SEGMENTS: usize = 8;
/// A merge that would exceed this keeps only what the present run used.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Facts of files by blob id, kept between runs in a directory of our own.
///
/// Nothing here fails: a directory that cannot be read or written is an empty cache. Segments are
/// written under a new name in one step and never changed, so any number of processes may share
/// the directory; at worst two of them keep the same facts twice until the next merge.
pub struct FactsCache {
    directory: PathBuf,
    segments: OnceLock<Vec<(PathBuf, Segment)>>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    new: BTreeMap<Key, Vec<u8>>,
    used: std::collections::BTreeSet<Key>,
}

impl FactsCache {
    /// A cache in `directory`, which need not exist. Nothing is read before the first question.
    #[must_use]
    pub fn open(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            segments: OnceLock::new(),
            seen: Mutex::default(),
        }
    }

    /// Facts for a resolver or graph: from the cache, else by reading and parsing the file.
    #[must_use]
    pub fn reader<'a>(&'a self, source: &'a dyn Source) -> FactsReader<'a> {
        Box::new(move |path| self.facts(source, path))
    }

    fn facts(&self, source: &dyn Source, path: &RepoPath) -> Arc<FileFacts> {
        let key = reading(path).and_then(|reading| Some(Key::new(source.blob_id(path)?, reading)));
        let Some(key) = key else {
            return Arc::new(parsed(source, path));
        };
        let known = self
            .segments()
            .iter()
            .find_map(|(_, segment)| segment.get(&key))
            .and_then(|data| serde_json::from_slice(&data).ok());
        if let Some(facts) = known {
            self.seen().used.insert(key);
            return Arc::new(facts);
        }
        let facts = parsed(source, path);
        if let Ok(data) = serde_json::to_vec(&facts)
            && data.len() <= MAX_ENTRY
        {
            self.seen().new.insert(key, data);
        }
        Arc::new(facts)
    }

    /// Writes what this run learnt. Does nothing when there is nothing new or no place for it.
    pub fn save(&self) {
        let seen = std::mem::take(&mut *self.seen());
        if seen.new.is_empty() {
            return;
        }
        let old = self.segments();
        let merge = old.len() >= MAX_SEGMENTS;
        let mut entries = seen.new;
        if merge {
            let mut all: BTreeMap<Key, Vec<u8>> = BTreeMap::new();
            for (_, segment) in old {
                all.extend(segment.entries());
            }
            let size: usize = all.values().chain(entries.values()).map(Vec::len).sum();
            if size > MAX_BYTES {
                all.retain(|key, _| seen.used.contains(key));
            }
            all.append(&mut entries);
            entries = all;
        }
        let mut size = 0;
        let entries: Vec<(Key, Vec<u8>)> = entries
            .into_iter()
            .take_while(|(_, data)| {
                size += data.len();
                size <= MAX_BYTES
            })
            .collect();
        if self.write(&encode(&entries, revision())).is_some() && merge {
            for (path, _) in old {
                // Another process may have removed it already.
                let _ = std::fs::remove_file(path);
            }
        }
    }

    fn write(&self, bytes: &[u8]) -> Option<()> {
        std::fs::create_dir_all(&self.directory).ok()?;
        let mut file = tempfile::Builder::new()
            .prefix("new-")
            .tempfile_in(&self.directory)
            .ok()?;
        file.write_all(bytes).ok()?;
        let name = file.path().file_name()?.to_str()?.replace("new-", "facts-");
        let path = self.directory.join(name);
        file.persist_noclobber(path).ok()?;
        Some(())
    }

    fn segments(&self) -> &[(PathBuf, Segment)] {
        self.segments.get_or_init(|| {
            let Ok(entries) = std::fs::read_dir(&self.directory) else {
                return Vec::new();
            };
            let mut paths: Vec<PathBuf> = entries
                .flatten()
                .filter(|entry| entry.file_name().to_string_lossy().starts_with("facts-"))
                .map(|entry| entry.path())
                .collect();
            paths.sort();
            paths
                .into_iter()
                .filter_map(|path| {
                    if let Some(segment) = Segment::open(&path, revision()) {
                        return Some((path, segment));
                    }
                    // Of another version, or damaged: of no use to anybody here.
                    let _ = std::fs::remove_file(&path);
                    None
                })
                .collect()
        })
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// The same bytes are read in another way under another extension.
fn reading(path: &RepoPath) -> Option<u8> {
    Some(match path.extension()? {
        "ts" | "mts" | "cts" => 0,
        "tsx" => 1,
        "py" | "pyi" => 2,
        "vue" => 3,
        "svelte" => 4,
        "astro" => 5,
        "js" | "jsx" | "mjs" | "cjs" => 6,
        "mdx" => 7,
        _ => return None,
    })
}

fn revision() -> u64 {
    // Facts of another release of the program are not trusted.
    env!("CARGO_PKG_VERSION")
        .bytes()
        .fold(REVISION, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::FactsCache;
    use crate::graph::Graph;
    use crate::model::{BlobId, RepoPath};
    use crate::source::{Listing, Memory, ReadError, Source};

    struct Counting {
        inner: Memory,
        reads: AtomicUsize,
    }

    impl Source for Counting {
        fn listing(&self) -> &Listing {
            self.inner.listing()
        }

        fn read(&self, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
            if path.extension() == Some("ts") {
                self.reads.fetch_add(1, Ordering::Relaxed);
            }
            self.inner.read(path)
        }

        fn blob_id(&self, path: &RepoPath) -> Option<BlobId> {
            self.inner.blob_id(path)
        }
    }

    fn source(last: &str) -> Counting {
        let files = [
            ("a.ts", "import './b'"),
            ("b.ts", "import './c'"),
            ("c.ts", last),
        ];
        Counting {
            inner: Memory::new(
                files.map(|(name, text)| (RepoPath::new(name).unwrap(), text.into())),
            ),
            reads: AtomicUsize::new(0),
        }
    }

    fn run(directory: &Path, last: &str) -> (usize, usize) {
        let source = source(last);
        let cache = FactsCache::open(directory);
        let graph = Graph::with_facts(&source, cache.reader(&source));
        let edges = graph.whole().iter().map(|file| file.targets().len()).sum();
        cache.save();
        (edges, source.reads.load(Ordering::Relaxed))
    }

    #[test]
    fn a_second_run_reads_only_what_changed() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path().join("below/facts");
        assert_eq!(run(&directory, "import './a'"), (3, 3));
        assert_eq!(run(&directory, "import './a'"), (3, 0));
        assert_eq!(run(&directory, "import './a'; import './b'"), (4, 1));
        for round in 0..12 {
            run(&directory, &format!("import './a' // {round}"));
        }
        assert!(std::fs::read_dir(&directory).unwrap().count() <= 9);
        assert_eq!(run(&directory, "import './a' // 3"), (3, 0));
    }

    #[test]
    fn damage_is_an_empty_cache() {
        let directory = tempfile::tempdir().unwrap();
        run(directory.path(), "");
        let file = std::fs::read_dir(directory.path()).unwrap().next();
        let file = file.unwrap().unwrap().path();
        let whole = std::fs::read(&file).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            std::fs::write(&file, &bytes).unwrap();
            assert_eq!(run(directory.path(), "").0, 2, "byte {at}");
            for left in std::fs::read_dir(directory.path()).unwrap() {
                std::fs::remove_file(left.unwrap().path()).unwrap();
            }
        }
        std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(run(directory.path(), ""), (2, 3));
        assert_eq!(run(Path::new("/dev/null/nowhere"), ""), (2, 3));
    }
}
