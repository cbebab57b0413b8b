use std::collections::HashMap;

use gix::objs::tree::EntryMode;

use super::{GitError, Repository};
use crate::model::RepoPath;

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
    /// newest first. Merges are passed over: what they bring stands in the commits they merge.
    /// The last commit of a shallow clone is passed over too.
    ///
    /// # Errors
    /// [`GitError::Revision`] when `revision` names no commit.
    pub fn changes(&self, revision: &str, count: usize) -> Result<Vec<Change>, GitError> {
        let mut repo = self.local();
        repo.object_cache_size(32 << 20);
        let no_such = |error: gix::Error| GitError::Revision {
            revision: revision.to_owned(),
            reason: error.to_string(),
        };
        let tip = repo
            .rev_parse_single(revision)
            .and_then(|id| id.object())
            .and_then(gix::Object::peel_to_commit)
            .map_err(no_such)?;
        let walk = repo
            .rev_walk([tip.id])
            .sorting(gix::revision::walk::Sorting::ByCommitTime(
                gix::traverse::commit::simple::CommitTimeOrder::NewestFirst,
            ))
            .all()
            .map_err(GitError::unreadable)?;
        let mut changes = Vec::new();
        let mut known: HashMap<Vec<u8>, Option<RepoPath>> = HashMap::new();
        for info in walk.take(count) {
            // A missing commit ends what is known, as in a shallow or damaged clone.
            let Ok(info) = info else {
                break;
            };
            let parents: Vec<_> = info.parent_ids().collect();
            let (Ok(commit), true) = (info.object(), parents.len() < 2) else {
                continue;
            };
            let before = match parents.first() {
                None => Some(repo.empty_tree()),
                Some(parent) => parent
                    .object()
                    .ok()
                    .and_then(|object| object.peel_to_tree().ok()),
            };
            let (Some(before), Ok(after), Ok(time)) = (before, commit.tree(), commit.time()) else {
                continue;
            };
            let options = gix::diff::Options::default().with_rewrites(None);
            let Ok(found) = repo.diff_tree_to_tree(&before, &after, options) else {
                continue;
            };
            let paths = found
                .iter()
                .filter(|change| !mode_of(change).is_tree())
                .filter_map(|change| {
                    let location = change.location();
                    known
                        .entry(location.to_vec())
                        .or_insert_with(|| {
                            let text = std::str::from_utf8(location).ok()?;
                            RepoPath::new(text).ok()
                        })
                        .clone()
                })
                .collect();
            changes.push(Change {
                time: time.seconds,
                paths,
            });
        }
        Ok(changes)
    }
}

fn mode_of(change: &gix::object::tree::diff::ChangeDetached) -> EntryMode {
    change.entry_mode()
}
