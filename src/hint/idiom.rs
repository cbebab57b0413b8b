use std::sync::Arc;

use super::asked::Asked;
use super::evidence::{Way, Weight};
use super::python::Python;
use super::script::Script;
use super::suggest::Parsed;
use crate::graph::Graph;
use crate::languages::{Language, PYTHON, Resolver};
use crate::model::{DefinitionKind, FileFacts, HintSource, Import, RepoPath, Suggestion};
use crate::source::{Installed, Source};

/// How the files of a language come by names, as one file and those around it show: what a hint
/// asks where languages differ.
pub(super) trait Idiom: Sync {
    /// What one file says about a name that `file` lacks: how it imports it, and whether it offers
    /// it to others.
    fn evidence(
        &self,
        graph: &Graph<'_>,
        facts: &FileFacts,
        path: &RepoPath,
        file: &RepoPath,
        name: &str,
    ) -> Vec<(Way, Weight)>;

    /// Modules of the repository that may be meant because of how they are called.
    fn namesakes(
        &self,
        graph: &Graph<'_>,
        pool: &[&RepoPath],
        parsed: &Parsed<'_>,
        asked: &Asked<'_>,
    ) -> Vec<(Way, Weight)>;

    /// Modules outside that bear the name, each with what is taken of it.
    fn outside(
        &self,
        resolver: &Resolver<'_>,
        source: &dyn Source,
        file: &RepoPath,
        name: &str,
    ) -> Vec<(String, String, HintSource)>;

    /// Whether a manifest at or above the file declares what a module is of.
    fn declares(
        &self,
        resolver: &Resolver<'_>,
        source: &dyn Source,
        file: &RepoPath,
        module: &str,
    ) -> bool;

    /// The declared modules that are installed and may export the name.
    fn installed(
        &self,
        resolver: &Resolver<'_>,
        source: &dyn Source,
        file: &RepoPath,
        installed: &Installed,
        name: &str,
    ) -> Vec<String>;

    /// A module of the language's own library as the file names it.
    fn library(&self, module: &str) -> String {
        module.to_owned()
    }

    /// What stands at `path`, as `file` would name it.
    fn module(&self, resolver: &Resolver<'_>, file: &RepoPath, path: &RepoPath) -> String;

    /// The statement that binds `name`, on one line.
    fn statement(&self, name: &str, module: &str, imported: &str, type_only: bool) -> String;

    /// An import with another module in its place, on one line.
    fn restated(&self, import: &Import, module: &str) -> String;

    /// The module of a way as the asked file would name it, and whether it is imported for types
    /// alone. `kind` is what the way leads to, when that is known.
    fn spelled(
        &self,
        graph: &Graph<'_>,
        asked: &Asked<'_>,
        way: &Way,
        weight: &Weight,
        kind: Option<DefinitionKind>,
    ) -> (String, bool);

    /// What stands at `path` as a file would name it that named it by `like`, and whether that is to
    /// be done: of an alias that leads nowhere, not all who use it are to be mended.
    fn respelled(
        &self,
        graph: &Graph<'_>,
        file: &RepoPath,
        path: &RepoPath,
        like: &str,
    ) -> (String, bool);

    /// Whether an import that is put into the file follows what only this language demands.
    fn suits(
        &self,
        _graph: &Graph<'_>,
        _asked: &Asked<'_>,
        _one: &Suggestion,
        _import: &Import,
        _kind: Option<DefinitionKind>,
    ) -> bool {
        true
    }

    /// Whether nobody would go this way: into another package by its place, or to what is not
    /// declared.
    fn is_astray(&self, _graph: &Graph<'_>, _asked: &Asked<'_>, _way: &Way) -> bool {
        false
    }
}

/// What shows an idiom.
pub(super) struct Shown<'s> {
    pub(super) file: &'s RepoPath,
    pub(super) text: &'s [u8],
    pub(super) facts: &'s FileFacts,
    /// Other files of its directory.
    pub(super) siblings: &'s [Arc<FileFacts>],
    /// Files that hold the name, nearest first.
    pub(super) parsed: &'s Parsed<'s>,
    /// Files of the language, nearest first.
    pub(super) pool: &'s [&'s RepoPath],
}

/// The idiom of a file.
pub(super) fn idiom(graph: &Graph<'_>, language: &Language, shown: &Shown<'_>) -> Box<dyn Idiom> {
    if *language == PYTHON {
        Box::new(Python::of(graph.resolver(), shown))
    } else {
        Box::new(Script::of(graph.resolver(), shown))
    }
}

/// The idiom of a file as it shows it alone.
pub(super) fn own_idiom(
    graph: &Graph<'_>,
    source: &dyn Source,
    language: &Language,
    file: &RepoPath,
) -> Box<dyn Idiom> {
    let shown = Shown {
        file,
        text: &source.read(file).unwrap_or_default(),
        facts: &graph.resolver().facts(file),
        siblings: &[],
        parsed: &Vec::new(),
        pool: &[],
    };
    idiom(graph, language, &shown)
}
