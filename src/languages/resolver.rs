//! Resolves imports from a listing and project files. The disk is not read, so that commits and patches
//! resolve like worktrees.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

use super::facts::facts;
use super::language::Language;
use super::{python, typescript};
use crate::model::{FileFacts, Import, ParseProblem, RepoPath};
use crate::source::{Listing, Source};

/// Answers what an import means, from the listing and the project files on its way.
///
/// Nothing is installed and `node_modules` is not looked at: packages of the workspace resolve to
/// their sources, everything else by name is external. Shared between threads; the same source
/// gives the same answers.
pub struct Resolver<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) files: &'a Listing,
    pub(super) projects: typescript::Projects,
    pub(super) paths: python::ImportPaths,
    facts: Memo<RepoPath, Arc<FileFacts>>,
    reader: FactsReader<'a>,
}

/// Returns the facts of a file, from a cache or by parsing it.
pub type FactsReader<'a> = Box<dyn Fn(&RepoPath) -> Arc<FileFacts> + Send + Sync + 'a>;

/// What one import means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resolution {
    /// Files of the repository, most specific first: a Python submodule before the package whose
    /// attribute another name of the statement is; a `.py` before its `.pyi`.
    pub files: Vec<RepoPath>,
    /// The package or standard-library module outside the repository.
    pub external: Option<String>,
    /// What was looked for when nothing was found: repository paths without extension, or the
    /// words of a rule.
    pub tried: Vec<String>,
}

impl Resolution {
    /// Whether the import is neither a file of the repository nor known to be outside.
    pub fn is_unresolved(&self) -> bool {
        self.files.is_empty() && self.external.is_none()
    }

    pub(super) fn file(path: RepoPath) -> Self {
        Self {
            files: vec![path],
            ..Self::default()
        }
    }

    pub(super) fn distinct(mut files: Vec<RepoPath>) -> Self {
        let mut seen = HashSet::new();
        files.retain(|file| seen.insert(file.clone()));
        Self {
            files,
            ..Self::default()
        }
    }

    pub(super) fn external(name: impl Into<String>) -> Self {
        Self {
            external: Some(name.into()),
            ..Self::default()
        }
    }
}

impl<'a> Resolver<'a> {
    /// Nothing is read before the first question needs it.
    pub fn new(source: &'a dyn Source) -> Self {
        Self::with_facts(source, Box::new(move |path| Arc::new(parsed(source, path))))
    }

    /// The same, with facts from elsewhere (a cache).
    pub fn with_facts(source: &'a dyn Source, reader: FactsReader<'a>) -> Self {
        Self {
            source,
            files: source.listing(),
            projects: typescript::Projects::default(),
            paths: python::ImportPaths::default(),
            facts: Memo::default(),
            reader,
        }
    }

    /// The first file that an import leads to.
    pub fn target(&self, from: &RepoPath, import: &Import) -> Option<RepoPath> {
        self.resolve(from, import).files.into_iter().next()
    }

    /// Whether a regular file of the repository is at the path.
    pub fn is_file(&self, path: &RepoPath) -> bool {
        self.files.has_file(path.as_str())
    }

    pub(super) fn read(&self, path: &str) -> Option<Arc<[u8]>> {
        self.source.read(self.files.file(path)?).ok()
    }

    /// What a file says about itself; read once while the resolver lives.
    pub fn facts(&self, path: &RepoPath) -> Arc<FileFacts> {
        self.facts.get(path, || (self.reader)(path))
    }
}

/// Reads and parses one file. One in no known language has no facts, one that cannot be read has
/// a problem.
pub fn parsed(source: &dyn Source, path: &RepoPath) -> FileFacts {
    if Language::of_path(path.as_str()).is_none() {
        return FileFacts::default();
    }
    match source.read(path) {
        Ok(bytes) => facts(path, &bytes),
        Err(error) => FileFacts {
            problems: vec![ParseProblem::new(
                0,
                format!("the file was not read: {error}"),
            )],
            ..FileFacts::default()
        },
    }
}

impl Resolver<'_> {
    /// The files an import in `from` means.
    pub fn resolve(&self, from: &RepoPath, import: &Import) -> Resolution {
        let Some(language) = Language::of_path(from.as_str()) else {
            return Resolution::default();
        };
        (language.resolve)(self, from, import)
    }

    /// Files that take effect without being imported: for a Python test the `conftest.py` of its
    /// directory and of those above, nearest first.
    pub fn implicit(&self, from: &RepoPath) -> Vec<RepoPath> {
        Language::of_path(from.as_str())
            .map_or_else(Vec::new, |language| (language.implicit)(self, from))
    }
}

/// Answers computed once, shared between threads. Two threads may compute the same answer; the
/// functions behind it are pure, so either will do.
pub(super) struct Memo<K, V>(RwLock<HashMap<K, V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    pub(super) fn get<Q>(&self, key: &Q, compute: impl FnOnce() -> V) -> V
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let cache = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = cache.get(key) {
            return value.clone();
        }
        drop(cache);
        let value = compute();
        let mut cache = self.0.write().unwrap_or_else(PoisonError::into_inner);
        cache.insert(key.to_owned(), value.clone());
        value
    }
}
