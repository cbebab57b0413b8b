use std::cmp::Reverse;

use crate::graph::{Closure, ClosureNode};
use crate::model::{Code, NextFile, Omission, RepoPath, UnresolvedImport};
use crate::policy::Redactor;
use crate::source::{EntryKind, Source};

const MAX_UNREADABLE: usize = 100;

/// Links, pipes and odd names are said once, so that nobody takes them for forgotten; and how many
/// there are beyond those.
pub(super) fn unreadable_entries(
    source: &dyn Source,
    redactor: &Redactor,
    targets: &[RepoPath],
) -> (Vec<Omission>, Option<u64>) {
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
    let mut all = entries.chain(skipped);
    let said = all
        .by_ref()
        .take(MAX_UNREADABLE)
        .map(|(path, code, reason)| Omission {
            path: redactor.redact(&path).text.into_owned(),
            rank: None,
            code,
            reason: redactor.redact(&reason).text.into_owned(),
            bytes: None,
            remedy: String::new(),
        })
        .collect();
    (said, Some(all.count() as u64).filter(|it| *it > 0))
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
// Importers of what was changed; a file that everything imports says little of each.
const MAX_IMPORTERS: usize = 8;

/// Files worth asking for: what imports a file that an attempt before changed, what the caps cut, and
/// what lies one import further.
pub(super) fn next(
    (reach, importers): (&Closure, &Closure),
    included: &[RepoPath],
    omitted: &[Omission],
    may_read: &dyn Fn(&RepoPath) -> bool,
) -> Vec<NextFile> {
    let of = |path: &RepoPath, why: String| NextFile {
        path: path.clone(),
        why,
    };
    let mut nodes: Vec<&ClosureNode> = importers.nodes.iter().filter(|it| it.hops > 0).collect();
    nodes.retain(|it| !included.contains(&it.path) && may_read(&it.path));
    let near = |node: &ClosureNode| {
        let shared = importers.nodes.iter().filter(|it| it.hops == 0).map(|it| {
            let both = it
                .path
                .as_str()
                .split('/')
                .zip(node.path.as_str().split('/'));
            both.take_while(|(a, b)| a == b).count()
        });
        Reverse(shared.max())
    };
    nodes.sort_by_cached_key(|it| (near(it), it.path.clone()));
    nodes.truncate(MAX_IMPORTERS);
    let importing = nodes.into_iter().map(|node| {
        let why = "it imports what an attempt before changed";
        of(&node.path, why.to_owned())
    });
    let cut = omitted.iter().filter(|it| it.rank.is_some());
    let cut = cut.filter_map(|it| Some(of(&RepoPath::new(&it.path).ok()?, it.reason.clone())));
    let further = reach.nodes.iter().map(|node| {
        let why = match node.via.last() {
            Some(importer) => format!("imported by {importer}"),
            None => "imported by a target".to_owned(),
        };
        of(&node.path, why)
    });
    let mut found: Vec<NextFile> = Vec::new();
    for file in importing.chain(cut).chain(further) {
        let fresh = !included.contains(&file.path) && found.iter().all(|it| it.path != file.path);
        if fresh && may_read(&file.path) {
            found.push(file);
        }
        if found.len() == MAX_NEXT {
            break;
        }
    }
    found
}
