use std::collections::BTreeSet;

use super::idiom::own_idiom;
use super::similar::distance;
use super::{Query, suggest};
use crate::graph::Graph;
use crate::languages::{Language, aliased, removed, uses, words};
use crate::model::{
    Export, FileFacts, HintSource, Import, ImportKind, ImportedName, RepoPath, Suggestion,
};
use crate::policy::{is_test, is_test_text};
use crate::source::Overlay;

const MAX_SUGGESTIONS: usize = 3;

/// Proposes what was meant by names that `file` imports from a module which does not export them: its default export
/// or a named one in the other's place, the file that defines the name, else exports of that module with a similar
/// name, nearest first.
///
/// A similar name is never certain.
#[must_use]
pub fn missing_exports(
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
        // Several modules may be asked for their default; only those of the repository can be read.
        let (own, others): (Vec<_>, Vec<_>) = imports.partition(|(_, _, target)| target.is_some());
        let has = |(_, taken, target): &(&Import, &ImportedName, Option<RepoPath>)| {
            let mut targets = target.iter();
            targets.any(|path| exports_it(graph, path, &taken.name))
        };
        let mut asking = if own.is_empty() { others } else { own }.into_iter();
        let Some((import, taken, target)) = asking.find(|row| !has(row)) else {
            continue;
        };
        let missing = MissingExport {
            language,
            graph,
            query,
            import,
            taken,
            target: target.as_ref(),
        };
        let mut rows: Vec<Suggestion> = missing.other_form().into_iter().collect();
        if rows.is_empty() {
            rows = missing.defined_elsewhere();
        }
        if rows.is_empty() {
            rows = missing.similar();
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

// The import as it would be for one of its names: others may be submodules.
fn alone(import: &Import, taken: &ImportedName) -> Import {
    Import {
        names: vec![taken.clone()],
        ..import.clone()
    }
}

/// Checks whether a file gives a name to others. A script keeps to itself what it defines and does not export.
pub(super) fn exports_it(graph: &Graph<'_>, path: &RepoPath, name: &str) -> bool {
    let facts = graph.resolver().facts(path);
    let declared = Language::of_path(path.as_str()).is_some_and(|it| it.declares_exports);
    let passed = |one: &Export| one.name == name || (one.name == "*" && name != "default");
    (!declared || facts.exports.iter().any(passed)) && graph.defining(path, name).is_some()
}

struct MissingExport<'a> {
    language: &'static Language,
    graph: &'a Graph<'a>,
    query: &'a Query<'a>,
    import: &'a Import,
    taken: &'a ImportedName,
    target: Option<&'a RepoPath>,
}

impl MissingExport<'_> {
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

    // `import X` of a named export, `import { X }` of the default.
    fn other_form(&self) -> Option<Suggestion> {
        let target = self.target.filter(|_| self.language.declares_exports)?;
        let bound = self.taken.local();
        let facts = self.graph.resolver().facts(target);
        if self.taken.name == "default" {
            exports_it(self.graph, target, bound).then_some(())?;
            return Some(Suggestion {
                certain: true,
                confidence: 90,
                ..self.row(bound, bound, HintSource::Definition)
            });
        }
        let default = facts.exports.iter().find(|one| one.name == "default")?;
        let same = default.local.as_deref() == Some(&self.taken.name);
        let alone = facts.exports.len() == 1 && target.stem().eq_ignore_ascii_case(bound);
        (same || alone).then(|| Suggestion {
            certain: same,
            confidence: if same { 90 } else { 50 },
            ..self.row("default", bound, HintSource::Definition)
        })
    }

    // Other definitions of the name, asked of the file as it is without the import. A name gone from the entry of a
    // package is missed by others as well, and a test asks its package for what the package should have: neither is
    // certain.
    fn defined_elsewhere(&self) -> Vec<Suggestion> {
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
        let names = [self.taken.local().to_owned()];
        let query = Query {
            names: &names,
            ..*self.query
        };
        let entry = |path: &RepoPath| matches!(path.stem(), "__init__" | "index");
        let may_be_certain = self.target.is_some_and(|path| !entry(path))
            && !is_test(file.as_str())
            && !is_test_text(file.as_str(), text.as_bytes());
        let mut rows = suggest(&graph, &query);
        rows.retain(|row| {
            row.source != HintSource::Similar
                && row.path.as_ref() != self.target
                && (row.imported == self.taken.name || row.path.is_none())
                // A library that merely has the word is not where a file of the repository went.
                && (row.path.is_some() || self.target.is_none())
        });
        for row in &mut rows {
            row.replaces = Some(module.clone());
            row.certain &= may_be_certain;
            if !row.certain {
                row.confidence = row.confidence.min(50);
            }
        }
        rows
    }

    fn similar(&self) -> Vec<Suggestion> {
        let wanted = &self.taken.name;
        let own = self.graph.resolver().facts(self.query.file);
        let in_use: BTreeSet<&str> = own
            .imports
            .iter()
            .filter(|import| import.kind != ImportKind::ExportFrom)
            .flat_map(|import| &import.names)
            .map(|one| one.name.as_str())
            .collect();
        let mut offered: Vec<String> = match self.target {
            Some(target) => self.graph.offered(target),
            None => (self.language.exported(&self.import.specifier))
                .map(str::to_owned)
                .collect(),
        };
        // A package of Python has its modules, too.
        if let Some(package) = self.target.filter(|path| path.stem() == "__init__") {
            let files = self
                .graph
                .source()
                .listing()
                .files()
                .map(|entry| &entry.path);
            let beside = files.filter(|path| path.directory() == package.directory());
            let modules = beside.filter(|path| *path != package);
            offered.extend(modules.map(|path| path.stem().to_owned()));
        }
        let free = offered
            .iter()
            .filter(|name| !in_use.contains(name.as_str()));
        let mut near: Vec<(usize, usize, &str)> = free
            .filter_map(|name| {
                let edits = distance(wanted, name)?;
                Some((edits, wanted.len().abs_diff(name.len()), name.as_str()))
            })
            .collect();
        near.sort_unstable();
        near.dedup();
        let row = |(_, _, name)| self.row(name, name, HintSource::Similar);
        near.into_iter().take(MAX_SUGGESTIONS).map(row).collect()
    }
}

/// Makes a file take `new` from a module where it took `old`: it is renamed throughout the file, and imported under
/// the old name where the file passes it on or uses the new one for something else.
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
    let (own, others): (Vec<&Import>, Vec<&Import>) =
        all.partition(|import| import.specifier == module);
    let is_quoted = ['"', '\''].map(|quote| format!("{quote}{old}{quote}"));
    let is_passed_on = !others.is_empty()
        || own
            .iter()
            .any(|import| import.kind == ImportKind::ExportFrom)
        || file.stem() == "__init__"
        || is_quoted.iter().any(|quoted| text.contains(quoted));
    if !is_passed_on && let Some(text) = rename(file, text, old, new) {
        return Some(text);
    }
    let mut out = text.to_owned();
    for import in own.iter().rev() {
        out = aliased(file, &out, import, old, new)?;
    }
    (!own.is_empty()).then_some(out)
}

// Renames what the file imports under a name; `None` when the file binds the name otherwise as well, or the new one
// already.
fn rename(file: &RepoPath, text: &str, old: &str, new: &str) -> Option<String> {
    let found = uses(file, text.as_bytes(), old)?;
    let taken = uses(file, text.as_bytes(), new);
    // The template of a component is outside of its script.
    let component = matches!(file.extension(), Some("vue" | "svelte"));
    if component && words(text.as_bytes(), old).count() > found.places.len() {
        return None;
    }
    // Where only the import is misspelled, the uses of the right name mean it.
    let is_used = found.places.len() > 1;
    if found.is_own()
        || found.shadowed
        || taken.is_some_and(|taken| taken.is_own() || (is_used && !taken.places.is_empty()))
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
    use super::rename;
    use crate::model::RepoPath;

    #[test]
    fn rename_replaces_every_use_of_an_import() {
        let renamed = |text| rename(&RepoPath::new("a.py").unwrap(), text, "joined", "join");
        let text = "from u import joined\njoined()\n";
        assert_eq!(
            renamed(text).as_deref(),
            Some("from u import join\njoin()\n")
        );
        // Only the import was misspelled.
        let text = "from u import joined\njoin()\n";
        assert_eq!(
            renamed(text).as_deref(),
            Some("from u import join\njoin()\n")
        );
        let component = RepoPath::new("a.vue").unwrap();
        let text = "<script setup>\nimport { joined } from './u'\n</script>\n<template>{{ joined() }}</template>\n";
        assert_eq!(rename(&component, text, "joined", "join"), None);
        // Something else has the name.
        assert_eq!(renamed("from u import joined\njoined(join())\n"), None);
        assert_eq!(
            renamed("from u import joined\ndef join(): joined()\n"),
            None
        );
    }
}
