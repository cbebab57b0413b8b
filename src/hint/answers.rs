use std::collections::{BTreeMap, BTreeSet};

use super::suggest::{Holders, is_name, suggest_among};
use super::{Query, Wanted, missing_exports, missing_modules};
use crate::graph::Graph;
use crate::languages::Language;
use crate::model::{RepoPath, Suggestion};
use crate::source::Installed;

/// What stands behind every answer.
#[derive(Clone, Copy)]
pub struct Ask<'q> {
    /// See [`Query::known`].
    pub known: &'q [String],
    /// What is installed for the repository.
    pub installed: &'q Installed,
    /// Which files may be read.
    pub may_read: &'q (dyn Fn(&RepoPath) -> bool + Sync),
}

/// What one file is told.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The file.
    pub file: RepoPath,
    /// What it lacks.
    pub wanted: Wanted,
    /// What was meant.
    pub suggestions: Vec<Suggestion>,
}

/// What each file that lacks something is told.
#[must_use]
pub fn answers(
    graph: &Graph<'_>,
    wanted: &BTreeMap<RepoPath, Wanted>,
    ask: &Ask<'_>,
) -> Vec<Answer> {
    let source = graph.source();
    let names: BTreeSet<&String> = wanted.values().flat_map(|lacks| &lacks.names).collect();
    let names: Vec<&String> = names.into_iter().filter(|name| is_name(name)).collect();
    let files = source.listing().files().map(|entry| &entry.path);
    let read =
        files.filter(|path| Language::of_path(path.as_str()).is_some() && (ask.may_read)(path));
    let holders =
        (!names.is_empty()).then(|| Holders::of(source, &read.collect::<Vec<_>>(), &names));
    let answer = |(file, wanted): (&RepoPath, &Wanted)| {
        let query = ask.query(file, &wanted.names);
        let mut suggestions = suggest_among(graph, &query, holders.as_ref());
        suggestions.extend(missing_modules(graph, &query, &wanted.modules));
        suggestions.extend(missing_exports(graph, &query, &wanted.exports));
        Answer {
            file: file.clone(),
            wanted: wanted.clone(),
            suggestions,
        }
    };
    wanted.iter().map(answer).collect()
}

impl Ask<'_> {
    /// The question about names that one file lacks.
    #[must_use]
    pub fn query<'a>(&'a self, file: &'a RepoPath, names: &'a [String]) -> Query<'a> {
        Query {
            file,
            names,
            known: self.known,
            installed: self.installed,
            may_read: self.may_read,
        }
    }
}
