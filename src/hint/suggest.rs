use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};
use rayon::prelude::*;

use super::Query;
use super::asked::Asked;
use super::choose::choose;
use super::entity::coverage;
use super::evidence::{Evidence, Way, Weight, nearness};
use super::python::Tops;
use super::style::ScriptStyle;
use super::subject::by_subject;
use super::{outside, python, script, similar, words};
use crate::graph::Graph;
use crate::languages::{Language, PYTHON, TYPESCRIPT};
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
pub fn suggest(source: &dyn Source, graph: &Graph<'_>, query: &Query<'_>) -> Vec<Suggestion> {
    let Some(language) = Language::of_path(query.file.as_str()) else {
        return Vec::new();
    };
    let names: Vec<&String> = query.names.iter().filter(|name| is_name(name)).collect();
    if names.is_empty() || !(query.may_read)(query.file) {
        return Vec::new();
    }
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
    let reached = reached(graph, query.file, &facts);
    let hits = scan(source, &pool, &names);
    let mut found = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let asked = Asked {
            file: query.file,
            name,
            text: &text,
            usage: words::usage(query.file, &text, name, language == &TYPESCRIPT),
            facts: &facts,
            language,
            siblings: Vec::new(),
            reached: Vec::new(),
        };
        let parsed = parse(graph, &hits, at);
        let style = style(graph, query.file, &text, &facts, &parsed, &pool);
        let asked = Asked {
            siblings: siblings(graph, &pool, query.file),
            reached: reached.clone(),
            ..asked
        };
        let tops = tops(graph, &asked, &parsed);
        let mut evidence = gather(graph, &tops, &style, &pool, &parsed, &asked);
        outside::add(
            &mut evidence,
            source,
            graph.resolver(),
            language,
            &style,
            query,
            name,
        );
        let mut rows = choose(graph, &tops, &style, evidence, &asked, query.installed);
        if rows.is_empty() {
            rows = similar::similar(graph, &tops, &style, &pool, &asked);
        }
        found.append(&mut rows);
    }
    found
}

fn is_name(name: &str) -> bool {
    let first = name.bytes().next();
    first.is_some_and(|byte| !byte.is_ascii_digit()) && name.bytes().all(words::is_word)
}

// For each file the numbers of the names it holds.
fn scan<'p>(
    source: &dyn Source,
    pool: &[&'p RepoPath],
    names: &[&String],
) -> Vec<(&'p RepoPath, Vec<usize>)> {
    let Ok(finder) = AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .build(names)
    else {
        return Vec::new();
    };
    pool.par_iter()
        .filter_map(|path| {
            let bytes = source.read(path).ok()?;
            let mut held = Vec::new();
            for hit in finder.find_overlapping_iter(&*bytes) {
                let edge = |at: Option<usize>| {
                    !at.and_then(|at| bytes.get(at))
                        .is_some_and(|byte| words::is_word(*byte))
                };
                let number = hit.pattern().as_usize();
                if !held.contains(&number)
                    && edge(hit.start().checked_sub(1))
                    && edge(Some(hit.end()))
                {
                    held.push(number);
                }
            }
            (!held.is_empty()).then_some((*path, held))
        })
        .collect()
}

type Parsed<'p> = Vec<(&'p RepoPath, std::sync::Arc<FileFacts>)>;

fn parse<'p>(graph: &Graph<'_>, hits: &[(&'p RepoPath, Vec<usize>)], name: usize) -> Parsed<'p> {
    let paths: Vec<&RepoPath> = hits
        .iter()
        .filter(|(_, held)| held.contains(&name))
        .map(|(path, _)| *path)
        .take(MAX_PARSED)
        .collect();
    paths
        .par_iter()
        .map(|path| (*path, graph.resolver().facts(path)))
        .collect()
}

fn reached(graph: &Graph<'_>, file: &RepoPath, facts: &FileFacts) -> Vec<RepoPath> {
    let imports = facts.imports.iter().take(MAX_REACHED);
    let mut found: Vec<RepoPath> = imports
        .filter_map(|import| {
            graph
                .resolver()
                .resolve(file, import)
                .files
                .into_iter()
                .next()
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Imports of the file whose places are looked at.
const MAX_REACHED: usize = 64;

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

fn tops(graph: &Graph<'_>, asked: &Asked<'_>, parsed: &Parsed<'_>) -> Tops {
    let mut tops = Tops::default();
    if asked.language == &PYTHON {
        tops.learn(graph.resolver(), asked.file, asked.facts);
        for facts in &asked.siblings {
            tops.learn(graph.resolver(), asked.file, facts);
        }
        for (path, facts) in parsed.iter().take(32) {
            tops.learn(graph.resolver(), path, facts);
        }
    }
    tops
}

fn style(
    graph: &Graph<'_>,
    file: &RepoPath,
    text: &[u8],
    facts: &FileFacts,
    parsed: &Parsed<'_>,
    pool: &[&RepoPath],
) -> ScriptStyle {
    let near: Vec<std::sync::Arc<FileFacts>> = if parsed.is_empty() {
        pool.iter()
            .take(4)
            .map(|path| graph.resolver().facts(path))
            .collect()
    } else {
        parsed
            .iter()
            .take(8)
            .map(|(_, facts)| facts.clone())
            .collect()
    };
    let rules = graph.resolver().module_rules(file);
    ScriptStyle::of(text, facts, near.iter().map(AsRef::as_ref), rules)
}

fn gather(
    graph: &Graph<'_>,
    tops: &Tops,
    style: &ScriptStyle,
    pool: &[&RepoPath],
    parsed: &Parsed<'_>,
    asked: &Asked<'_>,
) -> Evidence {
    let (file, name) = (asked.file, asked.name);
    let resolver = graph.resolver();
    let found: Vec<_> = parsed
        .par_iter()
        .map(|(path, facts)| {
            if asked.language == &PYTHON {
                python::evidence(resolver, tops, facts, path, file, name)
            } else {
                script::evidence(graph, style, facts, path, file, name)
            }
        })
        .collect();
    let mut evidence = Evidence::default();
    for (way, weight) in found.into_iter().flatten() {
        evidence.add(way, &weight);
    }
    for (way, weight) in offered(graph, tops, asked) {
        evidence.add(way, &weight);
    }
    let more: Vec<(Way, Weight)> = if asked.language == &PYTHON {
        let modules = pool
            .iter()
            .filter_map(|path| python::module(resolver, tops, path, file, name));
        modules.collect()
    } else {
        let others = parsed.iter().map(|(path, facts)| (*path, facts.as_ref()));
        let mut found = by_subject(graph, style, pool, others, file, name);
        found.extend(namesakes(graph, style, pool, asked));
        found
    };
    for (way, weight) in more {
        evidence.add(way, &weight);
    }
    evidence
}

// Modules that bear the name: of a namespace those that have every member that the file uses of it,
// and those with a default export.
fn namesakes(
    graph: &Graph<'_>,
    style: &ScriptStyle,
    pool: &[&RepoPath],
    asked: &Asked<'_>,
) -> Vec<(Way, Weight)> {
    let usage = &asked.usage;
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], "");
    let wanted = plain(asked.name);
    let mut found = Vec::new();
    for path in pool.iter().filter(|path| **path != asked.file) {
        let stem = match path.stem() {
            "index" => path.directory().rsplit('/').next().unwrap_or_default(),
            stem => stem,
        };
        if stem != asked.name && plain(stem) != wanted {
            continue;
        }
        let way = |imported: &str| Way {
            module: style.relative(asked.file, path, ""),
            imported: imported.to_owned(),
            path: Some((*path).clone()),
        };
        let weight = Weight {
            passes_on: true,
            near: nearness(path, asked.file),
            ..Weight::default()
        };
        let exports = &graph.resolver().facts(path).exports;
        if stem == asked.name && exports.iter().any(|export| export.name == "default") {
            found.push((way("default"), weight.clone()));
        }
        let whole = way("*");
        let namespace = !usage.members.is_empty() && !usage.called;
        if namespace && coverage(graph, &whole, usage).is_some_and(|(found, all)| found == all) {
            found.push((whole, weight));
        }
    }
    found
}

// Modules that the file or its neighbours take other names from and that pass this one on, be it
// by a star: their text need not hold the name.
fn offered(graph: &Graph<'_>, tops: &Tops, asked: &Asked<'_>) -> Vec<(Way, Weight)> {
    let resolver = graph.resolver();
    let siblings = asked.siblings.iter().map(AsRef::as_ref);
    let imports = std::iter::once(asked.facts)
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
        let Some(target) = resolver
            .resolve(asked.file, import)
            .files
            .into_iter()
            .next()
        else {
            continue;
        };
        // A Python module shows all that it imports; what it means to pass on, its importers say.
        let python = asked.language == &PYTHON;
        if python
            && resolver
                .facts(&target)
                .exports
                .iter()
                .any(|it| it.name == asked.name)
        {
            continue;
        }
        let passed = graph.defining(&target, asked.name).is_some_and(|definer| {
            let facts = resolver.facts(&definer);
            definer != target
                && definer != *asked.file
                && facts.exports.iter().any(|export| export.name == asked.name)
        });
        if !passed {
            continue;
        }
        let module = if python && import.specifier.starts_with('.') {
            tops.dotted(resolver, asked.file, &python::place(&target))
        } else {
            import.specifier.clone()
        };
        let way = Way {
            module,
            imported: asked.name.to_owned(),
            path: Some(target.clone()),
        };
        let weight = Weight {
            passes_on: true,
            near: nearness(&target, asked.file),
            ..Weight::default()
        };
        found.push((way, weight));
    }
    found
}
