use super::build::PacketInputs;
use super::request::Request;
use crate::hint::{Ask, Query, Wanted, lacking, recovery_context, suggest, wanted};
use crate::languages::Language;
use crate::model::{Diagnosis, RecoveryContext, RepoPath};

/// What is known of the names that a log calls undefined.
#[derive(Default)]
pub(super) struct Recovery {
    /// Imports for them, each for the file that lacks it; `None` when there are no such names.
    pub(super) context: Option<RecoveryContext>,
    /// Whether they are certain and explain all that failed.
    pub(super) certain: bool,
}

impl Recovery {
    /// Whether the imports found explain all that failed, and no attempt has failed with them.
    pub(super) fn is_certain(&self, request: &Request) -> bool {
        self.certain && request.retry.stop_reason.is_none()
    }
}

/// Finds imports for the names that a log calls undefined.
pub(super) fn recovery(
    inputs: &PacketInputs<'_>,
    diagnosis: Option<&Diagnosis>,
    targets: &[RepoPath],
) -> Recovery {
    let Some(diagnosis) = diagnosis.filter(|diagnosis| !diagnosis.undefined_names.is_empty())
    else {
        return Recovery::default();
    };
    let (graph, redactor) = (&inputs.graph, inputs.redactor);
    let may_read = &|path: &RepoPath| inputs.may_read(path);
    let source = graph.source();
    let files: Vec<RepoPath> = lacking(diagnosis)
        .into_iter()
        .chain(targets.iter().cloned())
        .filter(|path| Language::of_path(path.as_str()).is_some() && may_read(path))
        .collect();
    let names = &diagnosis.undefined_names;
    let lacks = Wanted {
        names: names.clone(),
        ..Wanted::default()
    };
    let mut suggestions = Vec::new();
    let ask = &Ask {
        installed: &inputs.request.installed,
        may_read,
    };
    for (file, lacks) in &wanted(source, &files, &lacks) {
        let names = &lacks.names;
        suggestions.extend(suggest(graph, &Query { file, names, ask }));
    }
    suggestions.retain(|one| redactor.redact(&one.import_statement).findings.is_empty());
    let is_here = files
        .iter()
        .any(|it| source.listing().has_file(it.as_str()));
    let certain = is_here
        && names.iter().all(|name| {
            let mut of_name = suggestions.iter().filter(|it| it.name == *name);
            of_name.any(|it| it.certain)
        });
    Recovery {
        context: Some(recovery_context(diagnosis.kind, names, &suggestions)),
        certain: certain && explains_all(diagnosis),
    }
}

// Whether each failure says that it is one of the undefined names.
fn explains_all(diagnosis: &Diagnosis) -> bool {
    let messages = diagnosis.tests.iter().filter_map(|it| it.message.as_ref());
    let named = |message: &String| {
        diagnosis
            .undefined_names
            .iter()
            .any(|it| message.contains(it))
    };
    diagnosis.missing_modules.is_empty()
        && diagnosis.missing_exports.is_empty()
        && messages.into_iter().all(named)
}
