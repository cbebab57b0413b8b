use std::sync::Arc;

use crate::languages::{Language, Uses};
use crate::model::{FileFacts, RepoPath};

/// One name and the file that lacks it.
pub(super) struct Asked<'a> {
    pub(super) file: &'a RepoPath,
    pub(super) name: &'a str,
    pub(super) text: &'a [u8],
    pub(super) usage: Uses,
    pub(super) facts: &'a FileFacts,
    pub(super) language: &'static Language,
    /// What other files of its directory say about themselves.
    pub(super) siblings: Vec<Arc<FileFacts>>,
    /// Files of the repository that it imports.
    pub(super) reached: Vec<RepoPath>,
}
