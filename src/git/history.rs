use std::collections::HashMap;

use gix::object::tree::diff::ChangeDetached;

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
    /// newest first, under the names the files have at `revision`: moves are followed. Merges are passed over: what they bring stands in the commits they merge.
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
        let mut names = Names::default();
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
            names.learn(&found);
            let mut paths: Vec<RepoPath> = found
                .iter()
                .filter(|change| !change.entry_mode().is_tree())
                .filter_map(|change| names.path(change.location()))
                .collect();
            // A move names one file twice.
            paths.sort();
            paths.dedup();
            changes.push(Change {
                time: time.seconds,
                paths,
            });
        }
        Ok(changes)
    }
}

/// The names that files of older commits have today.
#[derive(Default)]
struct Names {
    today: HashMap<Vec<u8>, Option<RepoPath>>,
}

impl Names {
    fn path(&mut self, location: &[u8]) -> Option<RepoPath> {
        if let Some(known) = self.today.get(location) {
            return known.clone();
        }
        let path = std::str::from_utf8(location)
            .ok()
            .and_then(|text| RepoPath::new(text).ok());
        self.today.insert(location.to_vec(), path.clone());
        path
    }

    // What a commit removed under one name and added under another: the same bytes, or, since
    // moving changes what a file imports, the only two of one file name.
    fn learn(&mut self, changes: &[ChangeDetached]) {
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
        for (name, id) in &removed.all {
            let from = added.by_id.get(id).copied().flatten();
            let from = from.filter(|_| removed.by_id.get(id).is_some_and(Option::is_some));
            let file = file_name(name);
            let same_name = || {
                let only = removed.by_name.get(file).is_some_and(Option::is_some);
                added.by_name.get(file).copied().flatten().filter(|_| only)
            };
            if let Some(to) = from.or_else(same_name)
                && let Some(today) = self.path(to)
            {
                self.today.insert(name.to_vec(), Some(today));
            }
        }
    }
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
