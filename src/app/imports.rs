use std::collections::BTreeSet;

use super::open::{no_such_file, with_graph};
use super::{App, AppError, Progress};
use crate::graph::{Graph, Wanted, document, source_files};
use crate::languages::Language;
use crate::model::{Code, ImportsDocument, ImportsFile, RepoPath};
use crate::policy::is_test;
use crate::source::Source;
use crate::workspace::{At, Workspace};

/// List what files import, or what imports them.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct ImportsRequest {
    /// Files, or directories whose source files are meant; none means the whole repository.
    pub files: Vec<String>,
    /// How many imports away files may be.
    pub hops: u32,
    /// Who imports the files, instead of what they import.
    pub reverse: bool,
    /// Whether each imported name is followed to the file that defines it.
    pub symbols: bool,
    /// Whether the cache of parsed files is left alone.
    pub no_cache: bool,
    /// A commit to read instead of the worktree.
    pub rev: Option<String>,
    /// A commit: the files are those that differ from it, and what imports them is meant.
    pub changed: Option<String>,
    /// Only tests, of what imports the files.
    pub tests: bool,
}

/// Lists imports.
///
/// # Errors
/// A name that is no file of the repository, or a repository that cannot be read.
pub fn list_imports(
    app: &App,
    request: &ImportsRequest,
    progress: &dyn Progress,
) -> Result<ImportsDocument, AppError> {
    let at = request.rev.as_deref().map_or(At::Worktree, At::Revision);
    let workspace = app.workspace(at, progress)?;
    let wanted = if let Some(base) = &request.changed {
        let targets = changed_sources(&workspace, base, progress)?;
        Wanted::Importers(targets, request.hops)
    } else if request.files.is_empty() {
        Wanted::Whole
    } else {
        let targets = targets(&request.files, &workspace)?;
        if request.reverse {
            Wanted::Importers(targets, request.hops)
        } else {
            Wanted::Imports(targets, request.hops)
        }
    };
    super::progress::go_on(progress, "reading imports")?;
    let mut found = with_graph(app, &workspace, !request.no_cache, |graph| {
        document(graph, &wanted, request.symbols)
    });
    if request.tests {
        keep_tests(&mut found);
    }
    Ok(found)
}

// The sources that differ from a commit; for one that is gone, what imported it there.
fn changed_sources(
    workspace: &Workspace,
    base: &str,
    progress: &dyn Progress,
) -> Result<Vec<RepoPath>, AppError> {
    let git = workspace.git.as_ref().ok_or_else(|| {
        AppError::new(
            Code::U204,
            "`--changed` compares with a commit, and this is no git repository",
        )
    })?;
    let before = git.tree(base)?;
    let now = workspace.source.as_ref();
    super::progress::go_on(progress, "comparing")?;
    let changed = differing(&before, now);
    let (sources, others): (Vec<_>, Vec<_>) = changed
        .into_iter()
        .partition(|path| Language::of_path(path.as_str()).is_some());
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().take(5).map(RepoPath::as_str).collect();
        progress.note(&format!(
            "{} changed files are imported by nothing that is read, and what they reach is not \
             known: {}",
            others.len(),
            names.join(", ")
        ));
    }
    let (mut targets, gone): (Vec<_>, Vec<_>) = sources
        .into_iter()
        .partition(|path| now.listing().has_file(path.as_str()));
    if !gone.is_empty() {
        let importers = Graph::new(&before).importers(&gone, 1);
        let kept = importers.nodes.into_iter().map(|node| node.path);
        targets.extend(kept.filter(|path| now.listing().has_file(path.as_str())));
    }
    targets.sort();
    targets.dedup();
    Ok(targets)
}

// Files that are not the same in both, sorted.
fn differing(before: &dyn Source, now: &dyn Source) -> Vec<RepoPath> {
    let mut paths = BTreeSet::new();
    for source in [before, now] {
        paths.extend(source.listing().files().map(|entry| entry.path.clone()));
    }
    paths
        .into_iter()
        .filter(|path| before.blob_id(path) != now.blob_id(path))
        .collect()
}

// Tests among the files that were reached, those that were asked for included.
fn keep_tests(found: &mut ImportsDocument) {
    let kept = |path: &RepoPath| is_test(path.as_str());
    let listed: BTreeSet<RepoPath> = found.files.iter().map(|file| file.path.clone()).collect();
    found.closure.retain(|node| kept(&node.path));
    let alone = found
        .closure
        .iter()
        .filter(|node| !listed.contains(&node.path));
    let alone: Vec<ImportsFile> = alone
        .map(|node| ImportsFile {
            path: node.path.clone(),
            imports: Vec::new(),
        })
        .collect();
    found.files.retain(|file| kept(&file.path));
    found.files.extend(alone);
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
}

fn targets(typed: &[String], workspace: &Workspace) -> Result<Vec<RepoPath>, AppError> {
    let listing = workspace.source.listing();
    let mut targets = Vec::new();
    for text in typed {
        let path = workspace.repo_path(text);
        let before = targets.len();
        match &path {
            Some(path) => targets.extend(source_files(listing, path.as_str())),
            None if text == "." => targets.extend(source_files(listing, "")),
            None => {}
        }
        if targets.len() == before {
            return Err(no_such_file(text, workspace.source.as_ref()));
        }
    }
    Ok(targets)
}
