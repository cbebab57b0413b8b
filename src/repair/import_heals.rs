use super::heals::Heal;
use crate::graph::Graph;
use crate::hint::{Ask, Fix, Query, Wanted, answers, fix_all, suggest, undefined, wanted};
use crate::languages::Language;
use crate::model::{Diagnosis, HintSource, MentionedFile, RepoPath, Suggestion};
use crate::policy::is_test;
use crate::source::Source;

/// Uncertain answers that are tried in one go (R74).
const MAX_TRIES: usize = 3;

/// What is certain: one change for all files together, as one missing name hides the next, with
/// the other importers of what was renamed or moved. Then what may be tried under the tests: where a module may have gone, an export with a name like it
/// (kept only when the commands pass), the only import that is known for a name.
pub(super) fn import_heals(
    diagnosis: &Diagnosis,
    source: &dyn Source,
    ask: &Ask<'_>,
) -> (Option<Heal>, Vec<Heal>) {
    let files: Vec<RepoPath> = diagnosis
        .files
        .iter()
        .filter_map(MentionedFile::repo_path)
        .filter(|path| Language::of_path(path.as_str()).is_some() && (ask.may_read)(path))
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
    let heal = |what: String, fixes: Vec<(RepoPath, Fix)>, must_fix, imports| Heal {
        what,
        imports,
        patch: fixes.iter().flat_map(|(_, it)| it.patch.bytes()).collect(),
        files: fixes.into_iter().map(|(file, _)| file).collect(),
        must_fix,
    };
    let mut tries: Vec<Heal> = Vec::new();
    let mut settled: Vec<(RepoPath, Vec<Suggestion>)> = Vec::new();
    for answer in answers(&graph, &wanted, ask) {
        let file = answer.file;
        let found = answer.suggestions.into_iter();
        let (mut certain, open): (Vec<_>, Vec<_>) = found.partition(|one| one.certain);
        let query = Query {
            file: &file,
            names: &answer.wanted.names,
            known: ask.known,
            installed: ask.installed,
            may_read: ask.may_read,
        };
        certain.extend(hidden(source, &graph, &query));
        for one in may_be_tried(&certain, &open) {
            let fixes = fix_all(&graph, ask, &[(file.clone(), vec![one.clone()])]);
            // A guess that changes tests hides what it does not mend.
            let tests = fixes.iter().any(|(fixed, _)| is_test(fixed.as_str()));
            if !tests && fixes.iter().any(|(fixed, _)| *fixed == file) {
                let what = format!("try {} in {}", one.import_statement, listed(&fixes));
                let rivals = open.iter().filter(|it| it.name == one.name).count() > 1;
                let must_fix = one.source == HintSource::Similar || rivals;
                let imports = [(one.name.clone(), one.import_statement.clone())];
                tries.push(heal(what, fixes, must_fix, imports.into()));
            }
        }
        settled.push((file, certain));
    }
    let fixes = fix_all(&graph, ask, &settled);
    let said: Vec<String> = fixes
        .iter()
        .map(|(file, fixed)| format!("{} in {file}", written(fixed, &settled)))
        .collect();
    let imports = settled.iter().flat_map(|(_, found)| found);
    let imports = imports.map(|one| (one.name.clone(), one.import_statement.clone()));
    let certain = heal(said.join("; "), fixes, false, imports.collect());
    tries.truncate(MAX_TRIES);
    ((!said.is_empty()).then_some(certain), tries)
}

// What a fix adds by its name; what it corrects as it stands after it.
fn written(fixed: &Fix, settled: &[(RepoPath, Vec<Suggestion>)]) -> String {
    let all = || settled.iter().flat_map(|(_, found)| found);
    let mut said: Vec<String> = Vec::new();
    for name in &fixed.names {
        let corrected = all().filter(|it| it.name == *name && it.replaces.is_some());
        let mut corrected: Vec<String> = corrected.map(|it| it.import_statement.clone()).collect();
        if corrected.is_empty() {
            corrected.push(format!("import {name}"));
        }
        for one in corrected {
            if !said.contains(&one) {
                said.push(one);
            }
        }
    }
    said.join(", ")
}

fn listed(fixes: &[(RepoPath, Fix)]) -> String {
    let files: Vec<&str> = fixes.iter().map(|(file, _)| file.as_str()).collect();
    files.join(", ")
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
