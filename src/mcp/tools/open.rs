use crate::graph::{FactsCache, Graph};
use crate::mcp::error::ToolError;
use crate::mcp::place::Place;
use crate::model::{Code, Profile, RepoPath};
use crate::policy::{ReadPolicy, ReadRules, Redactor};
use crate::workspace::{At, Workspace};

/// The repository as it stands now, or a commit of it.
pub(super) fn workspace(place: &Place, rev: Option<&str>) -> Result<Workspace, ToolError> {
    let at = rev.map_or(At::Worktree, At::Revision);
    Workspace::at(&place.directory, at, place.threads)
        .map_err(|error| ToolError::new(error.code(), error.to_string()))
}

/// What may be read and shown, as the settings have it.
pub(super) fn policy(place: &Place, profile: Profile) -> Result<ReadPolicy, ToolError> {
    ReadPolicy::new(&ReadRules::of(&place.settings.context), profile)
        .map_err(|error| ToolError::new(error.code(), error.to_string()))
}

/// Masks what this process knows to be secret, and what looks like it.
pub(super) fn redactor() -> Redactor {
    let utf8 = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    Redactor::new(std::env::vars_os().filter_map(utf8))
}

/// Does some work on the import graph, with the facts that are known already.
pub(super) fn with_graph<T>(workspace: &Workspace, work: impl FnOnce(&Graph<'_>) -> T) -> T {
    let source = workspace.source.as_ref();
    let directory = workspace.cache_directory("facts");
    let cache = directory.map(|directory| FactsCache::open(&directory));
    let graph = match &cache {
        Some(cache) => Graph::with_facts(source, cache.reader(source)),
        None => Graph::new(source),
    };
    let done = work(&graph);
    if let Some(cache) = &cache {
        cache.save();
    }
    done
}

/// A file of the repository, as a caller names it.
pub(super) fn file(workspace: &Workspace, typed: &str) -> Result<RepoPath, ToolError> {
    workspace
        .repo_path(typed)
        .ok_or_else(|| ToolError::new(Code::C311, format!("`{typed}` is outside the repository")))
}
