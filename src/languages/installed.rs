//! Reads exports of installed packages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use memchr::memmem;

use super::language::Language;
use super::{facts, words};
use crate::model::RepoPath;
use crate::source::Installed;

/// Texts by which a module may have names that it does not declare one by one.
const DYNAMIC: [&str; 3] = ["__getattr__", "export =", "declare module"];

/// How a language finds the files of installed modules.
pub(super) struct InstalledFiles {
    /// A name that files are read under.
    pub(super) read_as: &'static str,
    /// The folder of the package of a module as a file finds it, and the file that declares the module.
    pub(super) entry: fn(&Installed, &RepoPath, &str) -> Option<(PathBuf, PathBuf)>,
    /// The file that a relative specifier in an installed file means.
    pub(super) beside: fn(&Path, &str) -> Option<PathBuf>,
}

/// What an installed module is known to have under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Has {
    /// It exports it.
    Exported {
        /// A type that is gone at run time.
        erased: bool,
    },
    /// The word is in nothing that it shows.
    Nothing,
}

/// Checks whether a module that is installed for `file` exports a name. `None` when it is not installed, or
/// its exports are unknown.
pub fn exported(installed: &Installed, file: &RepoPath, module: &str, name: &str) -> Option<Has> {
    let language = Language::of_path(file.as_str())?;
    let files = &language.editing.as_ref()?.installed;
    let read_as = RepoPath::new(files.read_as).ok()?;
    let (folder, entry) = (files.entry)(installed, file, module)?;
    let mut open = vec![entry];
    let mut seen = BTreeSet::new();
    let mut read_bytes = 0;
    let mut is_unknown = false;
    while let Some(at) = open.pop() {
        if !seen.insert(at.clone()) {
            continue;
        }
        // Files of a package that are read for one name, and their bytes.
        let is_enough = seen.len() > 48 || read_bytes > (8 << 20);
        let Some(text) = installed.read(&folder, &at).filter(|_| !is_enough) else {
            is_unknown = true;
            continue;
        };
        read_bytes += text.len();
        let facts = facts(&read_as, &text);
        let export = facts.exports.iter().find(|export| export.name == name);
        let local = export.and_then(|export| export.local.as_deref()).unwrap_or(name);
        let kinds: Vec<_> = facts
            .definitions
            .iter()
            .filter(|definition| definition.name == local)
            .map(|definition| definition.kind)
            .collect();
        let is_package = at.file_stem().is_some_and(|stem| stem == "__init__");
        if export.is_some()
            || !language.declares_exports && !kinds.is_empty()
            || is_package && (files.beside)(&at, &format!(".{name}")).is_some()
        {
            let erased = !kinds.is_empty() && kinds.iter().all(|kind| kind.is_erased());
            return Some(Has::Exported { erased });
        }
        is_unknown |= words(&text, name).next().is_some();
        is_unknown |= DYNAMIC.iter().any(|mark| memmem::find(&text, mark.as_bytes()).is_some());
        for star in facts.exports.iter().filter(|export| export.name == "*") {
            let from = star.from.as_deref().filter(|from| from.starts_with('.'));
            let next = from.and_then(|from| (files.beside)(&at, from));
            // Another package may pass the name on.
            is_unknown |= next.is_none();
            open.extend(next);
        }
    }
    (!is_unknown).then_some(Has::Nothing)
}
