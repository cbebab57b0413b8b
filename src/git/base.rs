use super::repository::commit_of;
use super::{GitError, Repository};

impl Repository {
    /// The commit that a revision names, in hex.
    ///
    /// # Errors
    /// [`GitError::Revision`] when it names none.
    pub fn commit(&self, revision: &str) -> Result<String, GitError> {
        Ok(commit_of(&self.local(), revision)?.id.to_string())
    }

    /// The first-parent line from `revision` on, newest first, at most `count` commits; it ends at
    /// the edge of a shallow clone.
    ///
    /// # Errors
    /// [`GitError::Revision`] when `revision` names no commit.
    pub fn first_parents(&self, revision: &str, count: usize) -> Result<Vec<String>, GitError> {
        let repo = self.local();
        let mut commit = commit_of(&repo, revision)?;
        let mut found = vec![commit.id.to_string()];
        while found.len() < count {
            let parent = commit.parent_ids().next();
            let parent = parent.and_then(|id| id.object().ok()?.peel_to_commit().ok());
            let Some(parent) = parent else { break };
            found.push(parent.id.to_string());
            commit = parent;
        }
        Ok(found)
    }

    /// Where the branch that is checked out left the main branch of its remote, or of this clone;
    /// `None` where it did not.
    #[must_use]
    pub fn branched_from(&self) -> Option<String> {
        let repo = self.local();
        let head = repo.head_id().ok()?.detach();
        let main = [
            "origin/HEAD",
            "origin/main",
            "origin/master",
            "main",
            "master",
        ];
        let mut bases = main.iter().filter_map(|name| {
            let tip = commit_of(&repo, name).ok()?.id;
            let base = repo.merge_base(head, tip).ok()??.detach();
            (base != head).then(|| base.to_string())
        });
        bases.next()
    }
}
