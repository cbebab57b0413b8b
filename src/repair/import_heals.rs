use super::heal::Heal;
use crate::graph::Graph;
use crate::hint::{Query, Wanted, fix, moved_modules, renamed_exports, suggest, undefined, wanted};
use crate::model::{Diagnosis, HintSource, Language, MentionedFile, RepoPath, Suggestion};
use crate::source::Source;

/// Uncertain answers that are tried in one go (R74).
const MAX_TRIES: usize = 3;

/// What is certain: one change for all files together, as one missing name hides the next. Then
/// what may be tried under the tests: where a module may have gone, an export with a name like it
/// (kept only when the commands pass), the only import that is known for a name.
pub(super) fn import_heals(
    diagnosis: &Diagnosis,
    source: &dyn Source,
    known: &[String],
    may_read: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> (Option<Heal>, Vec<Heal>) {
    let files: Vec<RepoPath> = diagnosis
        .files
        .iter()
        .filter_map(MentionedFile::repo_path)
        .filter(|path| Language::of_path(path.as_str()).is_some() && may_read(path))
        .collect();
    let lacks = Wanted {
        names: diagnosis.undefined_names.clone(),
        modules: diagnosis.missing_modules.clone(),
        exports: diagnosis.missing_exports.clone(),
    };
    let wanted = wanted(source, &files, &lacks);
    if wanted.is_empty() {
        return (None, Vec::new());
    }
    let graph = Graph::new(source);
    let mut heal = Heal {
        what: String::new(),
        patch: Vec::new(),
        files: Vec::new(),
        must_fix: false,
    };
    let mut said: Vec<String> = Vec::new();
    let mut tries: Vec<Heal> = Vec::new();
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
        let (mut certain, open): (Vec<_>, Vec<_>) = found.into_iter().partition(|one| one.certain);
        certain.extend(hidden(source, &graph, &query));
        for one in may_be_tried(&certain, &open) {
            if let Some(fixed) = fix(&graph, file, std::slice::from_ref(one)) {
                tries.push(Heal {
                    what: format!("try {} in {file}", one.import_statement),
                    patch: fixed.patch.into_bytes(),
                    files: vec![file.clone()],
                    must_fix: one.source == HintSource::Similar
                        || open.iter().filter(|it| it.name == one.name).count() > 1,
                });
            }
        }
        let Some(fixed) = fix(&graph, file, &certain) else {
            continue;
        };
        said.push(format!("{} in {file}", fixed.names.join(", ")));
        heal.patch.extend_from_slice(fixed.patch.as_bytes());
        heal.files.push(file.clone());
    }
    tries.truncate(MAX_TRIES);
    heal.what = format!("import {}", said.join("; "));
    ((!said.is_empty()).then_some(heal), tries)
}

// Certain imports of names that are missing behind those that the failure names.
fn hidden(source: &dyn Source, graph: &Graph<'_>, query: &Query<'_>) -> Vec<Suggestion> {
    if query.names.is_empty() {
        return Vec::new();
    }
    let bytes = source.read(query.file).unwrap_or_default();
    let mut names = undefined(query.file, &bytes);
    names.retain(|name| !query.names.contains(name));
    let query = Query {
        names: &names,
        ..*query
    };
    let mut found = suggest(source, graph, &query);
    found.retain(|one| one.certain);
    found
}

// Of names for which nothing is certain. Where two definitions bear the name, only a person or a
// model can tell which is meant: tests that pass with one may pass with the other.
fn may_be_tried<'s>(certain: &[Suggestion], open: &'s [Suggestion]) -> Vec<&'s Suggestion> {
    let settled = |one: &Suggestion| certain.iter().any(|it| it.name == one.name);
    let rivals = |one: &Suggestion| {
        open.iter()
            .filter(|it| it.name == one.name && it.source != HintSource::Similar)
            .filter(|it| it.replaces.is_none() && it.path != one.path)
            .count()
    };
    open.iter()
        .filter(|one| !settled(one))
        .filter(|one| match (&one.replaces, one.source) {
            // A file next door in place of an alias would hide that the alias is wrong.
            (Some(was), _) => was.starts_with('.') || !one.module.starts_with('.'),
            (None, HintSource::Similar) => false,
            (None, _) => rivals(one) == 0,
        })
        .collect()
}
