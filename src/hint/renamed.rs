use std::collections::{BTreeMap, BTreeSet};

use super::history::MOST_IN_DOUBT;
use super::idiom::own_idiom;
use super::similar::{are_opposites, distance};
use super::{Query, suggest};
use crate::graph::Graph;
use crate::languages::{Language, aliased, facts, removed, uses, words};
use crate::model::{
    Definition, Export, FileFacts, HintSource, Import, ImportKind, ImportedName, RepoPath,
    Suggestion,
};
use crate::policy::{is_test, is_test_text};
use crate::source::Overlay;

const MAX_SUGGESTIONS: usize = 3;
/// Confidence in the only definition that is as the module's own was.
const MOVED: u8 = 60;
/// Files behind one module whose past is looked at.
const MAX_HOMES: usize = 16;

/// Contents that a file had before, newest first.
pub type Earlier<'e> = dyn Fn(&RepoPath) -> Vec<Vec<u8>> + 'e;

/// Proposes what was meant by names that `file` imports from a module which does not export them:
/// its default export or a named one in the other's place, what the module calls it since a change
/// that its past shows, where they have gone, else exports of that module with a name like it,
/// nearest first. A name like it is never certain: it is applied under test alone.
#[must_use]
pub fn renamed_exports(
    graph: &Graph<'_>,
    query: &Query<'_>,
    exports: &[String],
) -> Vec<Suggestion> {
    let Some(language) = Language::of_path(query.file.as_str()) else {
        return Vec::new();
    };
    let resolver = graph.resolver();
    let facts = resolver.facts(query.file);
    let mut found = Vec::new();
    for name in exports {
        let imports = takers(&facts, name).map(|(import, taken)| {
            let found = resolver.resolve(query.file, &alone(import, taken)).files;
            (import, taken, found.into_iter().next())
        });
        // Several modules may be asked for their default; those of the repository can be looked at.
        let (own, others): (Vec<_>, Vec<_>) = imports.partition(|it| it.2.is_some());
        let has = |(_, taken, target): &(&Import, &ImportedName, Option<RepoPath>)| {
            let mut targets = target.iter();
            targets.any(|path| exports_it(graph, path, &taken.name))
        };
        let mut asking = if own.is_empty() { others } else { own }.into_iter();
        let Some((import, taken, target)) = asking.find(|it| !has(it)) else {
            continue;
        };
        let missing = Missing {
            language,
            graph,
            query,
            import,
            taken,
            target: target.as_ref(),
        };
        let mut rows: Vec<Suggestion> = missing.other_form().into_iter().collect();
        if rows.is_empty() {
            rows.extend(missing.called_since());
        }
        if rows.is_empty() {
            rows = missing.elsewhere();
        }
        if rows.is_empty() {
            rows = missing.like_it();
        }
        for row in &mut rows {
            row.name.clone_from(name);
        }
        found.append(&mut rows);
    }
    found
}

/// The imports that take an export, and the name in each.
pub(super) fn takers<'f>(
    facts: &'f FileFacts,
    name: &str,
) -> impl Iterator<Item = (&'f Import, &'f ImportedName)> {
    let takes = move |one: &ImportedName| {
        one.name == name || (one.name == "default" && one.alias.as_deref() == Some(name))
    };
    facts.imports.iter().filter_map(move |import| {
        let taken = import.names.iter().find(|one| takes(one))?;
        Some((import, taken))
    })
}

/// The import as it would be for one of its names: others may be submodules.
pub(super) fn alone(import: &Import, taken: &ImportedName) -> Import {
    Import {
        names: vec![taken.clone()],
        ..import.clone()
    }
}

// What a script defines and does not export is not to be had.
pub(super) fn exports_it(graph: &Graph<'_>, path: &RepoPath, name: &str) -> bool {
    let facts = graph.resolver().facts(path);
    let declared = Language::of_path(path.as_str()).is_some_and(|it| it.declares_exports);
    let passed = |one: &Export| one.name == name || (one.name == "*" && name != "default");
    (!declared || facts.exports.iter().any(passed)) && graph.defining(path, name).is_some()
}

// A name that a module does not export.
struct Missing<'a> {
    language: &'static Language,
    graph: &'a Graph<'a>,
    query: &'a Query<'a>,
    import: &'a Import,
    taken: &'a ImportedName,
    target: Option<&'a RepoPath>,
}

impl Missing<'_> {
    fn bound(&self) -> &str {
        self.taken.local()
    }

    fn row(&self, imported: &str, bound: &str, source: HintSource) -> Suggestion {
        let import = self.import;
        let idiom = own_idiom(self.graph, self.query.file, self.language);
        let statement = idiom.statement(bound, &import.specifier, imported, import.type_only);
        Suggestion {
            name: self.taken.name.clone(),
            import_statement: statement,
            module: import.specifier.clone(),
            path: self.target.cloned(),
            confidence: 35,
            source,
            imported: imported.to_owned(),
            type_only: import.type_only,
            replaces: Some(import.specifier.clone()),
            ..Suggestion::default()
        }
    }

    // `import X` of what is exported by its name, `import { X }` of what is the default.
    fn other_form(&self) -> Option<Suggestion> {
        let target = self.target.filter(|_| self.language.declares_exports)?;
        let bound = self.bound();
        let facts = self.graph.resolver().facts(target);
        if self.taken.name == "default" {
            exports_it(self.graph, target, bound).then_some(())?;
            let row = self.row(bound, bound, HintSource::Definition);
            return Some(Suggestion {
                certain: true,
                confidence: 90,
                ..row
            });
        }
        let default = facts.exports.iter().find(|one| one.name == "default")?;
        let same = default.local.as_deref() == Some(&self.taken.name);
        let alone = facts.exports.len() == 1 && target.stem().eq_ignore_ascii_case(bound);
        let row = self.row("default", bound, HintSource::Definition);
        (same || alone).then_some(Suggestion {
            certain: same,
            confidence: if same { 90 } else { 50 },
            ..row
        })
    }

    // The name that the module gave it: a change that history shows took the old name away and
    // brought exactly one definition that is nearly the same but for its name, and that is still
    // there. Certain where it is the same: one other line can turn its meaning round.
    fn called_since(&self) -> Option<Suggestion> {
        let target = self.target.filter(|_| self.taken.name != "default")?;
        let old = &self.taken.name;
        let homes = self.homes(target);
        let mut found = homes.iter().filter_map(|home| {
            let now = self.graph.source().read(home).ok()?;
            let mut after = now.to_vec();
            for before in (self.query.earlier)(home) {
                let new = renaming(home, &before, &after, old);
                if let Some((new, same)) = new {
                    return Some((home, new, same));
                }
                after = before;
            }
            None
        });
        let ((home, new, same), None) = (found.next()?, found.next()) else {
            return None;
        };
        let there = exports_it(self.graph, target, &new)
            && self.graph.defining(target, &new).as_ref() == Some(home);
        // What Python imports for its type checkers alone gives nothing to who misses it at run time.
        let gives = same && (self.language.declares_exports || !self.import.type_only);
        there.then(|| Suggestion {
            certain: gives,
            confidence: if gives { 90 } else { 40 },
            ..self.row(&new, &new, HintSource::Definition)
        })
    }

    // The module and the files behind it that define what it offers.
    fn homes(&self, target: &RepoPath) -> Vec<RepoPath> {
        let mut homes = vec![target.clone()];
        let offered = self.graph.offered(target);
        homes.extend(
            offered
                .iter()
                .filter_map(|name| self.graph.defining(target, name)),
        );
        let mut seen = BTreeSet::new();
        homes.retain(|home| seen.insert(home.clone()));
        homes.truncate(MAX_HOMES);
        homes
    }

    // What else defines it, asked of the file as it is without the name. Where the module had it once,
    // only the same definition is what was meant, whoever else has the word.
    fn elsewhere(&self) -> Vec<Suggestion> {
        let file = self.query.file;
        let facts = self.graph.resolver().facts(file);
        let text = self.graph.source().read(file).unwrap_or_default();
        let Ok(text) = std::str::from_utf8(&text) else {
            return Vec::new();
        };
        let module = &self.import.specifier;
        let Some(without) = removed(file, text, &facts, module, &self.taken.name) else {
            return Vec::new();
        };
        let edits = [(file.clone(), Some(without.into_bytes().into()))];
        let overlay = Overlay::new(self.graph.source(), edits);
        let graph = Graph::new(&overlay);
        let names = [self.bound().to_owned()];
        let query = Query {
            names: &names,
            ..*self.query
        };
        let before = self.definition_before();
        let rows = suggest(&graph, &query)
            .into_iter()
            .filter(|it| it.source != HintSource::Similar && it.path.as_ref() != self.target)
            .filter(|it| it.imported == self.taken.name || it.path.is_none())
            // What a file of ours no longer has is in no library that merely has the word.
            .filter(|it| it.path.is_some() || self.target.is_none());
        let mut rows: Vec<(Suggestion, Kept)> = rows
            .map(|row| {
                let kept = before.as_ref().map(|before| kept(self.graph, before, &row));
                (row, kept.unwrap_or(Kept::Nearly))
            })
            .collect();
        let only = rows.iter().filter(|it| it.1 == Kept::Same).count() == 1;
        for (row, kept) in &mut rows {
            row.replaces = Some(module.clone());
            // What a package no longer has is not what a file of ours happens to define.
            // What a test takes from its package is what the package has to give.
            row.certain &= !is_test(file.as_str()) && !is_test_text(file.as_str(), text.as_bytes());
            row.certain &= match &before {
                Some(_) => *kept == Kept::Same && only,
                None => self.target.is_some(),
            };
            if !row.certain {
                row.confidence = match kept {
                    Kept::Same if only => MOVED,
                    Kept::Same | Kept::Nearly => row.confidence.min(50),
                    Kept::Not => row.confidence.min(MOST_IN_DOUBT),
                };
            }
        }
        rows.into_iter().map(|it| it.0).collect()
    }

    // The lines of what the module, or a file behind it, last defined by that name.
    fn definition_before(&self) -> Option<Vec<String>> {
        let mut homes = self.homes(self.target?).into_iter();
        homes.find_map(|home| {
            let mut past = (self.query.earlier)(&home).into_iter();
            past.find_map(|text| definition(&home, &text, &self.taken.name))
        })
    }

    fn like_it(&self) -> Vec<Suggestion> {
        // What the module had by that name and has no more: no slip of the finger.
        if self.definition_before().is_some() {
            return Vec::new();
        }
        let wanted = &self.taken.name;
        let own = self.graph.resolver().facts(self.query.file);
        let in_use: BTreeSet<&str> = own
            .imports
            .iter()
            .filter(|import| import.kind != ImportKind::ExportFrom)
            .flat_map(|import| &import.names)
            .map(|one| one.name.as_str())
            .collect();
        let library = || self.language.exported(&self.import.specifier);
        let mut offered: Vec<String> = self.target.map_or_else(
            || library().map(str::to_owned).collect(),
            |target| self.graph.offered(target),
        );
        // A package of Python has its modules, too.
        if let Some(package) = self.target.filter(|it| it.stem() == "__init__") {
            let files = self.graph.source().listing().files().map(|it| &it.path);
            let beside = files.filter(|it| it.directory() == package.directory());
            offered.extend(
                beside
                    .filter(|it| *it != package)
                    .map(|it| it.stem().to_owned()),
            );
        }
        let free = || {
            offered
                .iter()
                .filter(|name| !in_use.contains(name.as_str()))
        };
        let mut near: Vec<(usize, usize, &str)> = free()
            .filter_map(|name| {
                let edits = distance(wanted, name)?;
                Some((edits, wanted.len().abs_diff(name.len()), name.as_str()))
            })
            .collect();
        near.sort_unstable();
        near.dedup();
        let row = |(_, _, name): (usize, usize, &str)| Suggestion {
            confidence: 35,
            ..self.row(name, name, HintSource::Similar)
        };
        near.into_iter().take(MAX_SUGGESTIONS).map(row).collect()
    }
}

// The new name of a definition that a change of its file gave another, and whether it is the same
// otherwise.
pub(super) fn renaming(
    file: &RepoPath,
    before: &[u8],
    after: &[u8],
    old: &str,
) -> Option<(String, bool)> {
    let (then, now) = (facts(file, before), facts(file, after));
    let defines = |facts: &FileFacts, name: &str| {
        let mut own = facts.definitions.iter();
        own.any(|it| it.name == name) || facts.exports.iter().any(|it| it.name == name)
    };
    if defines(&now, old) {
        return None;
    }
    let (before, after) = (std::str::from_utf8(before), std::str::from_utf8(after));
    let (before, after) = (before.ok()?, after.ok()?);
    let gone = then.definitions.iter().find(|it| it.name == old)?;
    let mut new = now
        .definitions
        .iter()
        .filter(|it| it.kind == gone.kind && !defines(&then, &it.name))
        .filter(|it| !are_opposites(old, &it.name))
        .filter(|it| is_alike(&body(before, gone), &body(after, it)));
    let (one, None) = (new.next()?, new.next()) else {
        return None;
    };
    Some((one.name.clone(), body(before, gone) == body(after, one)))
}

// The lines of a definition without their indents, with a mark for its own name.
fn body(text: &str, definition: &Definition) -> Vec<String> {
    let first = (definition.line as usize).saturating_sub(1);
    let count = (definition.end_line as usize).saturating_sub(first);
    let lines = text.lines().skip(first).take(count);
    let marked = lines.map(|line| line.replace(&definition.name, "\u{0}").trim().to_owned());
    marked.filter(|line| !line.is_empty()).collect()
}

/// The lines of what a file defines by a name, as [`body`] gives them.
pub(super) fn definition(path: &RepoPath, text: &[u8], name: &str) -> Option<Vec<String>> {
    let facts = facts(path, text);
    let one = facts.definitions.iter().find(|it| it.name == name)?;
    Some(body(std::str::from_utf8(text).ok()?, one))
}

/// What became of a definition that stood elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// It is the same.
    Same,
    /// Most lines of several are the same.
    Nearly,
    /// It has nothing but the name.
    Not,
}

/// What a suggestion leads to, beside what stood elsewhere by that name.
pub(super) fn kept(graph: &Graph<'_>, before: &[String], one: &Suggestion) -> Kept {
    let now = one.path.as_ref().and_then(|path| {
        let home = graph.defining(path, &one.imported);
        let home = home.unwrap_or_else(|| path.clone());
        definition(&home, &graph.source().read(&home).ok()?, &one.imported)
    });
    match now {
        Some(now) if now == before => Kept::Same,
        Some(now) if before.len() >= FEW_LINES && is_alike(before, &now) => Kept::Nearly,
        _ => Kept::Not,
    }
}

/// Lines below which likeness says nothing.
const FEW_LINES: usize = 4;

/// Whether three of four lines are the same.
pub(super) fn is_alike(one: &[String], other: &[String]) -> bool {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in one {
        *counts.entry(line).or_default() += 1;
    }
    let shared = other.iter().filter(|line| {
        let left = counts.get_mut(line.as_str()).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    });
    let shared = shared.count();
    shared > 0 && shared * 4 >= one.len().max(other.len()) * 3
}

/// The text of a file that takes `new` from a module where it took `old`. What the file passes on
/// keeps its name, and so does what the file or a string in it calls by the old name otherwise.
pub(super) fn retaken(
    file: &RepoPath,
    text: &str,
    facts: &FileFacts,
    module: &str,
    old: &str,
    new: &str,
) -> Option<String> {
    let takes = |import: &&Import| import.names.iter().any(|one| one.name == old);
    let all = facts.imports.iter().filter(takes);
    let (own, others): (Vec<&Import>, Vec<&Import>) = all.partition(|it| it.specifier == module);
    let shows_all = !Language::of_path(file.as_str())?.declares_exports;
    // An assertion of an existing test is not rewritten (P703).
    let asserted = || {
        let mut lines = text
            .lines()
            .filter(|it| it.contains("assert") || it.contains("expect("));
        is_test(file.as_str()) && lines.any(|it| words(it.as_bytes(), old).next().is_some())
    };
    // What the list of exports has by its right name was misspelt in the import alone.
    let quoted = |name: &str| {
        let quotes = ['"', '\''];
        quotes
            .iter()
            .any(|it| text.contains(&format!("{it}{name}{it}")))
    };
    let keeps = asserted()
        || !others.is_empty()
        || own.iter().any(|it| it.kind == ImportKind::ExportFrom)
        || (shows_all && !quoted(new) && (file.stem() == "__init__" || quoted(old)));
    if let Some(text) = (!keeps).then(|| renamed(file, text, old, new)).flatten() {
        return Some(text);
    }
    let mut out = text.to_owned();
    for import in own.iter().rev() {
        out = aliased(file, &out, import, old, new)?;
    }
    (!own.is_empty()).then_some(out)
}

// One name in the place of another, wherever it stands for what the file imports under it. `None`
// when the file binds the name otherwise as well, or the new one already.
fn renamed(file: &RepoPath, text: &str, old: &str, new: &str) -> Option<String> {
    let found = uses(file, text.as_bytes(), old)?;
    let taken = uses(file, text.as_bytes(), new);
    // What a component's template calls by the name stands outside of its script.
    let component = [".vue", ".svelte", ".astro"];
    if component.iter().any(|it| file.as_str().ends_with(it))
        && words(text.as_bytes(), old).count() > found.places.len()
    {
        return None;
    }
    // Where only the import is misspelt, what is written right is meant by it.
    let used = found.places.len() > 1;
    if found.is_own()
        || found.shadowed
        || taken.is_some_and(|it| it.is_own() || (used && !it.places.is_empty()))
    {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for at in found.places {
        out.push_str(text.get(from..at)?);
        out.push_str(new);
        from = at + old.len();
    }
    out.push_str(text.get(from..)?);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::renamed;
    use crate::model::RepoPath;

    #[test]
    fn one_name_takes_the_place_of_another() {
        let renamed = |text| renamed(&RepoPath::new("a.py").unwrap(), text, "joined", "join");
        let text = "from u import joined\njoined()\n";
        assert_eq!(
            renamed(text).as_deref(),
            Some("from u import join\njoin()\n")
        );
        // Only the import was misspelt.
        let text = "from u import joined\njoin()\n";
        assert_eq!(
            renamed(text).as_deref(),
            Some("from u import join\njoin()\n")
        );
        let component = RepoPath::new("a.vue").unwrap();
        let text = "<script setup>\nimport { joined } from './u'\n</script>\n<template>{{ joined() }}</template>\n";
        assert_eq!(super::renamed(&component, text, "joined", "join"), None);
        // Something else has the name.
        assert_eq!(renamed("from u import joined\njoined(join())\n"), None);
        assert_eq!(
            renamed("from u import joined\ndef join(): joined()\n"),
            None
        );
    }
}
