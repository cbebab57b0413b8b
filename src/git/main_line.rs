use std::ops::ControlFlow;

use gix::object::tree::diff::ChangeDetached as Change;

use super::index::path_of;
use super::repository::commit_of;
use super::{GitError, Repository};
use crate::model::RepoPath;

/// One step of a branch's first-parent line: a commit, or all that a merge brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The commit, in hex.
    pub commit: String,
    /// Its first parent, in hex.
    pub parent: String,
    /// Seconds since 1970 of the committer's date.
    pub time: i64,
    /// Files that differ between the two, sorted; names that are no paths are left out.
    pub files: Vec<StepFile>,
}

/// A file that a step changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepFile {
    /// Where it is.
    pub path: RepoPath,
    /// Whether it is there before.
    pub before: bool,
    /// Whether it is there after.
    pub after: bool,
}

/// What could be looked at of a line of history.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Walked {
    /// Steps that were shown.
    pub steps: u64,
    /// Steps whose trees are not in this clone.
    pub unreadable: u64,
    /// Whether the line ended before the first commit, at the edge of a shallow clone.
    pub cut: bool,
}

impl Repository {
    /// Shows the steps of the first-parent line of `revision`, newest first, until `visit` breaks.
    /// A pull request is one step, however it was merged.
    ///
    /// # Errors
    /// [`GitError::Revision`] when `revision` names no commit.
    pub fn main_line(
        &self,
        revision: &str,
        mut visit: impl FnMut(Step) -> ControlFlow<()>,
    ) -> Result<Walked, GitError> {
        let mut repo = self.local();
        repo.object_cache_size(32 << 20);
        let mut commit = commit_of(&repo, revision)?;
        let mut walked = Walked::default();
        loop {
            let Some(parent) = commit.parent_ids().next().map(gix::Id::detach) else {
                break;
            };
            // At the edge of a shallow clone a commit names a parent that is not there.
            let Some(before) = repo
                .find_object(parent)
                .ok()
                .and_then(|it| it.peel_to_commit().ok())
            else {
                walked.cut = true;
                break;
            };
            match step(&repo, &before, &commit) {
                Some(step) => {
                    walked.steps += 1;
                    if visit(step).is_break() {
                        break;
                    }
                }
                None => walked.unreadable += 1,
            }
            commit = before;
        }
        Ok(walked)
    }
}

// `None` where a tree of the two is not here, as in a partial clone.
fn step(repo: &gix::Repository, before: &gix::Commit<'_>, after: &gix::Commit<'_>) -> Option<Step> {
    let (old, new) = (before.tree().ok()?, after.tree().ok()?);
    let options = gix::diff::Options::default().with_rewrites(None);
    let changes = repo.diff_tree_to_tree(&old, &new, options).ok()?;
    let mut files: Vec<StepFile> = Vec::new();
    for change in changes.iter().filter(|it| !it.entry_mode().is_tree()) {
        let Some(path) = path_of(change.location()) else {
            continue;
        };
        files.push(StepFile {
            path,
            before: !matches!(change, Change::Addition { .. }),
            after: !matches!(change, Change::Deletion { .. }),
        });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Some(Step {
        commit: after.id.to_string(),
        parent: before.id.to_string(),
        time: after.time().ok()?.seconds,
        files,
    })
}
