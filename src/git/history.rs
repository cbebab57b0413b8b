use std::collections::HashMap;

use gix::object::tree::diff::ChangeDetached;

use super::index::path_of;
use super::repository::commit_of;
use super::{GitError, Repository};
use crate::model::RepoPath;
use crate::state::{Key, Store};

/// One commit and the files it changed against its first parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Seconds since 1970 of the committer's date.
    pub time: i64,
    /// Files added, modified or removed.
    pub paths: Vec<RepoPath>,
}

impl Repository {
    /// What up to `count` commits changed, following first and other parents from `revision`,
    /// newest first, under the names the files have at `revision`: moves are followed. Merges are passed over: what they bring stands in the commits they merge.
    /// The last commit of a shallow clone is passed over too.
    ///
    /// What earlier runs found out of these commits is `known`; what is new is put to it.
    ///
    /// # Errors
    /// [`GitError::Revision`] when `revision` names no commit.
    pub fn changes(
        &self,
        revision: &str,
        count: usize,
        store: &Store,
    ) -> Result<Vec<Change>, GitError> {
        let mut repo = self.local();
        repo.object_cache_size(32 << 20);
        let tip = commit_of(&repo, revision)?.id;
        // Where one object stands for another or parents are cut off, an id does not say what a
        // commit changed.
        let nothing = Store::nothing();
        let store = if self.is_shallow() || replaces(&repo) {
            tracing::info!("no history cache: the repository is shallow or replaces objects");
            &nothing
        } else {
            store
        };
        if let Some(diffs) = kept_walk(store, tip, count) {
            tracing::debug!("changes of {} commits from the cache", diffs.len());
            return Ok(under_names_of_today(diffs));
        }
        let walk = repo
            .rev_walk([tip])
            .sorting(gix::revision::walk::Sorting::ByCommitTime(
                gix::traverse::commit::simple::CommitTimeOrder::NewestFirst,
            ))
            .all()
            .map_err(GitError::unreadable)?;
        let mut diffs = Vec::new();
        let mut ids = Vec::new();
        let mut whole = true;
        for info in walk.take(count) {
            // A missing commit ends what is known, as in a damaged clone.
            let Ok(info) = info else {
                whole = false;
                break;
            };
            let diff = kept_diff(store, info.id).or_else(|| {
                let diff = diff(&repo, &info)?;
                if let Some(key) = key(info.id, DIFF) {
                    store.put(key, diff.encode());
                }
                Some(diff)
            });
            whole &= diff.is_some();
            ids.push(info.id);
            diffs.extend(diff);
        }
        tracing::debug!(whole, "changes of {} commits read", diffs.len());
        // What is missing may be there in another run.
        if let Some(key) = key(tip, WALK).filter(|_| whole) {
            let mut walk = count.to_string().into_bytes();
            walk.push(0);
            walk.extend(ids.iter().flat_map(|id| id.as_bytes()));
            store.put(key, walk);
        }
        Ok(under_names_of_today(diffs))
    }
}

/// The ways in which a commit is read.
const WALK: u8 = 0;
const DIFF: u8 = 1;

fn key(id: gix::ObjectId, reading: u8) -> Option<Key> {
    let id = id.as_bytes().try_into().ok()?;
    Some(Key::new(id, reading))
}

fn replaces(repo: &gix::Repository) -> bool {
    let Ok(references) = repo.references() else {
        return true;
    };
    references
        .prefixed("refs/replace/")
        .map_or(true, |mut found| found.next().is_some())
}

fn kept_walk(store: &Store, tip: gix::ObjectId, count: usize) -> Option<Vec<Diff>> {
    let walk = store.get(&key(tip, WALK)?)?;
    let at = memchr::memchr(0, &walk)?;
    let (length, ids) = (walk.get(..at)?, walk.get(at + 1..)?);
    if length != count.to_string().as_bytes() {
        return None;
    }
    let (ids, _) = ids.as_chunks::<20>();
    let diffs = ids
        .iter()
        .map(|id| Diff::decode(&store.get(&Key::new(id, DIFF))?));
    diffs.collect()
}

fn kept_diff(store: &Store, id: gix::ObjectId) -> Option<Diff> {
    Diff::decode(&store.get(&key(id, DIFF)?)?)
}

/// What one commit changed against its first parent.
struct Diff {
    // Seconds since 1970; `None` for a merge, which is passed over.
    time: Option<i64>,
    // Files added, modified or removed.
    files: Vec<Vec<u8>>,
    // A file that was removed, and the one that it became.
    moves: Vec<[Vec<u8>; 2]>,
}

impl Diff {
    // No name holds a zero byte or is empty: the time, files, an empty name, moves.
    fn encode(&self) -> Vec<u8> {
        let mut bytes = self.time.map_or_else(String::new, |it| it.to_string());
        bytes.push('\0');
        let mut bytes = bytes.into_bytes();
        let names = self.files.iter().map(Vec::as_slice).chain([&[][..]]);
        for name in names.chain(self.moves.as_flattened().iter().map(Vec::as_slice)) {
            bytes.extend_from_slice(name);
            bytes.push(0);
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut names = bytes.strip_suffix(&[0])?.split(|byte| *byte == 0);
        let time = std::str::from_utf8(names.next()?).ok()?;
        let time = (!time.is_empty()).then(|| time.parse());
        let files = names.by_ref().map(<[u8]>::to_vec);
        let files = files.take_while(|it| !it.is_empty()).collect();
        let mut moves = Vec::new();
        while let Some(from) = names.next() {
            moves.push([from.to_vec(), names.next()?.to_vec()]);
        }
        Some(Self {
            time: time.transpose().ok()?,
            files,
            moves,
        })
    }
}

// `None` when the commit, its parent or one of their trees is not there.
fn diff(repo: &gix::Repository, info: &gix::revision::walk::Info<'_>) -> Option<Diff> {
    let parents: Vec<_> = info.parent_ids().collect();
    let commit = info.object().ok()?;
    if parents.len() > 1 {
        return Some(Diff {
            time: None,
            files: Vec::new(),
            moves: Vec::new(),
        });
    }
    let before = match parents.first() {
        None => repo.empty_tree(),
        Some(parent) => parent.object().ok()?.peel_to_tree().ok()?,
    };
    let (after, time) = (commit.tree().ok()?, commit.time().ok()?);
    let options = gix::diff::Options::default().with_rewrites(None);
    let found = repo.diff_tree_to_tree(&before, &after, options).ok()?;
    let files = found
        .iter()
        .filter(|change| !change.entry_mode().is_tree())
        .map(|change| change.location().to_vec());
    Some(Diff {
        time: Some(time.seconds),
        files: files.collect(),
        moves: moves(&found),
    })
}

// What a commit removed under one name and added under another: the same bytes, or, since moving
// changes what a file imports, the only two of one file name.
fn moves(changes: &[ChangeDetached]) -> Vec<[Vec<u8>; 2]> {
    let mut added = Moved::default();
    let mut removed = Moved::default();
    for change in changes {
        match change {
            ChangeDetached::Addition {
                location,
                entry_mode,
                id,
                ..
            } if entry_mode.is_blob() => added.note(location, *id),
            ChangeDetached::Deletion {
                location,
                entry_mode,
                id,
                ..
            } if entry_mode.is_blob() => removed.note(location, *id),
            _ => {}
        }
    }
    let became = |(name, id): &(&[u8], gix::ObjectId)| {
        let same_bytes = added.by_id.get(id).copied().flatten();
        let same_bytes = same_bytes.filter(|_| removed.by_id.get(id).is_some_and(Option::is_some));
        let file = file_name(name);
        let same_name = || {
            let only = removed.by_name.get(file).is_some_and(Option::is_some);
            added.by_name.get(file).copied().flatten().filter(|_| only)
        };
        let to = same_bytes.or_else(same_name)?;
        Some([name.to_vec(), to.to_vec()])
    };
    removed.all.iter().filter_map(became).collect()
}

// Commits newest first, under the names that their files have at the first.
fn under_names_of_today(diffs: Vec<Diff>) -> Vec<Change> {
    let mut today: HashMap<Vec<u8>, Option<RepoPath>> = HashMap::new();
    let mut changes = Vec::new();
    for diff in diffs {
        let Some(time) = diff.time else {
            continue;
        };
        let name = |location: &[u8], today: &mut HashMap<_, _>| -> Option<RepoPath> {
            if let Some(path) = today.get(location) {
                return Option::clone(path);
            }
            let path = path_of(location);
            today.insert(location.to_vec(), path.clone());
            path
        };
        for [from, to] in diff.moves {
            if let Some(path) = name(&to, &mut today) {
                today.insert(from, Some(path));
            }
        }
        let files = diff.files.iter();
        let mut paths: Vec<RepoPath> = files.filter_map(|it| name(it, &mut today)).collect();
        // A move names one file twice.
        paths.sort();
        paths.dedup();
        changes.push(Change { time, paths });
    }
    changes
}

// Files on one side of a commit; `None` stands for several of one kind.
#[derive(Default)]
struct Moved<'a> {
    all: Vec<(&'a [u8], gix::ObjectId)>,
    by_id: HashMap<gix::ObjectId, Option<&'a [u8]>>,
    by_name: HashMap<&'a [u8], Option<&'a [u8]>>,
}

impl<'a> Moved<'a> {
    fn note(&mut self, location: &'a [u8], id: gix::ObjectId) {
        self.all.push((location, id));
        self.by_id
            .entry(id)
            .and_modify(|only| *only = None)
            .or_insert(Some(location));
        self.by_name
            .entry(file_name(location))
            .and_modify(|only| *only = None)
            .or_insert(Some(location));
    }
}

fn file_name(location: &[u8]) -> &[u8] {
    let start = memchr::memrchr(b'/', location).map_or(0, |at| at + 1);
    location.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use crate::git::Repository;
    use crate::model::RepoPath;
    use crate::state::Store;

    struct Repo(tempfile::TempDir);

    impl Repo {
        fn new(files: &[(&str, &str)]) -> Self {
            let repo = Self(tempfile::tempdir().unwrap());
            repo.git(&["init", "-q", "-b", "main"]);
            for (path, text) in files {
                repo.write(path, text);
            }
            repo.commit();
            repo
        }

        fn root(&self) -> &Path {
            self.0.path()
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.root().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn commit(&self) {
            self.git(&["add", "-A"]);
            self.git(&["commit", "-q", "-m", "files"]);
        }

        fn git(&self, arguments: &[&str]) {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"]);
            git.args(arguments).current_dir(self.root());
            git.env("GIT_CONFIG_NOSYSTEM", "1")
                .env("GIT_CONFIG_GLOBAL", "/dev/null");
            let output = git.output().unwrap();
            assert!(output.status.success(), "git {arguments:?}: {output:?}");
        }
    }

    #[test]
    fn follows_moves_under_todays_names() {
        let repo = Repo::new(&[
            ("old/a.ts", "import './b';\nexport const a = 1;\n"),
            ("old/b.ts", "export const b = 1;\n"),
            ("old/x/index.ts", "1;\n"),
            ("old/y/index.ts", "2;\n"),
            ("gone.ts", "3;\n"),
        ]);
        repo.git(&["mv", "old", "moved"]);
        // Same bytes, other folder: b.ts. Other bytes, same name: a.ts.
        repo.write("moved/a.ts", "import '@/b';\nexport const a = 1;\n");
        repo.write("moved/x/index.ts", "4;\n");
        repo.write("moved/y/index.ts", "5;\n");
        repo.commit();
        repo.git(&["mv", "moved/b.ts", "moved/c.ts"]);
        repo.git(&["rm", "-q", "gone.ts"]);
        repo.commit();

        let repository = Repository::discover(repo.root()).unwrap().unwrap();
        let changes = repository.changes("HEAD", 10, &Store::nothing()).unwrap();
        let paths = |at: usize| -> Vec<&str> {
            let change = &changes[at];
            change.paths.iter().map(RepoPath::as_str).collect()
        };
        assert_eq!(changes.len(), 3);
        assert_eq!(paths(0), ["gone.ts", "moved/c.ts"]);
        // Of two files of one name nobody knows which became which.
        let unknown = ["old/x/index.ts", "old/y/index.ts"];
        let known = [
            "moved/a.ts",
            "moved/c.ts",
            "moved/x/index.ts",
            "moved/y/index.ts",
        ];
        assert_eq!(paths(1), [&known[..], &unknown[..]].concat());
        let first = ["gone.ts", "moved/a.ts", "moved/c.ts"];
        assert_eq!(paths(2), [&first[..], &unknown[..]].concat());
    }

    #[test]
    fn reads_same_changes_with_and_without_store() {
        let repo = Repo::new(&[("a.ts", "1;\n"), ("b.ts", "2;\n")]);
        let directory = tempfile::tempdir().unwrap();
        let said = |known: &Store| {
            let repository = Repository::discover(repo.root()).unwrap().unwrap();
            let changes = repository.changes("HEAD", 10, known).unwrap();
            known.save();
            changes
        };
        let same = |what: &str| {
            let afresh = said(&Store::nothing());
            assert_eq!(said(&Store::open(directory.path())), afresh, "{what}");
            assert_eq!(
                said(&Store::open(directory.path())),
                afresh,
                "{what}, known"
            );
            afresh
        };
        same("one commit");
        repo.git(&["mv", "a.ts", "c.ts"]);
        repo.commit();
        let moved = same("a move");
        assert_eq!(moved[1].paths[1].as_str(), "c.ts");
        repo.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
        repo.write("b.ts", "3;\n");
        repo.commit();
        same("another branch");
        repo.git(&["merge", "-q", "-m", "both", "main"]);
        assert_eq!(same("a merge").len(), 3);

        // Another count, and another object in the place of a commit.
        let repository = Repository::discover(repo.root()).unwrap().unwrap();
        let known = Store::open(directory.path());
        assert_eq!(repository.changes("HEAD", 2, &known).unwrap().len(), 1);
        repo.git(&["replace", "--graft", "HEAD"]);
        assert_eq!(same("a commit without its parents").len(), 1);
    }
}
