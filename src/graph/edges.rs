//! The import graph. Files are parsed only when asked for, because a question usually concerns few.

use std::sync::Arc;

use crate::languages::{Language, Resolution, Resolver};
use crate::model::{FileFacts, RepoPath};
use crate::parallel;
use crate::source::Source;

/// A repository's import graph, computed where it is asked for.
pub struct Graph<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) resolver: Resolver<'a>,
}

/// One source file with the meaning of its imports.
#[derive(Debug, Clone)]
pub struct FileEdges {
    /// The importing file.
    pub path: RepoPath,
    /// Its facts.
    pub facts: Arc<FileFacts>,
    /// One resolution for each of `facts.imports`, in the same order.
    pub resolutions: Vec<Resolution>,
    /// Files that take effect without an import (`conftest.py`), nearest first.
    pub implicit: Vec<RepoPath>,
}

impl<'a> Graph<'a> {
    /// A graph over a source; nothing is read yet.
    pub fn new(source: &'a dyn Source) -> Self {
        Self {
            source,
            resolver: Resolver::new(source),
        }
    }

    /// Where the graph's files come from.
    pub fn source(&self) -> &'a dyn Source {
        self.source
    }

    /// The resolver behind the graph.
    pub fn resolver(&self) -> &Resolver<'a> {
        &self.resolver
    }

    /// Returns the imports of one file. A file in no known language, or one that cannot be read, imports
    /// nothing; the latter says so in its problems.
    pub fn file(&self, path: &RepoPath) -> FileEdges {
        let facts = self.resolver.facts(path);
        let resolutions =
            facts.imports.iter().map(|import| self.resolver.resolve(path, import)).collect();
        FileEdges {
            path: path.clone(),
            facts,
            resolutions,
            implicit: self.resolver.implicit(path),
        }
    }

    /// Returns the imports of every source file, sorted by path.
    pub fn whole(&self) -> Vec<FileEdges> {
        let files: Vec<&RepoPath> = self
            .source
            .listing()
            .files()
            .map(|entry| &entry.path)
            .filter(|path| Language::of_path(path.as_str()).is_some())
            .collect();
        parallel::map(files, |path| self.file(path))
    }
}

impl FileEdges {
    /// The files imported, in import order, each once, without the file itself. Implicit files
    /// follow.
    pub fn imported_files(&self) -> Vec<RepoPath> {
        let mut seen = std::collections::HashSet::from([&self.path]);
        self.resolutions
            .iter()
            .flat_map(|resolution| &resolution.files)
            .chain(&self.implicit)
            .filter(|path| seen.insert(path))
            .cloned()
            .collect()
    }
}
