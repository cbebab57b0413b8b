use std::collections::{BTreeMap, BTreeSet};

use super::fix::{Fix, judged};
use super::promised::in_all;
use super::renamed::{alone, exports_it, takers};
use super::{Ask, Wanted};
use crate::git::changed_lines;
use crate::graph::Graph;
use crate::languages::{Language, facts, syntax_errors, uses};
use crate::model::{FileFacts, Import, ImportedName, RepoPath};
use crate::source::Overlay;

/// Runs of changed lines that are looked at in one module.
const MAX_RUNS: usize = 40;

/// A module that no longer passes a name on which its last version did.
pub struct PassedOn {
    /// The module.
    pub file: RepoPath,
    /// The lines of that version that pass its names on.
    pub fix: Fix,
    /// Whether that version is the committed one: then the change that took the names away is not
    /// finished.
    pub committed: bool,
}

impl PassedOn {
    /// What is to be done, in a sentence.
    #[must_use]
    pub fn what(&self) -> String {
        let (names, file) = (self.fix.names.join(", "), &self.file);
        format!("pass {names} on in {file} as its last version did")
    }
}

/// Modules behind missing exports whose last version passed them on, with the lines that do.
#[must_use]
pub fn passed_on(
    graph: &Graph<'_>,
    wanted: &BTreeMap<RepoPath, Wanted>,
    ask: &Ask<'_>,
) -> Vec<PassedOn> {
    let mut found: BTreeMap<RepoPath, (String, Vec<String>, bool)> = BTreeMap::new();
    for (file, wanted) in wanted {
        for name in &wanted.exports {
            let Some((asked, taken)) = asked(graph, file, name) else {
                continue;
            };
            let unlisted = exports_it(graph, &asked, &taken)
                .then(|| lists_no_more(graph, &asked, &taken))
                .flatten();
            if unlisted.is_none() && exports_it(graph, &asked, &taken) {
                continue;
            }
            let module = unlisted.clone().unwrap_or(asked);
            if !(ask.may_read)(&module) {
                continue;
            }
            let source = graph.source();
            let so_far = found.get(&module).map(|(text, _, _)| text.clone());
            let now = so_far.or_else(|| {
                let bytes = source.read(&module).ok()?;
                String::from_utf8(bytes.to_vec()).ok()
            });
            let Some(now) = now else { continue };
            if let Some((text, names, _)) = found.get_mut(&module)
                && (names.contains(&taken)
                    || unlisted.is_none() && defined_with(graph, &module, text, &taken).is_some())
            {
                if !names.contains(&taken) {
                    names.push(taken);
                }
                continue;
            }
            let versions = (ask.earlier)(&module);
            let on_disk = source.read(&module).unwrap_or_default();
            let last = versions.iter().position(|it| **it != *on_disk);
            let Some((at, last)) = last.and_then(|at| Some((at, versions.get(at)?))) else {
                continue;
            };
            let back = match &unlisted {
                Some(_) => listing_it(&module, &now, last, &taken),
                None => with_its_lines(graph, &module, &now, last, &taken),
            };
            if let Some(text) = back {
                let (whole, names, _) = found
                    .entry(module)
                    .or_insert_with(|| (String::new(), Vec::new(), at == 0));
                *whole = text;
                names.push(taken);
            }
        }
    }
    let fixed = found
        .into_iter()
        .filter_map(|(module, (text, names, committed))| {
            let before = graph.source().read(&module).ok()?;
            let before = std::str::from_utf8(&before).ok()?;
            let (patch, changes) = judged(graph.source(), &module, before, &text)?;
            let fix = Fix {
                patch,
                changes,
                names,
                restores: committed,
                respecifies: false,
            };
            Some(PassedOn {
                file: module,
                fix,
                committed,
            })
        });
    fixed.collect()
}

// The module of the repository that a file asks for a name, and the name there: in an import, or as a
// member of the module that it imports as a whole.
fn asked(graph: &Graph<'_>, file: &RepoPath, name: &str) -> Option<(RepoPath, String)> {
    let resolver = graph.resolver();
    let facts = resolver.facts(file);
    let first = |import: &Import| resolver.target(file, import);
    if let Some((import, taken)) = takers(&facts, name).next() {
        return Some((first(&alone(import, taken))?, taken.name.clone()));
    }
    let text = graph.source().read(file).ok()?;
    let has_member = |local: &str| {
        uses(file, &text, local).is_some_and(|it| it.members.iter().any(|it| it == name))
    };
    facts.imports.iter().find_map(|import| {
        let local = match import.names.as_slice() {
            [] if !import.specifier.contains('.') => import.specifier.as_str(),
            [whole] if whole.name == "*" => whole.alias.as_deref()?,
            _ => return None,
        };
        let module = has_member(local).then(|| first(import))??;
        Some((module, name.to_owned()))
    })
}

// The module with a list of what a star takes of it, behind a package that took the name so, where the
// list does not have the name.
fn lists_no_more(graph: &Graph<'_>, module: &RepoPath, name: &str) -> Option<RepoPath> {
    let home = graph.defining(module, name).filter(|it| it != module)?;
    let text = graph.source().read(&home).ok()?;
    let text = std::str::from_utf8(&text).ok()?;
    let declares = Language::of_path(home.as_str())?.declares_exports;
    (!declares && text.contains("__all__") && !in_all(text, name)).then_some(home)
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

// The text with the lines of `then` by which its `__all__` had a name, where they had all that the
// list has now.
fn listing_it(module: &RepoPath, now: &str, then: &[u8], name: &str) -> Option<String> {
    let was = std::str::from_utf8(then).ok()?;
    let (now_lines, was_lines) = (lines(now), lines(was));
    let quoted = |lines: &[&str]| -> BTreeSet<String> {
        let text = lines.concat();
        let parts = text.split(['"', '\'']).skip(1).step_by(2);
        parts.map(str::to_owned).collect()
    };
    let runs = changed_lines(then, now.as_bytes());
    let mut texts = runs
        .into_iter()
        .take(MAX_RUNS)
        .filter_map(|(before, after)| {
            let (back, gone) = (was_lines.get(before)?, now_lines.get(after.clone())?);
            let grows = quoted(back).contains(name) && quoted(gone).is_subset(&quoted(back));
            let (head, tail) = (now_lines.get(..after.start)?, now_lines.get(after.end..)?);
            let text = format!("{}{}{}", head.concat(), back.concat(), tail.concat());
            let errors = |text: &str| syntax_errors(module, text.as_bytes()).len();
            let facts = |text: &str| facts(module, text.as_bytes());
            let same = facts(&text).definitions.len() == facts(now).definitions.len()
                && facts(&text).imports.len() == facts(now).imports.len();
            (grows && same && in_all(&text, name) && errors(&text) <= errors(now)).then_some(text)
        });
    let (only, None) = (texts.next()?, texts.next()) else {
        return None;
    };
    Some(only)
}

/// The file from which the committed version of a module passes on a name that the one on disk does not.
pub(super) fn passed_on_until_now(
    graph: &Graph<'_>,
    module: &RepoPath,
    name: &str,
    versions: &[Vec<u8>],
) -> Option<RepoPath> {
    let now = graph.source().read(module).ok()?;
    let (now, last) = (std::str::from_utf8(&now).ok()?, versions.first()?);
    let text = with_its_lines(graph, module, now, last, name)?;
    defined_with(graph, module, &text, name)
}

// The file behind a name that a module gives when this is its text.
fn defined_with(graph: &Graph<'_>, module: &RepoPath, text: &str, name: &str) -> Option<RepoPath> {
    let edit = (module.clone(), Some(text.as_bytes().into()));
    let overlay = Overlay::new(graph.source(), [edit]);
    let graph = Graph::new(&overlay);
    let home = graph.defining(module, name)?;
    exports_it(&graph, module, name).then_some(home)
}

// The text with the one run of lines of `then` that gives the name again. Nothing but imports and
// exports differs, and what the text offers now stays.
fn with_its_lines(
    graph: &Graph<'_>,
    module: &RepoPath,
    now: &str,
    then: &[u8],
    name: &str,
) -> Option<String> {
    let was = std::str::from_utf8(then).ok()?;
    let (now_lines, was_lines) = (lines(now), lines(was));
    let own = facts(module, now.as_bytes());
    let mut found = None;
    let runs = changed_lines(then, now.as_bytes());
    for (before, after) in runs.into_iter().take(MAX_RUNS) {
        let back = was_lines.get(before)?.concat();
        if !back.contains(name) && !back.contains('*') {
            continue;
        }
        let (head, tail) = (now_lines.get(..after.start)?, now_lines.get(after.end..)?);
        let text = format!("{}{back}{}", head.concat(), tail.concat());
        let errors = |text: &str| syntax_errors(module, text.as_bytes()).len();
        if !keeps(&own, &facts(module, text.as_bytes())) || errors(&text) > errors(now) {
            continue;
        }
        if defined_with(graph, module, &text, name).is_some() && found.replace(text).is_some() {
            return None;
        }
    }
    found
}

fn keeps(now: &FileFacts, then: &FileFacts) -> bool {
    let defined = |facts: &FileFacts| -> Vec<String> {
        facts.definitions.iter().map(|it| it.name.clone()).collect()
    };
    let bound = |facts: &FileFacts| -> BTreeSet<String> {
        let imported = facts.imports.iter().flat_map(|it| &it.names);
        let imported = imported.map(ImportedName::local);
        let exported = facts.exports.iter().map(|it| it.name.as_str());
        imported.chain(exported).map(str::to_owned).collect()
    };
    defined(now) == defined(then) && bound(now).is_subset(&bound(then))
}
