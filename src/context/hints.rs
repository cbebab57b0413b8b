//! Adds import hints for undefined names to a packet.

use super::inputs::PacketInputs;
use crate::hint::{Ask, Query, Wanted, lacking, recovery_context, suggest, wanted};
use crate::languages::Language;
use crate::model::{Diagnosis, RecoveryContext, RepoPath};

/// Finds imports for the names that a log calls undefined, each for the file that lacks it; `None`
/// when there are no such names. The second is whether they are certain and explain all that failed.
pub(super) fn find_imports(
    inputs: &PacketInputs<'_>,
    diagnosis: Option<&Diagnosis>,
    targets: &[RepoPath],
) -> (Option<RecoveryContext>, bool) {
    let Some(diagnosis) = diagnosis.filter(|diagnosis| !diagnosis.undefined_names.is_empty())
    else {
        return (None, false);
    };
    let may_read = &|path: &RepoPath| inputs.may_read(path);
    let mut files = lacking(diagnosis);
    files.extend(targets.iter().cloned());
    files.retain(|path| Language::of_path(path.as_str()).is_some() && may_read(path));
    let names = &diagnosis.undefined_names;
    let lacks = Wanted {
        names: names.clone(),
        ..Wanted::default()
    };
    let ask = &Ask {
        installed: &inputs.request.installed,
        may_read,
    };
    let mut suggestions = Vec::new();
    for (file, lacks) in &wanted(inputs.source, &files, &lacks) {
        let names = &lacks.names;
        suggestions.extend(suggest(&inputs.graph, &Query { file, names, ask }));
    }
    suggestions.retain(|one| {
        let found = inputs.redactor.redact(&one.import_statement).findings;
        found.is_empty()
    });
    let listing = inputs.source.listing();
    let is_here = files.iter().any(|path| listing.has_file(path.as_str()));
    let is_certain = |name: &String| {
        let mut suggestions = suggestions.iter();
        suggestions.any(|one| one.certain && one.name == *name)
    };
    let certain = is_here && names.iter().all(is_certain) && explains_all(diagnosis);
    let context = recovery_context(diagnosis.kind, names, &suggestions);
    (Some(context), certain)
}

// Whether each failure says that it is one of the undefined names.
fn explains_all(diagnosis: &Diagnosis) -> bool {
    let names = &diagnosis.undefined_names;
    let is_named = |message: &String| names.iter().any(|name| message.contains(name));
    let mut messages = diagnosis
        .tests
        .iter()
        .filter_map(|test| test.message.as_ref());
    diagnosis.missing_modules.is_empty()
        && diagnosis.missing_exports.is_empty()
        && messages.all(is_named)
}
