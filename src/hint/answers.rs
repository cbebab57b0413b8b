use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::fix::displaced;
use super::idiom::own_idiom;
use super::missing::{are_one, holds};
use super::reexport::{PassedOn, passed_on};
use super::renamed::{Earlier, alone, exports_it, renamed_exports, takers};
use super::suggest::{Holders, is_name, suggest_among};
use super::{Fix, Query, Wanted, fix, moved_modules};
use crate::graph::Graph;
use crate::languages::{Language, words};
use crate::model::{ImportKind, RepoPath, Suggestion};
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
        suggestions.extend(moved_modules(graph, &query, &wanted.modules));
        suggestions.extend(renamed_exports(graph, &query, &wanted.exports));
        for one in &mut suggestions {
            let mut names = passed.iter().flat_map(|it| &it.fix.names);
            if wanted.exports.contains(&one.name) && names.any(|it| *it == one.name) {
                (one.certain, one.confidence) = (false, one.confidence.min(PASSED_ON));
            }
        }
        for one in suggestions.iter_mut().filter(|one| one.certain) {
            let others = others(graph, ask, file, one).into_iter();
            one.also_in = others.map(|(file, _)| file).collect();
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
        for (other, row) in others(graph, ask, file, one) {
            let found = rows.entry(other).or_default();
            if found.iter().all(|it| it.name != row.name) {
                found.push(row);
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

// Other files that import what one of them says has another name or place now, each told the same: they lack the
// same export, or what stood at the same place.
fn others(
    graph: &Graph<'_>,
    ask: &Ask<'_>,
    file: &RepoPath,
    one: &Suggestion,
) -> Vec<(RepoPath, Suggestion)> {
    let language = Language::of_path(file.as_str());
    let (Some(specifier), Some(path), Some(language)) = (&one.replaces, &one.path, language) else {
        return Vec::new();
    };
    let resolver = graph.resolver();
    let facts = resolver.facts(file);
    let export = displaced(&facts, one).is_some();
    let word = if export {
        &one.name
    } else {
        language.last_part(specifier)
    };
    let own = facts.imports.iter().find(|it| it.specifier == *specifier);
    let Some(own) = own else { return Vec::new() };
    let mut holding = holding(graph, ask, language, word);
    holding.retain(|other| *other != file && *other != path);
    holding.truncate(MAX_OTHERS);
    let mut found = Vec::new();
    for other in holding {
        let facts = resolver.facts(other);
        let idiom = own_idiom(graph, other, language);
        if export {
            let row = takers(&facts, &one.name).find_map(|(import, taken)| {
                let target = resolver.target(other, &alone(import, taken))?;
                let module = renamed_there(graph, one, &target).then(|| import.specifier.clone());
                let moved = || {
                    let same = resolver.target(file, own).as_ref() == Some(&target);
                    let keeps = same && target != *path && !exports_it(graph, &target, &taken.name);
                    keeps.then(|| idiom.respelled(path, &import.specifier).0)
                };
                Some((import, module.or_else(moved)?))
            });
            found.extend(row.map(|(import, module)| {
                let (name, new) = (&one.name, one.imported.as_str());
                let bound = if new == "default" { name } else { new };
                let row = Suggestion {
                    import_statement: idiom.statement(bound, &module, new, import.type_only),
                    module,
                    type_only: import.type_only,
                    replaces: Some(import.specifier.clone()),
                    also_in: Vec::new(),
                    ..one.clone()
                };
                (other.clone(), row)
            }));
            continue;
        }
        let mut gone = facts.imports.iter().filter(|import| {
            import.kind != ImportKind::DottedString
                && language.last_part(&import.specifier) == word
                && resolver.resolve(other, import).files.is_empty()
                && are_one(graph, (file, own), (other, import))
                && (import.names.iter()).all(|it| it.name == "*" || holds(graph, path, &it.name))
        });
        found.extend(gone.next().and_then(|import| {
            let (module, keeps) = idiom.respelled(path, &import.specifier);
            let row = Suggestion {
                import_statement: idiom.restated(import, &module),
                module,
                type_only: import.type_only,
                replaces: Some(import.specifier.clone()),
                also_in: Vec::new(),
                ..one.clone()
            };
            keeps.then(|| (other.clone(), row))
        }));
    }
    found
}

// The files of a language that hold a word.
fn holding<'g>(
    graph: &'g Graph<'_>,
    ask: &Ask<'_>,
    language: &Language,
    word: &str,
) -> Vec<&'g RepoPath> {
    let source = graph.source();
    let listed: Vec<&RepoPath> = source.listing().files().map(|entry| &entry.path).collect();
    let holds = |path: &RepoPath| {
        let text = source.read(path);
        text.is_ok_and(|it| words(&it, word).next().is_some())
    };
    let is_one = |path: &RepoPath| Language::of_path(path.as_str()) == Some(language);
    let found = listed.into_par_iter();
    let found = found.filter(|it| is_one(it) && (ask.may_read)(it) && holds(it));
    found.collect()
}

// Whether a module passes on what an export is called now, and no longer what it was called.
fn renamed_there(graph: &Graph<'_>, one: &Suggestion, target: &RepoPath) -> bool {
    let home = |path: &RepoPath| graph.defining(path, &one.imported);
    let path = one.path.as_ref();
    !exports_it(graph, target, &one.name)
        && exports_it(graph, target, &one.imported)
        && path.is_some_and(|it| home(it) == home(target))
}
