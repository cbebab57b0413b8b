use std::collections::BTreeMap;

use super::heal::Heal;
use crate::graph::Graph;
use crate::hint::{Query, fix, moved_modules, renamed_exports, suggest};
use crate::model::{Diagnosis, Language, MentionedFile, RepoPath, Suggestion};
use crate::source::Source;

/// Imports that are certain: one change for all files together, as one missing name hides the
/// next.
pub(super) fn import_heals(
    diagnosis: &Diagnosis,
    source: &dyn Source,
    known: &[String],
    may_read: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> Vec<Heal> {
    let wanted = wanted(diagnosis, source, may_read);
    if wanted.is_empty() {
        return Vec::new();
    }
    let graph = Graph::new(source);
    let mut heal = Heal {
        what: String::new(),
        patch: Vec::new(),
        files: Vec::new(),
        must_fix: false,
    };
    let mut said: Vec<String> = Vec::new();
    for (file, wanted) in &wanted {
        let query = Query {
            file,
            names: &wanted.names,
            known,
            may_read,
        };
        let mut found: Vec<Suggestion> = suggest(source, &graph, &query);
        found.extend(moved_modules(source, &graph, &query, &wanted.modules));
        found.extend(renamed_exports(source, &graph, &query, &wanted.exports));
        found.retain(|suggestion| suggestion.certain);
        let Some(fixed) = fix(&graph, file, &found) else {
            continue;
        };
        said.push(format!("{} in {file}", fixed.names.join(", ")));
        heal.patch.extend_from_slice(fixed.patch.as_bytes());
        heal.files.push(file.clone());
    }
    if said.is_empty() {
        return Vec::new();
    }
    heal.what = format!("import {}", said.join("; "));
    vec![heal]
}

#[derive(Default)]
struct Wanted {
    names: Vec<String>,
    modules: Vec<String>,
    exports: Vec<String>,
}

// Of the files that the log names, the first that holds the word lacks it.
fn wanted(
    diagnosis: &Diagnosis,
    source: &dyn Source,
    may_read: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> BTreeMap<RepoPath, Wanted> {
    let files: Vec<RepoPath> = diagnosis
        .files
        .iter()
        .filter_map(MentionedFile::repo_path)
        .filter(|path| Language::of_path(path.as_str()).is_some() && may_read(path))
        .collect();
    let mut wanted: BTreeMap<RepoPath, Wanted> = BTreeMap::new();
    let mut put = |text: &str, take: fn(&mut Wanted) -> &mut Vec<String>| {
        let word = text.rsplit(['.', '/']).next().unwrap_or(text);
        let uses = |file: &&RepoPath| {
            source
                .read(file)
                .is_ok_and(|bytes| memchr::memmem::find(&bytes, word.as_bytes()).is_some())
        };
        if let Some(file) = files.iter().find(uses) {
            let list = take(wanted.entry(file.clone()).or_default());
            if !list.iter().any(|known| known == text) {
                list.push(text.to_owned());
            }
        }
    };
    for name in &diagnosis.undefined_names {
        put(name, |it| &mut it.names);
    }
    for module in &diagnosis.missing_modules {
        put(module, |it| &mut it.modules);
    }
    for export in &diagnosis.missing_exports {
        put(export, |it| &mut it.exports);
    }
    wanted
}
