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

/// How a file writes its imports, as the file and its neighbors show it. Each language implements
/// what a hint asks of it.
pub(super) trait ImportStyle: Sync {
    /// Returns the evidence of the file at `path` for a missing name: how it imports the name, and whether it exports
    /// it.
    fn evidence(&self, facts: &FileFacts, path: &RepoPath, name: &str) -> Vec<(Candidate, Weight)>;

    /// Modules of the repository whose own name matches.
    fn namesakes(&self, _: &[&RepoPath], _: &Undefined<'_>) -> Vec<(Candidate, Weight)> {
        Vec::new()
    }

    /// Modules outside the repository that match the name: module, imported name, source.
    fn outside_names(&self, name: &str) -> Vec<(String, String, HintSource)>;

    /// Whether a manifest at or above the file declares the package of a module.
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

    /// The module name for `path` in the style of `like`, and whether to apply it. A broken alias is
    /// not rewritten at every use.
    fn respell_module(&self, path: &RepoPath, like: &str) -> (String, bool);

    /// Whether the import, once in the file, meets the rules that only this language has.
    fn suits_import(
        &self,
        undef: &Undefined<'_>,
        one: &Suggestion,
        import: &Import,
        kind: Option<DefinitionKind>,
    ) -> bool;
}

/// The style of one file.
pub(super) type BoxedStyle<'g> = Box<dyn ImportStyle + 'g>;

/// The file that asks, and where it is.
#[derive(Clone, Copy)]
pub(super) struct Site<'g> {
    pub(super) graph: &'g Graph<'g>,
    pub(super) file: &'g RepoPath,
}

/// What shows the style beside the file itself.
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
    /// Returns the import style of the file.
    pub(super) fn choose_style(self, language: &Language, shown: Shown<'_>) -> BoxedStyle<'g> {
        if *language == PYTHON {
            Box::new(Python::new(self, shown))
        } else {
            Box::new(Script::new(self, shown))
        }
    }
}
