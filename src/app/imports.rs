use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;

use super::flags::Args;
use super::open::{no_such_file, with_graph};
use super::{App, AppError, Progress};
use crate::graph::{Graph, Wanted, document, source_files};
use crate::languages::Language;
use crate::model::{Code, ImportsDocument, ImportsFile, RepoPath};
use crate::policy::is_test;
use crate::source::Source;
use crate::workspace::{At, Workspace};

/// List what files import, or what imports them.
#[derive(Debug, Clone, Default, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct ImportsRequest {
    /// Files, or directories whose source files are meant
    #[arg(value_name = "FILE", required_unless_present_any = ["graph", "changed"])]
    pub files: Vec<String>,
    /// Number of import hops to follow; 1 by default, any with `changed` or `tests`
    #[arg(long, value_name = "N")]
    pub hops: Option<u32>,
    /// List what imports the files, instead of what they import
    #[arg(long, conflicts_with = "graph")]
    pub reverse: bool,
    /// A commit: list what the files that differ from it can affect, through all importers
    #[arg(long, value_name = "BASE", conflicts_with_all = ["graph", "files", "rev"])]
    pub changed: Option<String>,
    /// List only tests: those worth running; as text, one path per line
    #[arg(long, conflicts_with = "graph")]
    pub tests: bool,
    /// Every source file of the repository
    #[arg(long, conflicts_with = "files")]
    #[serde(skip)]
    pub graph: bool,
    /// Follow each imported name to the file that defines it
    #[arg(long)]
    pub symbols: bool,
    /// Neither use nor fill the cache of parsed files
    #[arg(long)]
    #[serde(skip)]
    pub no_cache: bool,
    /// A commit to read instead of the worktree
    #[arg(long, value_name = "REV")]
    pub rev: Option<String>,
}

impl ImportsRequest {
    // Whether what imports the files is meant, however far away.
    fn is_far(&self) -> bool {
        self.changed.is_some() || self.tests
    }
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
    let message = match (&request.changed, request.files.is_empty()) {
        (None, true) if !request.graph => "`files` is empty, and `changed` names no commit",
        (Some(_), false) => "`changed` finds the files itself: send it without `files`",
        (Some(_), true) if request.rev.is_some() => {
            "`changed` compares with the worktree: send it without `rev`"
        }
        _ => "",
    };
    if !message.is_empty() {
        return Err(AppError::usage(message));
    }
    let at = request.rev.as_deref().map_or(At::Worktree, At::Revision);
    let workspace = app.workspace(at, progress)?;
    let far = request.is_far();
    let hops = request.hops.unwrap_or(if far { u32::MAX } else { 1 });
    let wanted = if let Some(base) = &request.changed {
        Wanted::Importers(changed_sources(&workspace, base, progress)?, hops)
    } else if request.files.is_empty() {
        Wanted::Whole
    } else if request.reverse || far {
        Wanted::Importers(targets(&request.files, &workspace)?, hops)
    } else {
        Wanted::Imports(targets(&request.files, &workspace)?, hops)
    };
    super::open::go_on(progress, "reading imports")?;
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
    super::open::go_on(progress, "comparing")?;
    let changed = differing(&before, now);
    let sources = changed.into_iter();
    let sources = sources.filter(|path| Language::of_path(path.as_str()).is_some());
    let (mut targets, gone): (Vec<_>, Vec<_>) =
        sources.partition(|path| now.listing().has_file(path.as_str()));
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
