use std::collections::{BTreeMap, BTreeSet, HashSet};

use aho_corasick::{AhoCorasick, MatchKind};
use rayon::prelude::*;

use super::choose::choose;
use super::evidence::{Candidate, Evidence, Weight, nearness};
use super::idiom::{Idiom, Shown, Site};
use super::query::Undefined;
use super::{Query, outside, similar, words};
use crate::graph::Graph;
use crate::languages::{Language, is_word};
use crate::model::{FileFacts, ImportKind, RepoPath, Suggestion};
use crate::source::Source;

/// Files that hold a name and are parsed for it, nearest first. Beyond this, those that merely
/// use a name that everybody uses say nothing new.
const MAX_PARSED: usize = 300;

/// Proposes imports for names that are undefined in a file, best first for each name.
///
/// Evidence, in this order: how other files import this very name, weighted by nearness; what
/// defines or passes it on; the standard library; packages that a manifest declares; names like
/// it. A suggestion is certain only when all evidence leads to one definition. Only files that
/// hold a name are parsed; nothing is run.
#[must_use]
pub fn suggest(graph: &Graph<'_>, query: &Query<'_>) -> Vec<Suggestion> {
    suggest_among(graph, query, None)
}

/// The same, where it is known which files hold each of the names.
pub(super) fn suggest_among(
    graph: &Graph<'_>,
    query: &Query<'_>,
    holders: Option<&Holders>,
) -> Vec<Suggestion> {
    let Some(language) = Language::of_path(query.file.as_str()) else {
        return Vec::new();
    };
    let names: Vec<&String> = query.names.iter().filter(|name| is_name(name)).collect();
    if names.is_empty() || !(query.may_read)(query.file) {
        return Vec::new();
    }
    let source = graph.source();
    let mut pool: Vec<&RepoPath> = source
        .listing()
        .files()
        .map(|entry| &entry.path)
        .filter(|path| Language::of_path(path.as_str()).is_some_and(|it| it == language))
        .filter(|path| (query.may_read)(path))
        .collect();
    pool.sort_by_cached_key(|path| std::cmp::Reverse(nearness(path, query.file)));
    let text = source.read(query.file).unwrap_or_default();
    let facts = graph.resolver().facts(query.file);
    let site = Site {
        graph,
        file: query.file,
    };
    let own;
    let holders = if let Some(given) = holders {
        given
    } else {
        own = Holders::of(source, &pool, &names);
        &own
    };
    let mut found = Vec::new();
    for name in &names {
        let parsed = parse(graph, &pool, holders, name);
        let undef = Undefined {
            file: query.file,
            name,
            text: &text,
            usage: words::usage(query.file, &text, name, language),
            facts: &facts,
            language,
            siblings: siblings(graph, &pool, query.file),
        };
        let shown = Shown {
            text: &text,
            facts: &facts,
            siblings: &undef.siblings,
            parsed: &parsed,
            pool: &pool,
        };
        let idiom = &*site.idiom(language, shown);
        let mut evidence = gather(graph, idiom, &pool, &parsed, &undef);
        outside::add(&mut evidence, language, idiom, query, name);
        let mut rows = choose(graph, idiom, evidence, &undef, query.installed);
        if rows.is_empty() {
            rows = similar::similar(graph, idiom, &pool, &undef);
        }
        // A method is reached by its object: without `self.` another module's name is not meant.
        if !undef.usage.member {
            found.append(&mut rows);
        }
    }
    found
}

pub(super) fn is_name(name: &str) -> bool {
    let first = name.bytes().next();
    first.is_some_and(|byte| !byte.is_ascii_digit()) && name.bytes().all(is_word)
}

/// Which files hold which of some names as words.
pub(super) struct Holders(BTreeMap<String, HashSet<RepoPath>>);

impl Holders {
    /// Reads each file once.
    pub(super) fn of(source: &dyn Source, pool: &[&RepoPath], names: &[&String]) -> Self {
        let Ok(finder) = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(names)
        else {
            return Self(BTreeMap::new());
        };
        let hits: Vec<(&RepoPath, BTreeSet<usize>)> = pool
            .par_iter()
            .filter_map(|path| {
                let bytes = source.read(path).ok()?;
                let mut held = BTreeSet::new();
                for hit in finder.find_overlapping_iter(&*bytes) {
                    let edge = |at: Option<usize>| {
                        !at.and_then(|at| bytes.get(at))
                            .is_some_and(|byte| is_word(*byte))
                    };
                    if edge(hit.start().checked_sub(1)) && edge(Some(hit.end())) {
                        held.insert(hit.pattern().as_usize());
                    }
                }
                (!held.is_empty()).then_some((*path, held))
            })
            .collect();
        let mut found: BTreeMap<String, HashSet<RepoPath>> = BTreeMap::new();
        for (path, held) in hits {
            for name in held.into_iter().filter_map(|at| names.get(at)) {
                let holders = found.entry((*name).clone()).or_default();
                holders.insert(path.clone());
            }
        }
        Self(found)
    }
}

/// Files that hold a name, with what they say.
pub(super) type Parsed<'p> = Vec<(&'p RepoPath, std::sync::Arc<FileFacts>)>;

fn parse<'p>(
    graph: &Graph<'_>,
    pool: &[&'p RepoPath],
    holders: &Holders,
    name: &str,
) -> Parsed<'p> {
    let Some(held) = holders.0.get(name) else {
        return Vec::new();
    };
    let paths: Vec<&RepoPath> = pool
        .iter()
        .copied()
        .filter(|path| held.contains(*path))
        .take(MAX_PARSED)
        .collect();
    paths
        .par_iter()
        .map(|path| (*path, graph.resolver().facts(path)))
        .collect()
}

/// Files of the same directory whose imports show what neighbours import from.
const MAX_SIBLINGS: usize = 12;

fn siblings(
    graph: &Graph<'_>,
    pool: &[&RepoPath],
    file: &RepoPath,
) -> Vec<std::sync::Arc<FileFacts>> {
    let near = pool
        .iter()
        .filter(|path| path.directory() == file.directory() && **path != file);
    near.take(MAX_SIBLINGS)
        .map(|path| graph.resolver().facts(path))
        .collect()
}

fn gather(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    pool: &[&RepoPath],
    parsed: &Parsed<'_>,
    undef: &Undefined<'_>,
) -> Evidence {
    let name = undef.name;
    let found: Vec<_> = parsed
        .par_iter()
        .map(|(path, facts)| idiom.evidence(facts, path, name))
        .collect();
    let mut evidence = Evidence::default();
    for (candidate, weight) in found.into_iter().flatten() {
        evidence.add(candidate, &weight);
    }
    for (candidate, weight) in offered(graph, idiom, undef) {
        evidence.add(candidate, &weight);
    }
    for (candidate, weight) in idiom.namesakes(pool, undef) {
        evidence.add(candidate, &weight);
    }
    evidence
}

// Modules that the file or its neighbours take other names from and that pass this one on, be it
// by a star: their text need not hold the name.
fn offered(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    undef: &Undefined<'_>,
) -> Vec<(Candidate, Weight)> {
    let resolver = graph.resolver();
    let siblings = undef.siblings.iter().map(AsRef::as_ref);
    let imports = std::iter::once(undef.facts)
        .chain(siblings)
        .flat_map(|facts| &facts.imports)
        .filter(|import| matches!(import.kind, ImportKind::Import | ImportKind::From))
        .filter(|import| !import.nested && !import.names.is_empty());
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for import in imports {
        if !seen.insert(&import.specifier) {
            continue;
        }
        let Some(target) = resolver.target(undef.file, import) else {
            continue;
        };
        // A Python module shows all that it imports; what it means to pass on, its importers say.
        let shows_all = !undef.language.declares_exports;
        if shows_all
            && resolver
                .facts(&target)
                .exports
                .iter()
                .any(|it| it.name == undef.name)
        {
            continue;
        }
        let passed = graph.defining(&target, undef.name).is_some_and(|definer| {
            let facts = resolver.facts(&definer);
            definer != target
                && definer != *undef.file
                && facts.exports.iter().any(|export| export.name == undef.name)
        });
        if !passed {
            continue;
        }
        let module = if shows_all && import.specifier.starts_with('.') {
            idiom.module(&target)
        } else {
            import.specifier.clone()
        };
        let candidate = Candidate::new(module, undef.name, Some(target.clone()));
        let near = nearness(&target, undef.file);
        found.push((candidate, Weight::offer(None, near)));
    }
    found
}
