use crate::model::RepoPath;

/// A change that needs no model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heal {
    /// One sentence.
    pub what: String,
    /// A git patch.
    pub patch: Vec<u8>,
    /// Files it changes.
    pub files: Vec<RepoPath>,
    /// Whether it is kept only when the commands pass with it.
    pub must_fix: bool,
}
