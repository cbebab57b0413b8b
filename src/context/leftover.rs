use crate::graph::Closure;
use crate::model::{Code, Omission, RepoPath, UnresolvedImport};
use crate::policy::{ReadPolicy, Redactor};
use crate::source::{EntryKind, Source};

use super::repo_index::NameSecrets;

const MAX_UNREADABLE: usize = 100;

/// Links, pipes and odd names are said once, so that nobody takes them for forgotten.
pub(super) fn unreadable_entries(
    source: &dyn Source,
    redactor: &Redactor,
    targets: &[RepoPath],
) -> Vec<Omission> {
    let listing = source.listing();
    let entries = listing.entries().iter().filter_map(|entry| {
        let (code, reason) = match &entry.kind {
            EntryKind::File { .. } => return None,
            EntryKind::Symlink { target } => (Code::C302, format!("a symlink to `{target}`")),
            EntryKind::Submodule { commit: Some(id) } => {
                (Code::C303, format!("a submodule at {id}"))
            }
            EntryKind::Submodule { commit: None } => (Code::C303, "another repository".to_owned()),
            EntryKind::Special => (Code::C304, "a pipe, socket or device".to_owned()),
            EntryKind::NotCheckedOut => (Code::C305, "tracked but not checked out here".to_owned()),
        };
        (!targets.contains(&entry.path)).then(|| (entry.path.to_string(), code, reason))
    });
    let skipped = listing.skipped().iter().map(|skipped| {
        (
            skipped.lossy_path.clone(),
            Code::C306,
            skipped.reason.clone(),
        )
    });
    entries
        .chain(skipped)
        .take(MAX_UNREADABLE)
        .map(|(path, code, reason)| Omission {
            path: redactor.redact(&path).text.into_owned(),
            rank: None,
            code,
            reason: redactor.redact(&reason).text.into_owned(),
            bytes: None,
            remedy: String::new(),
        })
        .collect()
}

/// Imports of included files that lead nowhere.
pub(super) fn unresolved(
    reach: &Closure,
    included: &[RepoPath],
    redactor: &Redactor,
) -> Vec<UnresolvedImport> {
    let mut found: Vec<UnresolvedImport> = reach
        .unresolved
        .iter()
        .filter(|import| included.contains(&import.path))
        .map(|import| UnresolvedImport {
            specifier: redactor.redact(&import.specifier).text.into_owned(),
            tried: import
                .tried
                .iter()
                .map(|path| redactor.redact(path).text.into_owned())
                .collect(),
            ..import.clone()
        })
        .collect();
    found.sort();
    found
}

const MAX_NEXT: usize = 20;

/// Paths worth asking for: what the caps cut first, then what lies one import further.
pub(super) fn next(
    reach: &Closure,
    included: &[RepoPath],
    omitted: &[Omission],
    policy: &ReadPolicy,
    names: &NameSecrets,
) -> Vec<RepoPath> {
    let cut = omitted
        .iter()
        .filter(|omission| omission.rank.is_some())
        .filter_map(|omission| RepoPath::new(&omission.path).ok());
    let further = reach.nodes.iter().map(|node| node.path.clone());
    let mut found: Vec<RepoPath> = Vec::new();
    for path in cut.chain(further) {
        let fresh = !included.contains(&path) && !found.contains(&path);
        if fresh && policy.refuse(&path).is_none() && !names.contains(&path) {
            found.push(path);
        }
        if found.len() == MAX_NEXT {
            break;
        }
    }
    found
}
