use std::cell::RefCell;
use std::collections::BTreeMap;

use super::Repository;
use crate::model::RepoPath;

/// Contents of a file's past that are enough to tell how a name in it came to be.
const MAX_VERSIONS: usize = 8;

/// Commits of the first-parent line that are looked through.
const MAX_COMMITS: usize = 400;
/// The same for a file that is not there.
const MAX_GONE: usize = 30;

/// Contents that a file has had at `revision` and on the first-parent line before it, newest first,
/// each that differs from the one after it; a few of them, and none without a repository. A file that
/// is gone had its contents until it went. Ends at the edge of a shallow clone and where the file
/// came.
pub fn earlier<'r>(
    git: Option<&'r Repository>,
    revision: &'r str,
) -> impl Fn(&RepoPath) -> Vec<Vec<u8>> + 'r {
    // Many ask for the past of the same file.
    let cache: RefCell<BTreeMap<RepoPath, Vec<Vec<u8>>>> = RefCell::default();
    move |path| {
        let past = cache.borrow().get(path).cloned();
        past.unwrap_or_else(|| {
            let past = git.map_or_else(Vec::new, |git| git.earlier(revision, path));
            cache.borrow_mut().insert(path.clone(), past.clone());
            past
        })
    }
}

impl Repository {
    fn earlier(&self, revision: &str, path: &RepoPath) -> Vec<Vec<u8>> {
        let mut repo = self.local();
        repo.object_cache_size(8 << 20);
        let tip = repo
            .rev_parse_single(revision)
            .ok()
            .and_then(|id| id.object().ok()?.peel_to_commit().ok());
        let mut commit = tip;
        let mut last = None;
        let mut found = Vec::new();
        for step in 0..MAX_COMMITS {
            let Some(here) = commit else { break };
            let entry = here
                .tree()
                .ok()
                .and_then(|tree| tree.lookup_entry_by_path(path.as_str()).ok()?);
            match entry.filter(|it| it.mode().is_blob()) {
                Some(entry) if last != Some(entry.object_id()) => {
                    let blob = entry.object().ok().and_then(|it| it.try_into_blob().ok());
                    let Some(blob) = blob else { break };
                    found.push(blob.detach().data);
                    last = Some(entry.object_id());
                }
                Some(_) => {}
                None if found.is_empty() && step < MAX_GONE => {}
                None => break,
            }
            if found.len() == MAX_VERSIONS {
                break;
            }
            let parent = here.parent_ids().next();
            commit = parent.and_then(|id| id.object().ok()?.peel_to_commit().ok());
        }
        found
    }
}
