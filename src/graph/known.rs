use std::sync::Arc;

use super::Graph;
use crate::languages::parsed;
use crate::languages::reading;
use crate::model::{FileFacts, RepoPath};
use crate::source::Source;
use crate::state::{Key, Store};

impl<'a> Graph<'a> {
    /// The same, where the facts of files that an earlier run has read are known; what is read now
    /// is put to them.
    #[must_use]
    pub fn knowing(source: &'a dyn Source, facts: &'a Store) -> Self {
        if facts.keeps() {
            Self::with_facts(
                source,
                Box::new(move |path| Arc::new(known(source, facts, path))),
            )
        } else {
            Self::new(source)
        }
    }
}

fn known(source: &dyn Source, facts: &Store, path: &RepoPath) -> FileFacts {
    let key =
        reading(path).and_then(|reading| Some(Key::new(source.blob_id(path)?.as_bytes(), reading)));
    let Some(key) = key else {
        return parsed(source, path);
    };
    let known = facts.get(&key);
    if let Some(known) = known.and_then(|it| serde_json::from_slice(&it).ok()) {
        return known;
    }
    let found = parsed(source, path);
    if let Ok(data) = serde_json::to_vec(&found) {
        facts.put(key, data);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::graph::Graph;
    use crate::model::{BlobId, RepoPath};
    use crate::source::{Listing, Memory, ReadError, Source};
    use crate::state::Store;

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
            inner: Memory::named(files),
            reads: AtomicUsize::new(0),
        }
    }

    fn run(directory: &Path, last: &str) -> (usize, usize) {
        let source = source(last);
        let facts = Store::open(directory);
        let graph = Graph::knowing(&source, &facts);
        let edges = graph.whole().iter().map(|file| file.targets().len()).sum();
        facts.save();
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
