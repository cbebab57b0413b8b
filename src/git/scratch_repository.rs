//! Makes the repository of a scratch copy. It borrows objects, so that a copy costs no history.

use std::fs;
use std::path::{Path, PathBuf};

use super::disk_entry::{Stamp, read_stamp, remove_entry};
use super::{GitError, Repository};
use crate::model::{BlobId, RepoPath};
use crate::source::{EntryKind, Source};
use gix::objs::tree::EntryKind as TreeKind;

/// A file of a commit: path, git mode, blob id in hex.
pub(super) type CommitEntry<'a> = (&'a RepoPath, u32, &'a str);

/// Opens the objects of a scratch copy in `slot`, where nothing that runs in the copy can damage them: a bare
/// repository that borrows from the original.
pub(super) fn open_store(
    slot: &Path,
    original: Option<&Repository>,
) -> Result<Repository, GitError> {
    let at = slot.join("store.git");
    if gix::open(&at).is_err() {
        gix::init_bare(&at).map_err(GitError::unreadable)?;
    }
    let objects = original.and_then(|git| git.common_dir().join("objects").canonicalize().ok());
    borrow_objects(&at, objects.as_slice())?;
    Repository::discover(&at)?
        .ok_or_else(|| GitError::Unreadable("the scratch copy lost its repository".to_owned()))
}

/// Makes the repository of a scratch copy at `root` anew: objects borrowed from `store`, one commit with `entries`
/// on top of the original's `HEAD`, an index that agrees.
pub(super) fn make_repository(
    root: &Path,
    store: &Repository,
    original: Option<&Repository>,
    entries: &[CommitEntry<'_>],
) -> Result<(), GitError> {
    let git = root.join(".git");
    remove_entry(&git).map_err(GitError::unreadable)?;
    gix::init(root).map_err(GitError::unreadable)?;
    borrow_objects(&git, &[store.git_dir().join("objects")])?;
    let original = original.map(Repository::local);
    let mut parent = None;
    if let Some(original) = &original {
        copy_tags(original, &git)?;
        parent = original.head_id().ok().map(gix::Id::detach);
    }
    commit_entries(root, entries, parent)
}

/// Makes a directory a git repository with one commit that holds what `files`, the directory's own
/// files, lists. Ignored files stay where they are, outside the commit.
///
/// # Errors
/// [`GitError::Unreadable`] when a file or the repository refuses.
pub fn first_commit(directory: &Path, files: &dyn Source) -> Result<(), GitError> {
    let repo = gix::init(directory).map_err(GitError::unreadable)?;
    let mut rows: Vec<(&RepoPath, u32, String)> = Vec::new();
    for entry in files.listing().entries() {
        let Some(mode) = entry.kind.mode() else {
            continue;
        };
        let bytes = match &entry.kind {
            EntryKind::Symlink { target } => target.as_bytes().into(),
            _ => files.read(&entry.path).map_err(GitError::unreadable)?,
        };
        repo.write_blob(&*bytes).map_err(GitError::unreadable)?;
        rows.push((&entry.path, mode, BlobId::from_content(&bytes).to_string()));
    }
    let entries: Vec<CommitEntry<'_>> =
        rows.iter().map(|(path, mode, id)| (*path, *mode, id.as_str())).collect();
    commit_entries(directory, &entries, None)
}

/// Commits `entries` to the fresh repository at `root` and writes its index.
fn commit_entries(
    root: &Path,
    entries: &[CommitEntry<'_>],
    parent: Option<gix::ObjectId>,
) -> Result<(), GitError> {
    let repo = gix::open(root).map_err(GitError::unreadable)?;
    let mut editor = repo
        .edit_tree(gix::ObjectId::empty_tree(gix::hash::Kind::Sha1))
        .map_err(GitError::unreadable)?;
    for (path, mode, id) in entries {
        let id = gix::ObjectId::from_hex(id.as_bytes()).map_err(GitError::unreadable)?;
        editor
            .upsert(path.as_str(), tree_kind(*mode), id)
            .map_err(GitError::unreadable)?;
    }
    let tree = editor.write().map_err(GitError::unreadable)?.detach();
    let by = gix::actor::SignatureRef {
        name: "mendit".into(),
        email: "mendit@localhost".into(),
        time: "0 +0000",
    };
    let commit = repo
        .new_commit_as(by, by, "The state that is repaired", tree, parent)
        .map_err(GitError::unreadable)?;
    let branch = repo.head_name().map_err(GitError::unreadable)?;
    let branch = branch.ok_or_else(|| GitError::Unreadable("no branch".to_owned()))?;
    let branch = root.join(".git").join(branch.as_bstr().to_string());
    fs::write(&branch, format!("{}\n", commit.id)).map_err(GitError::unreadable)?;
    let mut index = repo.index_from_tree(&tree).map_err(GitError::unreadable)?;
    index.write(gix::index::write::Options::default()).map_err(GitError::unreadable)
}

/// git's mode of a file or link as a tree keeps it.
pub(super) fn tree_kind(mode: u32) -> TreeKind {
    match mode {
        0o120_000 => TreeKind::Link,
        0o100_755 => TreeKind::BlobExecutable,
        _ => TreeKind::Blob,
    }
}

fn borrow_objects(git: &Path, folders: &[PathBuf]) -> Result<(), GitError> {
    let lines: String = folders.iter().map(|folder| format!("{}\n", folder.display())).collect();
    let info = git.join("objects/info");
    fs::create_dir_all(&info).map_err(GitError::unreadable)?;
    fs::write(info.join("alternates"), lines).map_err(GitError::unreadable)
}

// Tags are kept, because tools such as setuptools_scm derive a version from them.
fn copy_tags(from: &gix::Repository, git: &Path) -> Result<(), GitError> {
    let mut text = String::from("# pack-refs with: peeled fully-peeled sorted\n");
    let references = from.references().map_err(GitError::unreadable)?;
    for tag in references.tags().map_err(GitError::unreadable)?.flatten() {
        if let Some(id) = tag.try_id() {
            text.push_str(&format!("{id} {}\n", tag.name().as_bstr()));
        }
    }
    fs::write(git.join("packed-refs"), text).map_err(GitError::unreadable)
}

/// Files and folders in `.git` that decide how a repository behaves and what it holds. Looking at a repository
/// refreshes its index, which is left out.
const DECIDING: [&str; 7] = [
    "HEAD", "config", "hooks", "info", "objects/info", "packed-refs", "refs",
];

/// Returns the stamps of what decides about the repository at `root`: equal while nobody touched it.
pub(super) fn fingerprint(root: &Path) -> Vec<(PathBuf, Option<Stamp>)> {
    let mut open: Vec<PathBuf> = DECIDING.map(|name| root.join(".git").join(name)).to_vec();
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() && !path.is_symlink() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(entries.map(|entry| entry.path()));
        }
        let stamp = read_stamp(&path);
        found.push((path, stamp));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[cfg(test)]
mod tests {
    use super::first_commit;
    use crate::git::Repository;
    use crate::source::{Source, Untracked, Worktree};

    #[test]
    fn scratch_commit_excludes_ignored_files() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        std::fs::create_dir(root.join("src")).unwrap();
        std::fs::write(root.join("src/ä.py"), "x = 1\r\n").unwrap();
        std::fs::write(root.join(".gitignore"), ".env\n").unwrap();
        std::fs::write(root.join(".env"), "A=1\n").unwrap();
        let files = Worktree::open(root, Box::new(Untracked), 1).unwrap();
        first_commit(root, &files).unwrap();
        let git = Repository::discover(root).unwrap().unwrap();
        let tree = git.tree("HEAD").unwrap();
        let paths: Vec<_> = tree.listing().files().map(|entry| entry.path.as_str()).collect();
        assert_eq!(paths, [".gitignore", "src/ä.py"]);
        assert!(root.join(".env").exists());
    }
}
