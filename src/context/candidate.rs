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
    /// What of it was asked for by name; `None` when it was not.
    pub(super) parts: Option<RequestedParts>,
    /// The fused score and its parts, when the ranking chose it.
    pub(super) score: Option<(u64, BTreeMap<String, u64>)>,
}

impl Candidate {
    /// One that is wanted whole, and that no log, closure or ranking leads to.
    pub(super) fn new(path: &RepoPath, role: Role, why: &str) -> Self {
        Self {
            path: path.clone(),
            role,
            hops: None,
            via: Vec::new(),
            why: why.to_owned(),
            lines: Vec::new(),
            form: Form::Whole,
            parts: None,
            score: None,
        }
    }

    /// A target; these lines of it are named by the log.
    pub(super) fn target(path: &RepoPath, lines: &[u32], why: &str) -> Self {
        Self {
            hops: Some(0),
            lines: lines.to_vec(),
            ..Self::new(path, Role::Target, why)
        }
    }
}

/// What of a file was asked for by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct RequestedParts {
    /// Whether all of it was.
    pub(super) all: bool,
    /// 1-based line ranges that were, of more worth than all of it.
    pub(super) lines: Vec<[u32; 2]>,
    /// Lines that whoever asks was shown before.
    pub(super) seen: Vec<[u32; 2]>,
}

/// How much of a candidate is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// All of it.
    Whole,
    /// What it declares, without the bodies.
    Signatures,
}
