use crate::graph::Graph;
use crate::hint::{Query, recovery_context, suggest};
use crate::model::{Diagnosis, RecoveryContext, RepoPath};
use crate::policy::Redactor;

/// Imports for the names that a log calls undefined, each looked for in the first target that
/// uses it, and whether that is certain for all of them. `None` when there are no such names.
pub(super) fn recovery(
    graph: &Graph<'_>,
    redactor: &Redactor,
    diagnosis: Option<&Diagnosis>,
    targets: &[RepoPath],
    known: &[String],
    may_read: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> Option<(RecoveryContext, bool)> {
    let diagnosis = diagnosis.filter(|it| !it.undefined_names.is_empty())?;
    let source = graph.source();
    let mentioned = diagnosis
        .files
        .iter()
        .filter_map(crate::model::MentionedFile::repo_path);
    let files: Vec<RepoPath> = mentioned.chain(targets.iter().cloned()).collect();
    let mut suggestions = Vec::new();
    for name in &diagnosis.undefined_names {
        let uses = |file: &&RepoPath| {
            may_read(file)
                && source
                    .read(file)
                    .is_ok_and(|text| memchr::memmem::find(&text, name.as_bytes()).is_some())
        };
        let Some(file) = files.iter().find(uses) else {
            continue;
        };
        let query = Query {
            file,
            names: std::slice::from_ref(name),
            known,
            may_read,
        };
        suggestions.extend(suggest(source, graph, &query));
    }
    suggestions.retain(|one| redactor.redact(&one.import_statement).findings.is_empty());
    let names = &diagnosis.undefined_names;
    let certain = names.iter().all(|name| {
        let mut of_name = suggestions.iter().filter(|it| it.name == *name).peekable();
        of_name.peek().is_some() && of_name.all(|it| it.certain)
    });
    let recovery = recovery_context(diagnosis.kind, names, &suggestions);
    Some((recovery, certain))
}
