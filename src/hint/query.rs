//! The question and answer of `mendit hint`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::exports::missing_exports;
use super::modules::missing_modules;
use super::{Wanted, suggest};
use crate::graph::Graph;
use crate::languages::{Language, Uses, uses, words};
use crate::model::{FileFacts, RepoPath, Suggestion};
use crate::source::Installed;

/// A question about imports.
#[derive(Clone, Copy)]
pub struct Query<'q> {
    /// The file that lacks the names.
    pub file: &'q RepoPath,
    /// Names that are undefined in it.
    pub names: &'q [String],
    /// The context shared by all files.
    pub ask: &'q Ask<'q>,
}

/// The context of a question.
#[derive(Clone, Copy)]
pub struct Ask<'q> {
    /// Packages that are installed for the repository.
    pub installed: &'q Installed,
    /// Which files may be read.
    pub may_read: &'q (dyn Fn(&RepoPath) -> bool + Sync),
}

/// Suggestions for one file.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The file.
    pub file: RepoPath,
    /// The missing names.
    pub wanted: Wanted,
    /// Imports that may have been meant.
    pub suggestions: Vec<Suggestion>,
}

/// Returns suggestions for each file that lacks something.
pub fn answers(
    graph: &Graph<'_>,
    wanted: &BTreeMap<RepoPath, Wanted>,
    ask: &Ask<'_>,
) -> Vec<Answer> {
    let answers = wanted.iter().map(|(file, wanted)| {
        let names = &wanted.names;
        let query = Query { file, names, ask };
        let mut suggestions = suggest(graph, &query);
        suggestions.extend(missing_modules(graph, &query, &wanted.modules));
        suggestions.extend(missing_exports(graph, &query, &wanted.exports));
        Answer {
            file: file.clone(),
            wanted: wanted.clone(),
            suggestions,
        }
    });
    answers.collect()
}

/// One name and the file that lacks it.
pub(super) struct Undefined<'a> {
    pub(super) graph: &'a Graph<'a>,
    pub(super) installed: &'a Installed,
    pub(super) file: &'a RepoPath,
    pub(super) name: &'a str,
    pub(super) text: &'a [u8],
    pub(super) usage: Uses,
    pub(super) facts: &'a FileFacts,
    pub(super) language: &'static Language,
    /// Facts of other files of its directory.
    pub(super) siblings: &'a [Arc<FileFacts>],
}

/// Whether a file has parts that no syntax tree of ours shows.
pub(super) fn has_template(path: &RepoPath) -> bool {
    matches!(path.extension(), Some("vue" | "svelte"))
}

/// Returns how a file uses a name. The template of a component is no part of the syntax tree: a name in it may be
/// used as anything.
pub(super) fn find_usage(path: &RepoPath, text: &[u8], name: &str, language: &Language) -> Uses {
    let mut found = uses(path, text, name).unwrap_or_default();
    if has_template(path) && words(text, name).next().is_some() {
        found.value = true;
        found.called |= language.declares_exports;
    }
    found
}
