use std::collections::BTreeSet;
use std::path::PathBuf;

use super::language::Language;
use crate::model::RepoPath;
use crate::source::Installed;

/// Files of a package that are read for one name.
pub(super) const MAX_FILES: usize = 48;
/// Bytes of them.
pub(super) const MAX_BYTES: usize = 8 << 20;
/// What an installed module is known to have under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Has {
    /// It exports it.
    Exported {
        /// A type that is gone at run time.
        erased: bool,
    },
    /// The word stands in nothing that it shows.
    Nothing,
}

/// Whether a module as it is installed for `file` exports a name. `None` when it is not installed,
/// or shows too much or too little to tell.
#[must_use]
pub fn exported(installed: &Installed, file: &RepoPath, module: &str, name: &str) -> Option<Has> {
    let language = Language::of_path(file.as_str())?;
    let mut look = Look {
        installed,
        name,
        bytes: 0,
        seen: BTreeSet::new(),
        unknown: false,
    };
    let found = (language.editing.as_ref()?.shows)(&mut look, file, module)?;
    match found {
        Some(erased) => Some(Has::Exported { erased }),
        None => (!look.unknown).then_some(Has::Nothing),
    }
}

/// A look into what is installed.
pub(super) struct Look<'l> {
    pub(super) installed: &'l Installed,
    pub(super) name: &'l str,
    pub(super) bytes: usize,
    pub(super) seen: BTreeSet<PathBuf>,
    pub(super) unknown: bool,
}
