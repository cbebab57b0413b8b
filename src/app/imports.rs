//! The task of `mendit imports`: lists edges of the import graph.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;

use super::flags::request;
use super::open::{base_tree, find_named, with_graph};
use super::{App, AppError, Result};
use crate::graph::{Graph, Wanted, document};
use crate::languages::Language;
use crate::model::{ImportsDocument, ImportsFile, RepoPath};
use crate::policy::is_test;
use crate::source::Source as _;
use crate::workspace::{At, Workspace};

request! {
/// List what files import, or what imports them.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
ImportsRequest {
    /// Files, or directories of source files
    #[arg(value_name = "FILE", required_unless_present_any = ["graph", "changed"])] files: Vec<String>;
    /// Number of import hops to follow; 1 by default, any with `changed` or `tests`
    #[arg(long, value_name = "N")] hops: Option<u32>;
    /// List what imports the files, instead of what they import
    #[arg(long, conflicts_with = "graph")] reverse: bool;
    /// A commit: list what the files that differ from it can affect, through all importers
    #[arg(long, value_name = "BASE", conflicts_with_all = ["graph", "files", "rev"])] changed: Option<String>;
    /// List only tests: those worth running; as text, one path per line
    #[arg(long, conflicts_with = "graph")] tests: bool;
    /// Every source file of the repository
    #[arg(long, conflicts_with = "files")] #[serde(skip)] graph: bool;
    /// Follow each imported name to the file that defines it
    #[arg(long)] symbols: bool;
    /// A commit to read instead of the worktree
    #[arg(long, value_name = "REV")] rev: Option<String>;
}
}

/// Lists imports.
///
/// # Errors
/// A name that is no file of the repository, or a repository that cannot be read.
pub fn list_imports(app: &App, request: &ImportsRequest) -> Result<ImportsDocument> {
    let changed = request.changed.as_deref();
    if changed.is_none() && request.files.is_empty() && !request.graph {
        let message = "`files` is empty, and `changed` names no commit";
        return Err(AppError::usage(message));
    }
    let at = request.rev.as_deref().map_or(At::Worktree, At::Revision);
    let workspace = app.workspace(at)?;
    // Whether what imports the files is meant, however far away.
    let is_far = changed.is_some() || request.tests;
    let hops = request.hops.unwrap_or(if is_far { u32::MAX } else { 1 });
    let files = match changed {
        Some(base) => changed_sources(&workspace, base)?,
        None => targets(&request.files, &workspace)?,
    };
    let wanted = match (request.graph, request.reverse || is_far) {
        (true, _) => Wanted::Whole,
        (_, true) => Wanted::Importers(files, hops),
        (_, false) => Wanted::Imports(files, hops),
    };
    app.go_on("reading imports")?;
    let mut found = with_graph(app, &workspace, true, |graph| {
        document(graph, &wanted, request.symbols)
    });
    if request.tests {
        keep_tests(&mut found);
    }
    Ok(found)
}

// The sources that differ from a commit, sorted; for one that is gone, what imported it there.
fn changed_sources(workspace: &Workspace, base: &str) -> Result<Vec<RepoPath>> {
    let before = base_tree(workspace, "--changed", base)?;
    let now = workspace.source.as_ref();
    let listings = [before.listing(), now.listing()].into_iter();
    let files = listings.flat_map(|listing| listing.files());
    let all: BTreeSet<RepoPath> = files.map(|entry| entry.path.clone()).collect();
    let changed = all.into_iter().filter(|path| before.blob_id(path) != now.blob_id(path));
    let (mut targets, gone): (Vec<_>, Vec<_>) = changed
        .filter(|path| Language::of_path(path.as_str()).is_some())
        .partition(|path| now.listing().has_file(path.as_str()));
    if !gone.is_empty() {
        let importers = Graph::new(&before).importing(&gone, 1, false).nodes;
        let importers = importers.into_iter().map(|node| node.path);
        targets.extend(importers.filter(|path| now.listing().has_file(path.as_str())));
    }
    targets.sort();
    targets.dedup();
    Ok(targets)
}

// Tests among the files that were reached, those that were asked for included.
fn keep_tests(found: &mut ImportsDocument) {
    found.closure.retain(|node| is_test(node.path.as_str()));
    let listed: BTreeSet<RepoPath> = found.files.iter().map(|file| file.path.clone()).collect();
    found.files.retain(|file| is_test(file.path.as_str()));
    let reached = found.closure.iter().map(|node| node.path.clone());
    let alone = reached.filter(|path| !listed.contains(path));
    found.files.extend(alone.map(|path| ImportsFile {
        path,
        imports: Vec::new(),
    }));
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
}

fn targets(typed: &[String], workspace: &Workspace) -> Result<Vec<RepoPath>> {
    let mut targets = Vec::new();
    for text in typed {
        let mut found = find_named(workspace, text)?;
        let is_folder = found.len() > 1;
        found.retain(|path| !is_folder || Language::of_path(path.as_str()).is_some());
        targets.extend(found);
    }
    Ok(targets)
}
