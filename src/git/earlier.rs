use super::Repository;
use crate::model::RepoPath;

/// Commits of the first-parent line that are looked through.
const MAX_COMMITS: usize = 400;

impl Repository {
    /// Contents that a file has had at `revision` and on the first-parent line before it, newest
    /// first, each that differs from the one after it; at most `count` of them. Ends at the edge
    /// of a shallow clone and where the file was not there.
    #[must_use]
    pub fn earlier(&self, revision: &str, path: &RepoPath, count: usize) -> Vec<Vec<u8>> {
        let mut repo = self.local();
        repo.object_cache_size(8 << 20);
        let tip = repo
            .rev_parse_single(revision)
            .ok()
            .and_then(|id| id.object().ok()?.peel_to_commit().ok());
        let mut commit = tip;
        let mut last = None;
        let mut found = Vec::new();
        for _ in 0..MAX_COMMITS {
            let Some(here) = commit else { break };
            let entry = here
                .tree()
                .ok()
                .and_then(|tree| tree.lookup_entry_by_path(path.as_str()).ok()?);
            let Some(entry) = entry.filter(|it| it.mode().is_blob()) else {
                break;
            };
            let id = entry.object_id();
            if last != Some(id) {
                let Some(blob) = entry.object().ok().and_then(|it| it.try_into_blob().ok()) else {
                    break;
                };
                found.push(blob.detach().data);
                last = Some(id);
            }
            if found.len() == count {
                break;
            }
            let parent = here.parent_ids().next();
            commit = parent.and_then(|id| id.object().ok()?.peel_to_commit().ok());
        }
        found
    }
}
