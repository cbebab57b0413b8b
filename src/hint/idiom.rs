//! How one language names modules; the interface that Python and TypeScript implement.

use super::evidence::{Candidate, Weight};
use super::python::Python;
use super::query::Undefined;
use super::script::Script;
use crate::graph::Graph;
use crate::languages::{Language, PYTHON};
use crate::model::{DefinitionKind, FileFacts, HintSource, Import, RepoPath, Suggestion};
use crate::source::Installed;
use std::sync::Arc;

/// How one file comes by names, as it and those around it show: what a hint asks where languages
/// differ.
pub(super) trait Idiom: Sync {
    /// Returns the evidence of the file at `path` for a missing name: how it imports the name, and whether it exports
    /// it.
    fn evidence(&self, facts: &FileFacts, path: &RepoPath, name: &str) -> Vec<(Candidate, Weight)>;

    /// Modules of the repository that may be meant because of how they are called.
    fn namesakes(&self, _: &[&RepoPath], _: &Undefined<'_>) -> Vec<(Candidate, Weight)> {
        Vec::new()
    }

    /// Modules outside that bear the name, each with what is taken of it.
    fn outside_names(&self, name: &str) -> Vec<(String, String, HintSource)>;

    /// Whether a manifest at or above the file declares what a module is of.
    fn declares_module(&self, module: &str) -> bool;

    /// The declared modules that are installed and may export the name.
    fn installed_modules(&self, installed: &Installed, name: &str) -> Vec<String>;

    /// A module of the language's own library as the file names it.
    fn library_name(&self, module: &str) -> String {
        module.to_owned()
    }

    /// The statement that binds `name`, on one line.
    fn statement(&self, name: &str, module: &str, imported: &str, type_only: bool) -> String;

    /// The module of a candidate as the file would name it, and whether it is imported for types alone.
    /// `kind` is what the candidate leads to, when that is known.
    fn spell_module(
        &self,
        undef: &Undefined<'_>,
        candidate: &Candidate,
        weight: &Weight,
        kind: Option<DefinitionKind>,
    ) -> (String, bool);

    /// What is at `path` as the file would name it that named it by `like`, and whether that is
    /// to be done: of an alias that leads nowhere, not all who use it are to be mended.
    fn respell_module(&self, path: &RepoPath, like: &str) -> (String, bool);

    /// Whether an import that is put into the file follows what only this language demands.
    fn suits_import(
        &self,
        undef: &Undefined<'_>,
        one: &Suggestion,
        import: &Import,
        kind: Option<DefinitionKind>,
    ) -> bool;
}

/// The file that asks, and where it is.
#[derive(Clone, Copy)]
pub(super) struct Site<'g> {
    pub(super) graph: &'g Graph<'g>,
    pub(super) file: &'g RepoPath,
}

/// What shows an idiom beside the file itself.
#[derive(Clone, Copy, Default)]
pub(super) struct Shown<'s> {
    /// Other files of its directory.
    pub(super) siblings: &'s [Arc<FileFacts>],
    /// Files that hold the name, nearest first.
    pub(super) parsed: &'s [(&'s RepoPath, Arc<FileFacts>)],
    /// Files of the language, nearest first.
    pub(super) pool: &'s [&'s RepoPath],
}

impl<'g> Site<'g> {
    /// The idiom of the file.
    pub(super) fn choose_idiom(self, language: &Language, shown: Shown<'_>) -> Box<dyn Idiom + 'g> {
        if *language == PYTHON {
            Box::new(Python::new(self, shown))
        } else {
            Box::new(Script::new(self, shown))
        }
    }
}
