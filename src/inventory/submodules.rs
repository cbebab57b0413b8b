use super::project::{Project, is_plain};
use crate::model::{Diagnosis, Remedy};
use crate::source::{EntryKind, Source};

fn submodules(source: &dyn Source) -> impl Iterator<Item = &str> {
    let entries = source.listing().entries().iter();
    let modules = entries.filter(|entry| matches!(entry.kind, EntryKind::Submodule { .. }));
    modules.map(|entry| entry.path.as_str())
}

/// Returns a submodule that was never fetched; with a log one that it names a file or a module of.
pub(super) fn unfetched_submodule(project: &Project<'_>, log: Option<&str>) -> Option<Remedy> {
    let root = project.root.as_ref()?;
    let is_named = |path: &str| {
        let dotted = path.replace('/', ".");
        let ends = [
            format!("{path}/"),
            format!("{dotted}."),
            format!("'{dotted}'"),
        ];
        log.is_none_or(|log| ends.iter().any(|end| log.contains(end)))
    };
    let is_empty = |path: &str| {
        let inside = std::fs::read_dir(root.join(path));
        inside.is_ok_and(|mut inside| inside.next().is_none())
    };
    let mut paths = submodules(project.source);
    let path = paths.find(|path| is_named(path) && is_empty(path) && is_plain(path))?;
    let message = format!("the submodule {path} was never fetched");
    let line = format!("git submodule update --init -- {path}");
    Some(Remedy::new(message, Some(line)))
}

/// Returns the submodule that holds what a log names, when no file of the repository itself is named.
#[must_use]
pub fn in_submodule<'s>(diagnosis: &Diagnosis, source: &'s dyn Source) -> Option<&'s str> {
    if diagnosis.files.iter().any(|file| file.in_repository) {
        return None;
    }
    submodules(source).find(|module| {
        let (below, inner) = (format!("{module}/"), format!("/{module}/"));
        let named = |path: &str| path.starts_with(&below) || path.contains(&inner);
        diagnosis.files.iter().any(|file| named(&file.path))
    })
}
