use std::collections::BTreeMap;

use crate::model::{RepoPath, Role};

/// A file that may go into the packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) path: RepoPath,
    pub(super) role: Role,
    pub(super) hops: Option<u32>,
    pub(super) via: Vec<RepoPath>,
    pub(super) why: String,
    /// 1-based lines that the log names in it.
    pub(super) lines: Vec<u32>,
    pub(super) form: Form,
    /// The fused score and its parts, when the ranking chose it.
    pub(super) score: Option<(u64, BTreeMap<String, u64>)>,
}

/// How much of a candidate is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// All of it.
    Whole,
    /// What it declares, without the bodies.
    Signatures,
}
