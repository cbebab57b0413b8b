//! Reads and stores facts of files by blob id, so that an unchanged file is parsed once.

use std::sync::Arc;

use super::Graph;
use crate::languages::{Resolver, parsed, reading};
use crate::model::{FileFacts, RepoPath};
use crate::source::Source;
use crate::state::{Key, Store};

impl<'a> Graph<'a> {
    /// Like `new`, but reads facts from a cache and adds new ones to it.
    pub fn with_fact_cache(source: &'a dyn Source, facts: &'a Store) -> Self {
        let resolver = Resolver::with_facts(
            source,
            Box::new(move |path| Arc::new(known_facts(source, facts, path))),
        );
        Self { source, resolver }
    }
}

fn known_facts(source: &dyn Source, facts: &Store, path: &RepoPath) -> FileFacts {
    let reading = reading(path).filter(|_| facts.keeps());
    let key = reading.and_then(|reading| Some(Key::new(source.blob_id(path)?.as_bytes(), reading)));
    facts.remember(key, || parsed(source, path))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::graph::Graph;
    use crate::languages::{parsed, reading};
    use crate::model::{BlobId, FileFacts, RepoPath};
    use crate::source::{Listing, Memory, ReadError, Source};
    use crate::state::{Key, Known, Store};

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
        run_with(&Store::open(directory), last)
    }

    fn run_with(facts: &Store, last: &str) -> (usize, usize) {
        let source = source(last);
        let graph = Graph::with_fact_cache(&source, facts);
        let edges = graph.whole().iter().map(|file| file.imported_files().len()).sum();
        facts.save();
        (edges, source.reads.load(Ordering::Relaxed))
    }

    #[test]
    fn second_run_reads_changed_files_only() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path().join("below/facts");
        assert_eq!(run(&directory, "import './a'"), (3, 3));
        assert_eq!(run(&directory, "import './a'"), (3, 0));
        assert_eq!(run(&directory, "import './a'; import './b'"), (4, 1));
        assert_eq!(run(&directory, "import './a'"), (3, 0));
    }

    // What somebody else says of the files that `run` reads.
    fn forged(directory: &Path) {
        let facts = Store::open(directory);
        let honest = source("");
        let none = facts_of(&RepoPath::new("x.ts").unwrap());
        for path in ["a.ts", "b.ts", "c.ts"].map(|name| RepoPath::new(name).unwrap()) {
            let id = honest.blob_id(&path).unwrap();
            let key = Key::new(id.as_bytes(), reading(&path).unwrap());
            facts.put(key, &serde_json::to_vec(&none).unwrap());
        }
        facts.save();
    }

    fn facts_of(path: &RepoPath) -> FileFacts {
        parsed(&Memory::new([(path.clone(), "1".into())]), path)
    }

    // The folder of this revision in a store, and the files in it.
    fn entries(store: &Path) -> (PathBuf, Vec<PathBuf>) {
        let list = |path: &Path| -> Vec<PathBuf> {
            let entries = std::fs::read_dir(path).unwrap();
            entries.map(|entry| entry.unwrap().path()).collect()
        };
        let revision = list(store).remove(0);
        let files = list(&revision);
        (revision, files)
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "a test that skips says so")]
    fn rejects_forged_cache() {
        use std::os::unix::fs::{chown, symlink};
        let home = tempfile::tempdir().unwrap();
        let brought = home.path().join("repository/.mendit/cache/facts");
        forged(&brought);
        // In our own place it would be: nothing else keeps it out.
        assert_eq!(run(&brought, ""), (0, 0));
        // A repository cannot put it there by a link to what it brings, of a folder or of a file.
        let own = |name: &str| home.path().join(name).join("cache");
        std::fs::create_dir_all(own("folder")).unwrap();
        symlink(&brought, own("folder").join("facts")).unwrap();
        assert_eq!(run(&own("folder").join("facts"), ""), (2, 3));
        std::fs::create_dir_all(home.path().join("parent")).unwrap();
        symlink(brought.parent().unwrap(), own("parent")).unwrap();
        assert_eq!(run_with(&Known::open(&own("parent")).facts, ""), (2, 3));
        let facts = own("file").join("facts");
        run(&facts, "");
        let (revision, files) = entries(&facts);
        for file in &files {
            std::fs::remove_file(file).unwrap();
            let name = file.file_name().unwrap();
            let forged = entries(&brought).1;
            let forged = forged.iter().find(|path| path.ends_with(name)).unwrap();
            symlink(forged, file).unwrap();
        }
        assert_eq!(run(&facts, ""), (2, 3));
        std::fs::remove_dir_all(&revision).unwrap();
        symlink(entries(&brought).0, &revision).unwrap();
        assert_eq!(run(&facts, ""), (2, 3));
        // Written by another user, when the folder was still open to others.
        let other = own("other").join("facts");
        forged(&other);
        for file in entries(&other).1 {
            if chown(file, Some(54_321), None).is_err() {
                eprintln!("skipped: only root gives files to others");
                return;
            }
        }
        assert_eq!(run(&other, ""), (2, 3));
    }

    #[test]
    fn damaged_cache_is_empty() {
        let directory = tempfile::tempdir().unwrap();
        run(directory.path(), "");
        let (_, files) = entries(directory.path());
        for file in &files {
            let whole = std::fs::read(file).unwrap();
            for at in 0..whole.len() {
                let mut bytes = whole.clone();
                bytes[at] ^= 0x55;
                std::fs::write(file, &bytes).unwrap();
                assert_eq!(run(directory.path(), ""), (2, 1), "byte {at}");
            }
            std::fs::write(file, &whole[..whole.len() / 2]).unwrap();
            assert_eq!(run(directory.path(), ""), (2, 1));
        }
        assert_eq!(run(Path::new("/dev/null/nowhere"), ""), (2, 3));
    }
}
