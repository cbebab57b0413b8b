//! Suggests imports for undefined names: the pipeline over all evidence.

use std::sync::Arc;

use super::choose::choose;
use super::evidence::{Evidence, nearness};
use super::import_style::{Shown, Site};
use super::query::{Undefined, find_usage};
use super::{Query, outside, similar};
use crate::graph::Graph;
use crate::languages::{Language, is_word, words};
use crate::model::{FileFacts, RepoPath, Suggestion};
use crate::parallel;

/// Proposes imports for names that are undefined in a file, best first for each.
///
/// Evidence, in this order: how other files import this very name, weighted by nearness; which modules define it or
/// re-export it; the standard library; packages that a manifest declares; the nearest name in scope. A suggestion
/// is certain only when all evidence leads to one definition. Nothing is run.
pub fn suggest(graph: &Graph<'_>, query: &Query<'_>) -> Vec<Suggestion> {
    let Some(language) = Language::of_path(query.file.as_str()) else {
        return Vec::new();
    };
    let names = query
        .names
        .iter()
        .filter(|name| !name.starts_with(|one: char| one.is_ascii_digit()));
    let names: Vec<&String> = names.filter(|name| name.bytes().all(is_word)).collect();
    if names.is_empty() || !(query.ask.may_read)(query.file) {
        return Vec::new();
    }
    let pool = readable_files(graph, query, language);
    let text = graph.source().read(query.file).unwrap_or_default();
    let facts = graph.resolver().facts(query.file);
    // Files of the same directory whose imports show what neighbors import from.
    let beside = pool
        .iter()
        .filter(|path| path.directory() == query.file.directory() && **path != query.file)
        .take(12);
    let siblings: Vec<_> = beside.map(|path| graph.resolver().facts(path)).collect();
    let mut found = Vec::new();
    for name in names {
        let undef = Undefined {
            graph,
            installed: query.ask.installed,
            file: query.file,
            name,
            text: &text,
            usage: find_usage(query.file, &text, name, language),
            facts: &facts,
            language,
            siblings: &siblings,
        };
        // A method is reached through its object and needs no import; the bare name does.
        if !undef.usage.member || undef.usage.value {
            found.extend(suggest_one(&undef, query, &pool));
        }
    }
    found
}

fn suggest_one(undef: &Undefined<'_>, query: &Query<'_>, pool: &[&RepoPath]) -> Vec<Suggestion> {
    let (graph, file) = (undef.graph, undef.file);
    let parsed = files_with_word(graph, pool, undef.name);
    let shown = Shown {
        siblings: undef.siblings,
        parsed: &parsed,
        pool,
    };
    let style = &*Site { graph, file }.choose_style(undef.language, shown);
    let mut evidence = Evidence::default();
    let in_files = parallel::map(&parsed, |(path, facts)| {
        style.evidence(facts, path, undef.name)
    });
    let rows = in_files.into_iter().flatten();
    for (candidate, weight) in rows.chain(style.namesakes(pool, undef)) {
        evidence.add(candidate, &weight);
    }
    outside::add_outside(&mut evidence, style, query, undef);
    let rows = choose(style, evidence, undef);
    if rows.is_empty() { similar::similar_names(undef) } else { rows }
}

// The files of the language, nearest first.
fn readable_files<'g>(
    graph: &Graph<'g>,
    query: &Query<'_>,
    language: &'static Language,
) -> Vec<&'g RepoPath> {
    let files = graph.source().listing().files().map(|entry| &entry.path);
    let paths = files.filter(|path| {
        Language::of_path(path.as_str()) == Some(language) && (query.ask.may_read)(path)
    });
    let mut pool: Vec<&RepoPath> = paths.collect();
    pool.sort_by_cached_key(|path| std::cmp::Reverse(nearness(path, query.file)));
    pool
}

/// Files that hold a name, with their facts.
pub(super) type Parsed<'p> = Vec<(&'p RepoPath, Arc<FileFacts>)>;

fn files_with_word<'p>(graph: &Graph<'_>, pool: &[&'p RepoPath], name: &str) -> Parsed<'p> {
    let held = parallel::map(pool, |path| {
        let bytes = graph.source().read(path).unwrap_or_default();
        words(&bytes, name).next().map(|_| *path)
    });
    let mut paths: Vec<&RepoPath> = held.into_iter().flatten().collect();
    // Bounds the work for names that everybody uses: only the nearest files that hold the name are parsed.
    paths.truncate(300);
    parallel::map(paths, |path| (path, graph.resolver().facts(path)))
}
