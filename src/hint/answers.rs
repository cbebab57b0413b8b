use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::fix::displaced;
use super::reexport::{PassedOn, passed_on};
use super::renamed::{Earlier, renamed_exports};
use super::suggest::{Holders, is_name, suggest_among};
use super::{Fix, Query, Wanted, fix, moved_modules};
use crate::graph::Graph;
use crate::languages::{Language, words};
use crate::model::{ImportKind, RepoPath, Suggestion, is_ablated};
use crate::source::Installed;

/// Files that are asked whether they lack what another lacks.
const MAX_OTHERS: usize = 500;

/// What stands behind every answer.
#[derive(Clone, Copy)]
pub struct Ask<'q> {
    /// See [`Query::known`].
    pub known: &'q [String],
    /// What is installed for the repository.
    pub installed: &'q Installed,
    /// Which files may be read.
    pub may_read: &'q (dyn Fn(&RepoPath) -> bool + Sync),
    /// What files were before.
    pub earlier: &'q Earlier<'q>,
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

/// What each file that lacks something is told, and the modules that have to pass on what some of them lack:
/// then the files are right as they are, and no import that goes round such a module is certain.
#[must_use]
pub fn answers(
    graph: &Graph<'_>,
    wanted: &BTreeMap<RepoPath, Wanted>,
    ask: &Ask<'_>,
) -> (Vec<Answer>, Vec<PassedOn>) {
    let source = graph.source();
    let names: BTreeSet<&String> = wanted.values().flat_map(|it| &it.names).collect();
    let names: Vec<&String> = names.into_iter().filter(|it| is_name(it)).collect();
    let read = source.listing().files().map(|entry| &entry.path);
    let read = read.filter(|it| Language::of_path(it.as_str()).is_some() && (ask.may_read)(it));
    let holders =
        (!names.is_empty()).then(|| Holders::of(source, &read.collect::<Vec<_>>(), &names));
    let passed = passed_on(graph, wanted, ask);
    let answer = |(file, wanted): (&RepoPath, &Wanted)| {
        let query = ask.query(file, &wanted.names);
        let mut suggestions = suggest_among(graph, &query, holders.as_ref());
        if !is_ablated("hint-moved") {
            suggestions.extend(moved_modules(graph, &query, &wanted.modules));
        }
        if !is_ablated("hint-renamed") {
            suggestions.extend(renamed_exports(graph, &query, &wanted.exports));
        }
        suggestions.retain(|one| !is_ablated(&format!("hint-{:?}", one.source).to_lowercase()));
        for one in &mut suggestions {
            let mut names = passed.iter().flat_map(|it| &it.fix.names);
            if wanted.exports.contains(&one.name) && names.any(|it| *it == one.name) {
                (one.certain, one.confidence) = (false, one.confidence.min(PASSED_ON));
            }
        }
        for one in suggestions.iter_mut().filter(|one| one.certain) {
            let holding = holding(graph, ask, file, one);
            let others = others(graph, ask, file, one, holding);
            one.also_in = others.into_iter().map(|(file, _)| file).collect();
        }
        Answer {
            file: file.clone(),
            wanted: wanted.clone(),
            suggestions,
        }
    };
    let found = wanted.iter().map(answer).collect();
    (found, passed)
}

/// Confidence up to which an import goes round a module that has to pass the name on.
const PASSED_ON: u8 = 20;

/// Patches for a file and suggestions for it, and for every other file that imports what one of
/// them says has another name or place now.
#[must_use]
pub fn fix_all(
    graph: &Graph<'_>,
    ask: &Ask<'_>,
    given: &[(RepoPath, Vec<Suggestion>)],
) -> Vec<(RepoPath, Fix)> {
    let mut rows: BTreeMap<RepoPath, Vec<Suggestion>> = BTreeMap::new();
    for (file, suggestions) in given {
        let own = rows.entry(file.clone()).or_default();
        own.extend(suggestions.iter().cloned());
    }
    let all = given
        .iter()
        .flat_map(|(file, all)| all.iter().map(move |one| (file, one)));
    for (file, one) in all {
        let holding = if one.certain {
            one.also_in.clone()
        } else {
            holding(graph, ask, file, one)
        };
        for (other, row) in others(graph, ask, file, one, holding) {
            let known = rows.entry(other).or_default();
            if known.iter().all(|it| it.name != row.name) {
                known.push(row);
            }
        }
    }
    let fixed = rows.iter().filter_map(|(file, rows)| {
        let past = (ask.earlier)(file);
        Some((file.clone(), fix(graph, file, &past, rows)?))
    });
    fixed.collect()
}

impl Ask<'_> {
    fn query<'a>(&'a self, file: &'a RepoPath, names: &'a [String]) -> Query<'a> {
        Query {
            file,
            names,
            known: self.known,
            installed: self.installed,
            may_read: self.may_read,
            earlier: self.earlier,
        }
    }
}

// The other files that hold the word which a mended import gives up.
fn holding(graph: &Graph<'_>, ask: &Ask<'_>, file: &RepoPath, one: &Suggestion) -> Vec<RepoPath> {
    let language = Language::of_path(file.as_str());
    let (Some(specifier), Some(language)) = (&one.replaces, language) else {
        return Vec::new();
    };
    let facts = graph.resolver().facts(file);
    let word = match displaced(&facts, one) {
        Some(_) => &one.name,
        None => language.last_part(specifier),
    };
    let source = graph.source();
    let listed: Vec<&RepoPath> = source.listing().files().map(|entry| &entry.path).collect();
    let mut holding: Vec<RepoPath> = listed
        .into_par_iter()
        .filter(|path| {
            let near = Language::of_path(path.as_str());
            *path != file
                && near.is_some_and(|it| it == language)
                && (ask.may_read)(path)
                && source
                    .read(path)
                    .is_ok_and(|text| words(&text, word).next().is_some())
        })
        .cloned()
        .collect();
    holding.truncate(MAX_OTHERS);
    holding
}

// Those of them that lack the same export or the same module and are told the same, each as surely
// as the one that was asked for.
fn others(
    graph: &Graph<'_>,
    ask: &Ask<'_>,
    file: &RepoPath,
    one: &Suggestion,
    holding: Vec<RepoPath>,
) -> Vec<(RepoPath, Suggestion)> {
    let language = Language::of_path(file.as_str());
    let (Some(specifier), Some(path), Some(language)) = (&one.replaces, &one.path, language) else {
        return Vec::new();
    };
    let export = displaced(&graph.resolver().facts(file), one).map(|_| one.name.clone());
    let module = language.last_part(specifier);
    let home = |row: &Suggestion| {
        let path = row.path.as_ref()?;
        match &export {
            Some(_) => graph.defining(path, &row.imported),
            None => Some(path.clone()),
        }
    };
    let wanted = home(one);
    let told = |rows: Vec<Suggestion>| {
        let row = rows.into_iter().find(|row| row.certain || !one.certain)?;
        let same = row.imported == one.imported && home(&row) == wanted;
        same.then_some(row)
    };
    let mut found = Vec::new();
    for other in holding.into_iter().filter(|it| it != path) {
        let query = ask.query(&other, &[]);
        if let Some(name) = &export {
            let names = std::slice::from_ref(name);
            let rows = renamed_exports(graph, &query, names);
            found.extend(told(rows).map(|row| (other.clone(), row)));
            continue;
        }
        let facts = graph.resolver().facts(&other);
        let mut modules: Vec<String> = facts
            .imports
            .iter()
            .filter(|it| it.kind != ImportKind::DottedString)
            .filter(|it| language.last_part(&it.specifier) == module)
            .map(|it| it.specifier.clone())
            .collect();
        modules.sort();
        modules.dedup();
        for module in modules {
            let rows = moved_modules(graph, &query, &[module]);
            found.extend(told(rows).map(|row| (other.clone(), row)));
        }
    }
    found
}
