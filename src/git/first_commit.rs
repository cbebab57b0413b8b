use std::path::Path;

use super::GitError;
use super::scratch_repository::commit;
use crate::model::{BlobId, RepoPath};
use crate::source::{EntryKind, Source};

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
                (path, mode, BlobId::of(&bytes).to_string())
            }
            EntryKind::Symlink { target } => {
                (path, 0o120_000, BlobId::of(target.as_bytes()).to_string())
            }
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
