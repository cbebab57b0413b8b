use std::sync::Arc;

use crate::languages::{Language, Uses};
use crate::model::{FileFacts, RepoPath};
use crate::source::Installed;

/// A question about imports.
#[derive(Clone, Copy)]
pub struct Query<'q> {
    /// The file that lacks the names.
    pub file: &'q RepoPath,
    /// Names that are undefined in it.
    pub names: &'q [String],
    /// What the user says of names: rows `NAME MODULE [IMPORTED] LANGUAGE`, as in the setting
    /// `context.known`. What they name needs no manifest.
    pub known: &'q [String],
    /// What is installed for the repository.
    pub installed: &'q Installed,
    /// Which files may be read.
    pub may_read: &'q (dyn Fn(&RepoPath) -> bool + Sync),
}

/// One name and the file that lacks it.
pub(super) struct Undefined<'a> {
    pub(super) file: &'a RepoPath,
    pub(super) name: &'a str,
    pub(super) text: &'a [u8],
    pub(super) usage: Uses,
    pub(super) facts: &'a FileFacts,
    pub(super) language: &'static Language,
    /// What other files of its directory say about themselves.
    pub(super) siblings: Vec<Arc<FileFacts>>,
}
