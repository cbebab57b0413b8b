use super::open::{no_such_file, with_graph};
use super::{App, AppError, Progress};
use crate::graph::{Wanted, document, source_files};
use crate::model::{ImportsDocument, RepoPath};
use crate::workspace::{At, Workspace};

/// List what files import, or what imports them.
#[derive(Debug, Clone, Default)]
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
    let wanted = if request.files.is_empty() {
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
    Ok(with_graph(app, &workspace, !request.no_cache, |graph| {
        document(graph, &wanted, request.symbols)
    }))
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
