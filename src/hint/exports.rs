//! Proposes imports for a name that its module does not export.

use std::collections::BTreeSet;

use super::import_style::{Shown, Site};
use super::similar::nearest_names;
use super::{Query, suggest};
use crate::graph::Graph;
use crate::languages::{Language, aliased, removed, uses, words};
use crate::model::{FileFacts, HintSource, Import, ImportKind, ImportedName, RepoPath, Suggestion};
use crate::policy::{is_test, is_test_text};
use crate::source::Overlay;

/// Proposes imports for names that `file` imports from a module which does not export them: the default export or a
/// named one in the other's place, the file that defines the name, else similar exports of that module, which are
/// never certain.
pub(super) fn missing_exports(
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
        let missing = takers(&facts, name).map(|(import, taken)| {
            // Resolved for this name alone: others may be submodules.
            let alone = Import {
                names: vec![taken.clone()],
                ..import.clone()
            };
            let files = resolver.resolve(query.file, &alone).files;
            MissingExport {
                language,
                graph,
                query,
                import,
                taken,
                target: files.into_iter().next(),
            }
        });
        // Only modules of the repository can be read.
        let missing = missing.filter(|one| {
            !one.target.iter().any(|path| exports_name(graph, path, &one.taken.name))
        });
        let mut missing: Vec<_> = missing.collect();
        missing.sort_by_key(|one| one.target.is_none());
        let rows = missing.first().map(MissingExport::list_suggestions);
        found.extend(rows.into_iter().flatten().map(|row| Suggestion {
            name: name.clone(),
            ..row
        }));
    }
    found
}

/// Returns the imports that take an export, and the name in each.
pub(super) fn takers<'f>(
    facts: &'f FileFacts,
    name: &str,
) -> impl Iterator<Item = (&'f Import, &'f ImportedName)> {
    facts.imports.iter().filter_map(move |import| {
        let taken = import.names.iter().find(|one| {
            one.name == name || (one.name == "default" && one.alias.as_deref() == Some(name))
        });
        Some((import, taken?))
    })
}

/// Checks whether a file gives a name to others. A script keeps to itself what it defines and does not export.
pub(super) fn exports_name(graph: &Graph<'_>, path: &RepoPath, name: &str) -> bool {
    let facts = graph.resolver().facts(path);
    let declared =
        Language::of_path(path.as_str()).is_some_and(|language| language.declares_exports);
    let mut exports = facts.exports.iter().map(|export| &*export.name);
    let is_passed = exports.any(|own| own == name || (own == "*" && name != "default"));
    (!declared || is_passed) && graph.defining(path, name).is_some()
}

struct MissingExport<'a> {
    language: &'static Language,
    graph: &'a Graph<'a>,
    query: &'a Query<'a>,
    import: &'a Import,
    taken: &'a ImportedName,
    target: Option<RepoPath>,
}

impl MissingExport<'_> {
    fn list_suggestions(&self) -> Vec<Suggestion> {
        let mut rows: Vec<Suggestion> = self.other_form().into_iter().collect();
        if rows.is_empty() {
            rows = self.defined_elsewhere();
        }
        if rows.is_empty() {
            rows = self.similar_exports();
        }
        rows
    }

    fn make_suggestion(&self, imported: &str, bound: &str, source: HintSource) -> Suggestion {
        let import = self.import;
        let (graph, file) = (self.graph, self.query.file);
        let style = Site { graph, file }.choose_style(self.language, Shown::default());
        let statement = style.statement(bound, &import.specifier, imported, import.type_only);
        Suggestion {
            name: self.taken.name.clone(),
            import_statement: statement,
            module: import.specifier.clone(),
            path: self.target.clone(),
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
        let may_have = self.language.declares_exports;
        let target = self.target.as_ref().filter(|_| may_have)?;
        let bound = self.taken.local();
        let facts = self.graph.resolver().facts(target);
        let imported = if self.taken.name == "default" {
            exports_name(self.graph, target, bound).then_some(bound)?
        } else {
            let default = facts.exports.iter().find(|one| one.name == "default")?;
            (default.local.as_deref() == Some(&self.taken.name)).then_some("default")?
        };
        Some(Suggestion {
            certain: true,
            confidence: 90,
            ..self.make_suggestion(imported, bound, HintSource::Definition)
        })
    }

    // Other definitions of the name, asked of the file as it is without the import. A name gone from the entry of a
    // package is missed by others as well, and a test asks its package for what the package should have: neither is
    // certain.
    fn defined_elsewhere(&self) -> Vec<Suggestion> {
        let file = self.query.file;
        let facts = self.graph.resolver().facts(file);
        let text = self.graph.source().read(file).unwrap_or_default();
        let module = &self.import.specifier;
        let without = std::str::from_utf8(&text).ok();
        let without =
            without.and_then(|text| removed(file, text, &facts, module, &self.taken.name));
        let Some(without) = without else {
            return Vec::new();
        };
        let edits = [(file.clone(), Some(without.into_bytes().into()))];
        let overlay = Overlay::new(self.graph.source(), edits);
        let names = [self.taken.local().to_owned()];
        let query = Query {
            names: &names,
            ..*self.query
        };
        let mut rows = suggest(&Graph::new(&overlay), &query);
        rows.retain(|row| {
            row.source != HintSource::Similar
                && row.path.as_ref() != self.target.as_ref()
                && (row.imported == self.taken.name || row.path.is_none())
                // Libraries are left out, since a module of the repository did not move into one.
                && (row.path.is_some() || self.target.is_none())
        });
        let target = self.target.as_ref().map(RepoPath::stem);
        let may_be_certain = target.is_some_and(|stem| !matches!(stem, "__init__" | "index"))
            && !is_test(file.as_str())
            && !is_test_text(file.as_str(), &text);
        for row in &mut rows {
            row.replaces = Some(module.clone());
            row.certain &= may_be_certain;
            if !row.certain {
                row.confidence = row.confidence.min(50);
            }
        }
        rows
    }

    fn similar_exports(&self) -> Vec<Suggestion> {
        let wanted = &self.taken.name;
        let own = self.graph.resolver().facts(self.query.file);
        let imports = own.imports.iter().filter(|import| import.kind != ImportKind::ExportFrom);
        let names = imports.flat_map(|import| &import.names);
        let in_use: BTreeSet<&str> = names.map(|one| one.name.as_str()).collect();
        let offered: Vec<String> = match &self.target {
            Some(target) => self.graph.offered(target),
            None => self.language.exported(&self.import.specifier).map(str::to_owned).collect(),
        };
        let free = offered.iter().map(String::as_str).filter(|name| !in_use.contains(name));
        let near = nearest_names(wanted, free).into_iter().take(3);
        near.map(|(_, name)| self.make_suggestion(name, name, HintSource::Similar))
            .collect()
    }
}

/// Makes a file take `new` from a module where it took `old`: renamed throughout the file, or imported under the old
/// name where the file passes that on or uses the new one for something else.
pub(super) fn retake_name(
    file: &RepoPath,
    text: &str,
    facts: &FileFacts,
    module: &str,
    (old, new): (&str, &str),
) -> Option<String> {
    let imports = facts.imports.iter();
    let mut all = imports.filter(|import| import.names.iter().any(|one| one.name == old));
    let quotes = ['"', '\''];
    let is_passed_on = file.stem() == "__init__"
        || quotes.iter().any(|quote| text.contains(&format!("{quote}{old}{quote}")));
    let import = all.next().filter(|import| import.specifier == module)?;
    // With several imports it is not known which one is meant.
    if all.next().is_some() {
        return None;
    }
    let is_own = !is_passed_on && import.kind != ImportKind::ExportFrom;
    let renamed = is_own.then(|| rename_uses(file, text, old, new)).flatten();
    renamed.or_else(|| aliased(file, text, import, old, new))
}

/// Renames in a file what others gave it under another name, imported or reached through its owner.
pub fn rename_name(
    file: &RepoPath,
    text: &str,
    facts: &FileFacts,
    (old, new): (&str, &str),
) -> Option<String> {
    if let Some((import, _)) = takers(facts, old).next() {
        return retake_name(file, text, facts, &import.specifier, (old, new));
    }
    let found = uses(file, text.as_bytes(), old)?;
    let places = words(text.as_bytes(), old);
    let places = places.filter(|at| {
        (text.get(..*at).is_some_and(|head| head.ends_with('.'))) || found.places.contains(at)
    });
    let is_other = found.is_own() || found.shadowed;
    (!is_other).then(|| replace_words(text, &places.collect::<Vec<_>>(), old, new))
}

/// Returns a text with a word replaced at its places.
pub fn replace_words(text: &str, places: &[usize], old: &str, new: &str) -> String {
    let mut out = text.to_owned();
    for at in places.iter().rev() {
        out.replace_range(*at..at + old.len(), new);
    }
    out
}

// Renames an imported name throughout a file; `None` when the file binds it otherwise as well, or has the new one.
fn rename_uses(file: &RepoPath, text: &str, old: &str, new: &str) -> Option<String> {
    let found = uses(file, text.as_bytes(), old)?;
    let taken = uses(file, text.as_bytes(), new).unwrap_or_default();
    // The template of a component is outside of its script.
    let component = matches!(file.extension(), Some("vue" | "svelte"));
    let in_template = component && words(text.as_bytes(), old).count() > found.places.len();
    // Where only the import is misspelled, the uses of the right name mean it.
    let clashes = found.places.len() > 1 && !taken.places.is_empty();
    if in_template || found.is_own() || found.shadowed || taken.is_own() || clashes {
        return None;
    }
    Some(replace_words(text, &found.places, old, new))
}

#[cfg(test)]
mod tests {
    use super::rename_uses;
    use crate::model::RepoPath;

    #[test]
    fn rename_replaces_every_use_of_an_import() {
        let renamed = |text| rename_uses(&RepoPath::new("a.py").unwrap(), text, "joined", "join");
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
        assert_eq!(rename_uses(&component, text, "joined", "join"), None);
        // Something else has the name.
        assert_eq!(renamed("from u import joined\njoined(join())\n"), None);
        assert_eq!(
            renamed("from u import joined\ndef join(): joined()\n"),
            None
        );
    }
}
