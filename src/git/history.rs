//! Walks the first-parent history of a branch.

use gix::object::tree::diff::ChangeDetached as TreeChange;
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;

use super::index::path_of;
use super::repository::commit_of;
use super::{GitError, Repository};
use crate::model::{BlobId, RepoPath};
use crate::state::{Key, Store};

/// Object cache for walks that read many trees.
const OBJECT_CACHE_BYTES: usize = 32 << 20;

/// One step of a branch's first-parent line: a commit, or all that a merge brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The commit, in hex.
    pub commit: String,
    /// Its first parent, in hex.
    pub parent: String,
    /// Seconds since 1970 of the committer's date.
    pub time: i64,
    /// Files that differ between the two, sorted; names that are not valid paths are left out.
    pub files: Vec<StepFile>,
}

/// A file that a step changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepFile {
    /// Its path.
    pub path: RepoPath,
    /// Whether it exists after the step.
    pub exists_after: bool,
}

impl Repository {
    /// Resolves a revision to a commit, in hex.
    ///
    /// # Errors
    /// [`GitError::Revision`] when it names none.
    pub fn commit(&self, revision: &str) -> Result<String, GitError> {
        Ok(commit_of(&self.local(), revision)?.id.to_string())
    }

    /// Returns at most `count` commits of the first-parent line from `revision` on, newest first; it ends at
    /// the edge of a shallow clone.
    ///
    /// # Errors
    /// [`GitError::Revision`] when `revision` names no commit.
    pub fn first_parents(&self, revision: &str, count: usize) -> Result<Vec<String>, GitError> {
        let repo = self.local();
        let tip = commit_of(&repo, revision)?;
        let line = std::iter::successors(Some(tip), |commit| first_parent(&repo, commit));
        Ok(line.take(count).map(|commit| commit.id.to_string()).collect())
    }

    /// Returns where the branch that is checked out left the main branch of its remote, or of this clone;
    /// `None` where it did not.
    pub fn branched_from(&self) -> Option<String> {
        let repo = self.local();
        let head = repo.head_id().ok()?.detach();
        let main = [
            "origin/HEAD", "origin/main", "origin/master", "main", "master",
        ];
        main.iter().find_map(|name| {
            let tip = commit_of(&repo, name).ok()?.id;
            let base = repo.merge_base(head, tip).ok()??.detach();
            (base != head).then(|| base.to_string())
        })
    }

    /// Returns the newest of some commits, newest first, that `commit` is or descends from. Looks at 64 of them.
    pub fn newest_ancestor(&self, commits: &[String], commit: &str) -> Option<String> {
        if commits.iter().any(|one| one == commit) {
            return Some(commit.to_owned());
        }
        let repo = self.local();
        let tip = commit_of(&repo, commit).ok()?.id;
        let mut near = commits.iter().take(64);
        let found = near.find(|one| {
            let one = commit_of(&repo, one).map(|one| one.id);
            one.is_ok_and(|one| {
                repo.merge_base(one, tip)
                    .is_ok_and(|base| base.is_some_and(|base| base.detach() == one))
            })
        });
        found.cloned()
    }

    /// Returns the files that each of up to `count` commits changed, newest first, following all parents from
    /// `revision`. Merges are passed over because the commits they merge are in the walk, and so are commits whose
    /// trees are missing.
    ///
    /// `store` keeps the changes between trees for later runs.
    ///
    /// # Errors
    /// [`GitError::Revision`] when `revision` names no commit.
    pub fn changes(
        &self,
        revision: &str,
        count: usize,
        store: &Store,
    ) -> Result<Vec<Vec<RepoPath>>, GitError> {
        let mut repo = self.local();
        repo.object_cache_size(OBJECT_CACHE_BYTES);
        let tip = commit_of(&repo, revision)?.id;
        let newest_first = Sorting::ByCommitTime(CommitTimeOrder::NewestFirst);
        let walk = repo.rev_walk([tip]).sorting(newest_first).all();
        let walk = walk.map_err(GitError::unreadable)?;
        // The walk ends here, since nothing is known beyond a missing commit.
        let commits = walk.take(count).map_while(Result::ok);
        let changes = commits.filter_map(|info| changed_files(&repo, &info, store));
        let changes: Vec<Vec<RepoPath>> = changes.collect();
        tracing::debug!("changes of {} commits read", changes.len());
        Ok(changes)
    }

    /// Returns the steps of the first-parent line of `revision`, newest first, as far as this clone has them and
    /// their trees. A pull request is one step, however it was merged.
    ///
    /// # Errors
    /// [`GitError::Revision`] when `revision` names no commit.
    pub fn main_line(&self, revision: &str) -> Result<Vec<Step>, GitError> {
        let mut repo = self.local();
        repo.object_cache_size(OBJECT_CACHE_BYTES);
        let mut commit = commit_of(&repo, revision)?;
        let mut steps = Vec::new();
        // At the edge of a shallow clone a commit names a parent that is not there.
        while let Some(before) = first_parent(&repo, &commit) {
            steps.extend(read_step(&repo, &before, &commit));
            commit = before;
        }
        Ok(steps)
    }
}

fn first_parent<'r>(
    repo: &'r gix::Repository,
    commit: &gix::Commit<'_>,
) -> Option<gix::Commit<'r>> {
    let parent = commit.parent_ids().next()?.detach();
    repo.find_object(parent).ok()?.peel_to_commit().ok()
}

/// Returns what a commit changed; `None` for a merge, and where its parent or one of their trees is missing.
fn changed_files(
    repo: &gix::Repository,
    info: &gix::revision::walk::Info<'_>,
    store: &Store,
) -> Option<Vec<RepoPath>> {
    let mut parents = info.parent_ids();
    let before = match parents.next() {
        None => repo.empty_tree(),
        Some(parent) => parent.object().ok()?.peel_to_tree().ok()?,
    };
    if parents.next().is_some() {
        return None;
    }
    let after = info.object().ok()?.tree().ok()?;
    // The trees decide, whatever grafts and replaced objects make of the commit.
    let trees = BlobId::from_content(format!("{} {}", before.id, after.id).as_bytes());
    let key = Key::new(trees.as_bytes(), 0);
    if let Some(known) = store.get(&key)
        && let Ok(files) = serde_json::from_slice(&known)
    {
        return Some(files);
    }
    let changes = diff_trees(repo, &before, &after)?;
    let files = changes.iter().filter_map(|change| path_of(change.location()));
    let files: Vec<RepoPath> = files.collect();
    if let Ok(value) = serde_json::to_vec(&files) {
        store.put(key, &value);
    }
    Some(files)
}

fn read_step(
    repo: &gix::Repository,
    before: &gix::Commit<'_>,
    after: &gix::Commit<'_>,
) -> Option<Step> {
    let changes = diff_trees(repo, &before.tree().ok()?, &after.tree().ok()?)?;
    let files = changes.iter().filter_map(|change| {
        Some(StepFile {
            path: path_of(change.location())?,
            exists_after: !matches!(change, TreeChange::Deletion { .. }),
        })
    });
    let mut files: Vec<StepFile> = files.collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Some(Step {
        commit: after.id.to_string(),
        parent: before.id.to_string(),
        time: after.time().ok()?.seconds,
        files,
    })
}

// Without renames, for which blobs would be read that a partial clone lacks.
fn diff_trees(
    repo: &gix::Repository,
    before: &gix::Tree<'_>,
    after: &gix::Tree<'_>,
) -> Option<Vec<TreeChange>> {
    let options = gix::diff::Options::default().with_rewrites(None);
    let mut changes = repo.diff_tree_to_tree(before, after, options).ok()?;
    changes.retain(|change| !change.entry_mode().is_tree());
    Some(changes)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use crate::git::Repository;
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
            git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
            let output = git.output().unwrap();
            assert!(output.status.success(), "git {arguments:?}: {output:?}");
        }
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
        assert!(moved[0].iter().any(|path| path.as_str() == "c.ts"));
        assert!(moved[1].iter().any(|path| path.as_str() == "a.ts"));
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
