//! A sorted list of the entries of a source.

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use crate::model::RepoPath;

/// The entries of a source, sorted by path bytes, with constant-time look-up.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    entries: Vec<Entry>,
    places: HashMap<RepoPath, usize>,
    directories: HashSet<Box<str>>,
    skipped: Vec<Skipped>,
}

/// One entry of a source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Where it is.
    pub path: RepoPath,
    /// Its kind.
    pub kind: EntryKind,
    /// Its size in bytes; 0 for what is not a regular file.
    pub bytes: u64,
}

/// The kind of an entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file; `executable` is git's mode 100755.
    File {
        /// Mode 100755.
        executable: bool,
    },
    /// A symlink and its target as text. Never followed.
    Symlink {
        /// The text of the link, lossily decoded.
        target: String,
    },
    /// A gitlink with the commit it names, when known.
    Submodule {
        /// Hex id of the commit.
        commit: Option<String>,
    },
    /// A pipe, socket or device.
    Special,
    /// Tracked, but outside the sparse checkout.
    NotCheckedOut,
}

impl EntryKind {
    /// git's mode of a file or a link; `None` for what has no content here.
    pub fn mode(&self) -> Option<u32> {
        match self {
            Self::File { executable: true } => Some(0o100_755),
            Self::File { executable: false } => Some(0o100_644),
            Self::Symlink { .. } => Some(0o120_000),
            Self::Submodule { .. } | Self::Special | Self::NotCheckedOut => None,
        }
    }
}

/// An entry whose name cannot be a [`RepoPath`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// The name, lossily decoded.
    pub lossy_path: String,
    /// Why it is skipped, in words.
    pub reason: String,
}

impl Skipped {
    /// One that is no text.
    pub(crate) fn unnamed(lossy_path: impl Into<String>) -> Self {
        Self {
            lossy_path: lossy_path.into(),
            reason: "its name is not UTF-8".to_owned(),
        }
    }
}

impl Listing {
    /// Sorts the entries and indexes them. Of two entries with one path the first stays.
    pub fn new(mut entries: Vec<Entry>, mut skipped: Vec<Skipped>) -> Self {
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        entries.dedup_by(|b, a| a.path == b.path);
        skipped.sort();
        skipped.dedup();
        let mut places = HashMap::with_capacity(entries.len());
        let mut directories: HashSet<Box<str>> = HashSet::new();
        for (at, entry) in entries.iter().enumerate() {
            places.insert(entry.path.clone(), at);
            for directory in entry.path.ancestors() {
                if directories.contains(directory) {
                    break;
                }
                directories.insert(directory.into());
            }
        }
        Self {
            entries,
            places,
            directories,
            skipped,
        }
    }

    /// Every entry, sorted by path bytes.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The regular files, sorted by path bytes.
    pub fn files(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| matches!(entry.kind, EntryKind::File { .. }))
    }

    /// Entries whose names are not UTF-8.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The entry at exactly this path.
    pub fn get(&self, path: &str) -> Option<&Entry> {
        self.places.get(path).map(|at| &self.entries[*at])
    }

    /// Whether a regular file is at this path.
    pub fn has_file(&self, path: &str) -> bool {
        self.file(path).is_some()
    }

    /// The shared path of a regular file, when one is here.
    pub fn file(&self, path: &str) -> Option<&RepoPath> {
        let entry = self.get(path).filter(|entry| matches!(entry.kind, EntryKind::File { .. }));
        entry.map(|entry| &entry.path)
    }

    /// Whether any entry lies below this directory (`""` is the root).
    pub fn has_directory(&self, path: &str) -> bool {
        self.directories.contains(path)
    }

    /// The entries below a directory, at any depth, sorted.
    pub fn below(&self, directory: &str) -> &[Entry] {
        if directory.is_empty() {
            return &self.entries;
        }
        let start = self
            .entries
            .partition_point(|entry| prefix_order(entry.path.as_str(), directory).is_lt());
        let count = self.entries[start..]
            .partition_point(|entry| prefix_order(entry.path.as_str(), directory).is_eq());
        &self.entries[start..start + count]
    }

    /// Returns the files whose names are nearest to a path that does not exist, the best first.
    pub fn nearest_paths(&self, missing: &str, count: usize) -> Vec<RepoPath> {
        // Only the end is compared, because similarity costs the product of both lengths.
        let missing = &missing[missing.ceil_char_boundary(missing.len().saturating_sub(200))..];
        let name = missing.rsplit('/').next().unwrap_or(missing);
        let scored = self.files().map(|entry| {
            let same_name = strsim::jaro_winkler(name, entry.path.file_name());
            let same_path = strsim::normalized_levenshtein(missing, entry.path.as_str());
            (same_name * 0.6 + same_path * 0.4, &entry.path)
        });
        let mut near: Vec<(f64, &RepoPath)> = scored.filter(|(score, _)| *score > 0.6).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        near.truncate(count);
        near.into_iter().map(|(_, path)| path.clone()).collect()
    }
}

// Orders a path against the range of paths that start with `directory/`.
fn prefix_order(path: &str, directory: &str) -> std::cmp::Ordering {
    let start = path.bytes().take(directory.len() + 1);
    start.cmp(directory.bytes().chain([b'/']))
}

#[cfg(test)]
mod tests {
    use super::{Entry, EntryKind, Listing};
    use crate::model::RepoPath;

    fn listing(paths: &[&str]) -> Listing {
        let entries = paths
            .iter()
            .map(|path| Entry {
                path: RepoPath::new(path).unwrap(),
                kind: EntryKind::File { executable: false },
                bytes: 1,
            })
            .collect();
        Listing::new(entries, Vec::new())
    }

    #[test]
    fn answers_from_its_index() {
        let listing = listing(&["a/b/c.ts", "a.ts", "a/b.ts", "a-b/x.ts"]);
        let paths: Vec<_> = listing.files().map(|entry| entry.path.as_str()).collect();
        assert_eq!(paths, ["a-b/x.ts", "a.ts", "a/b.ts", "a/b/c.ts"]);
        assert!(listing.has_file("a.ts") && !listing.has_file("a"));
        assert!(listing.has_directory("a/b") && listing.has_directory(""));
        assert!(listing.get("a/b.ts").is_some() && listing.get("a/b").is_none());
        let below: Vec<_> = listing.below("a").iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(below, ["a/b.ts", "a/b/c.ts"]);
        assert!(listing.below("zz").is_empty());
    }

    #[test]
    fn finds_nearest_paths_best_first() {
        let listing = listing(&["src/user.ts", "src/users/list.ts", "tests/user.test.ts"]);
        assert_eq!(
            listing.nearest_paths("src/usr.ts", 2)[0].as_str(),
            "src/user.ts"
        );
        assert!(listing.nearest_paths("zzzzqqqq", 2).is_empty());
        assert!(listing.nearest_paths(&"é".repeat(300), 2).is_empty());
    }
}
