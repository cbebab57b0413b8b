use crate::languages::{Language, Uses, uses, words};
use crate::model::RepoPath;

/// How a file uses a name: by its syntax tree; a component, whose template no tree shows, and what cannot be
/// parsed may use it as anything.
pub(super) fn usage(path: &RepoPath, text: &[u8], name: &str, language: &Language) -> Uses {
    let read = uses(path, text, name);
    let component = matches!(path.extension(), Some("vue" | "svelte"));
    let shown = read.is_some() && !component;
    let mut found = read.unwrap_or_default();
    if !shown && words(text, name).next().is_some() {
        found.value = true;
        found.called |= language.declares_exports;
    }
    found
}
