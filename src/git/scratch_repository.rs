use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::tree_writer::tree_kind;
use super::{GitError, Repository};
use crate::model::{BlobId, RepoPath, hex};
use crate::source::{EntryKind, Source};

/// Makes the repository of a scratch copy at `root`: borrowed objects, one commit with `entries`
/// (path, mode, blob id in hex), an index that agrees. In `slot`, which nothing that runs in the copy
/// may write, stand the objects that the original lacks, read from `from`, and for what it was made.
pub(super) fn initialise(
    root: &Path,
    slot: &Path,
    original: Option<&Repository>,
    from: Option<&dyn Source>,
    entries: &[(&RepoPath, u32, &str)],
) -> Result<(), GitError> {
    let stamp = commit_stamp(entries);
    // Believed only while nothing in it was touched, whoever ran there last.
    let state = &slot.join("repository");
    let before = fs::read_to_string(state).unwrap_or_default();
    if before == format!("{stamp} {}", fingerprint(root)) {
        return Ok(());
    }
    let git = root.join(".git");
    let removed = match git.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(&git),
        Ok(_) => fs::remove_file(&git),
        Err(_) => Ok(()),
    };
    removed.map_err(GitError::unreadable)?;
    gix::init(root).map_err(GitError::unreadable)?;
    let stored = store(slot, original)?;
    borrow(&git, &[&stored.objects_folder, &stored.borrowed])?;
    commit(root, &stored.repo, original, from, entries)?;
    let after = format!("{stamp} {}", fingerprint(root));
    fs::write(state, after).map_err(GitError::unreadable)
}

/// Commits `entries` to the fresh repository at `root`; blobs that `objects` lacks are stored there.
fn commit(
    root: &Path,
    objects: &gix::Repository,
    original: Option<&Repository>,
    from: Option<&dyn Source>,
    entries: &[(&RepoPath, u32, &str)],
) -> Result<(), GitError> {
    let git = root.join(".git");
    let repo = gix::open(root).map_err(GitError::unreadable)?;
    let mut editor = repo
        .edit_tree(gix::ObjectId::empty_tree(gix::hash::Kind::Sha1))
        .map_err(GitError::unreadable)?;
    for (path, mode, id) in entries {
        let id = gix::ObjectId::from_hex(id.as_bytes()).map_err(GitError::unreadable)?;
        if let (false, Some(from)) = (objects.has_object(id), from) {
            put(objects, root, path, *mode, from)?;
        }
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
    let before = original.map(Repository::local);
    let parent = before.as_ref().and_then(|it| it.head_id().ok());
    if let Some(before) = &before {
        copy_tags(before, &git)?;
    }
    let commit = repo
        .new_commit_as(
            by,
            by,
            "The state that is repaired",
            tree,
            parent.map(gix::Id::detach),
        )
        .map_err(GitError::unreadable)?;
    let branch = repo.head_name().map_err(GitError::unreadable)?;
    let branch = branch.ok_or_else(|| GitError::Unreadable("no branch".to_owned()))?;
    let branch = git.join(branch.as_bstr().to_string());
    fs::write(&branch, format!("{}\n", commit.id)).map_err(GitError::unreadable)?;
    let mut index = repo.index_from_tree(&tree).map_err(GitError::unreadable)?;
    index
        .write(gix::index::write::Options::default())
        .map_err(GitError::unreadable)
}

// The objects of a scratch copy, where nothing that runs in it can damage them.
struct Stored {
    repo: gix::Repository,
    objects_folder: String,
    borrowed: String,
}

// A repository without files, which borrows from the original.
fn store(slot: &Path, original: Option<&Repository>) -> Result<Stored, GitError> {
    let at = slot.join(STORE);
    if gix::open(&at).is_err() {
        gix::init_bare(&at).map_err(GitError::unreadable)?;
    }
    let objects = original.map(|it| it.common_dir().join("objects"));
    let borrowed = objects.and_then(|it| it.canonicalize().ok());
    let borrowed = borrowed.map_or_else(String::new, |it| it.display().to_string());
    borrow(&at, &[&borrowed])?;
    Ok(Stored {
        repo: gix::open(&at).map_err(GitError::unreadable)?,
        objects_folder: at.join("objects").display().to_string(),
        borrowed,
    })
}

/// The name of the folder of objects in a slot.
pub(super) const STORE: &str = "store.git";

fn borrow(git: &Path, folders: &[&str]) -> Result<(), GitError> {
    let lines: String = folders
        .iter()
        .filter(|folder| !folder.is_empty())
        .map(|folder| format!("{folder}\n"))
        .collect();
    let info = git.join("objects/info");
    fs::create_dir_all(&info).map_err(GitError::unreadable)?;
    fs::write(info.join("alternates"), lines).map_err(GitError::unreadable)
}

/// A digest of what decides how a repository behaves and what it holds: settings, hooks, refs,
/// `HEAD`. The index is left out, as looking at the repository refreshes it.
pub(super) fn fingerprint(root: &Path) -> String {
    let git = root.join(".git");
    let mut digest = Sha256::new();
    let mut open = vec![
        git.join("HEAD"),
        git.join("config"),
        git.join("hooks"),
        git.join("info"),
        git.join("objects/info"),
        git.join("packed-refs"),
        git.join("refs"),
    ];
    open.reverse();
    while let Some(path) = open.pop() {
        digest.update(path.as_os_str().as_encoded_bytes());
        let Ok(metadata) = path.symlink_metadata() else {
            digest.update(b"\0none\0");
            continue;
        };
        if metadata.is_dir() {
            let mut below: Vec<_> = fs::read_dir(&path)
                .into_iter()
                .flatten()
                .filter_map(|entry| Some(entry.ok()?.path()))
                .collect();
            below.sort();
            open.extend(below.into_iter().rev());
        } else if metadata.is_file() {
            digest.update(fs::read(&path).unwrap_or_default());
        } else {
            digest.update(b"\0special\0");
        }
    }
    let bytes: [u8; 32] = digest.finalize().into();
    hex(&bytes)
}

// What describes a version by its tags finds them.
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

fn put(
    repo: &gix::Repository,
    root: &Path,
    path: &RepoPath,
    mode: u32,
    from: &dyn Source,
) -> Result<(), GitError> {
    let stored = if mode == 0o120_000 {
        let target = fs::read_link(root.join(path.as_str())).map_err(GitError::unreadable)?;
        repo.write_blob(target.as_os_str().as_encoded_bytes())
    } else {
        let bytes = from.read(path).map_err(GitError::unreadable)?;
        repo.write_blob(&*bytes)
    };
    stored.map(|_| ()).map_err(GitError::unreadable)
}

fn commit_stamp(entries: &[(&RepoPath, u32, &str)]) -> String {
    let mut digest = Sha256::new();
    for (path, mode, id) in entries {
        digest.update(format!("{mode:o} {id} {path}\n"));
    }
    let bytes: [u8; 32] = digest.finalize().into();
    hex(&bytes)
}

/// Makes a directory a git repository with one commit that holds what `files`, the directory's own
/// files, lists. Ignored files stay where they are, outside the commit.
///
/// # Errors
/// [`GitError::Unreadable`] when a file or the repository refuses.
pub fn first_commit(directory: &Path, files: &dyn Source) -> Result<(), GitError> {
    let mut rows: Vec<(&RepoPath, u32, String)> = Vec::new();
    for entry in files.listing().entries() {
        let path = &entry.path;
        let row = match &entry.kind {
            EntryKind::File { executable } => {
                let bytes = files.read(path).map_err(GitError::unreadable)?;
                let mode = if *executable { 0o100_755 } else { 0o100_644 };
                (path, mode, BlobId::from_content(&bytes).to_string())
            }
            EntryKind::Symlink { target } => (
                path,
                0o120_000,
                BlobId::from_content(target.as_bytes()).to_string(),
            ),
            _ => continue,
        };
        rows.push(row);
    }
    let entries: Vec<_> = rows
        .iter()
        .map(|(path, mode, id)| (*path, *mode, id.as_str()))
        .collect();
    let repo = gix::init(directory).map_err(GitError::unreadable)?;
    commit(directory, &repo, None, Some(files), &entries)
}

#[cfg(test)]
mod tests {
    use super::first_commit;
    use crate::git::Repository;
    use crate::source::{Source, Untracked, Worktree};

    #[test]
    fn the_commit_holds_the_files_and_not_the_ignored_ones() {
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
        let paths: Vec<_> = tree.listing().files().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, [".gitignore", "src/ä.py"]);
        assert!(root.join(".env").exists());
    }
}
