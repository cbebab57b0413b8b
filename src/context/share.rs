use super::candidate::RequestedParts;
use crate::model::RepoPath;

/// A file that may get a share of the packet.
pub(super) struct Sharer<'a> {
    pub(super) path: &'a RepoPath,
    /// As a packet would show it.
    pub(super) text: &'a str,
    /// How much the file has to say, 0 to 1.
    pub(super) prior: f64,
    /// Whether a repair may have to change it.
    pub(super) product: bool,
    /// 1-based lines that the log points at.
    pub(super) lines: &'a [u32],
    pub(super) claim: Claim,
    pub(super) form: Form,
    /// What of it was asked for by name, which comes before what was only found.
    pub(super) requested: Option<&'a RequestedParts>,
}

/// How a file comes by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// It takes none.
    Free,
    /// It has one.
    Placed,
    /// By its worth, among others.
    ByWorth,
}

/// What of a file would be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The parts that are worth most.
    Parts,
    /// All of it while that is little, else its best parts.
    Short,
    /// Its signatures.
    Signatures,
}

/// What there is to share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) bytes: u64,
    pub(super) file_bytes: u64,
    /// Files with a place.
    pub(super) places: usize,
}

/// What of a file is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Share {
    /// All of it.
    Whole,
    /// These 1-based lines.
    Lines(Vec<[u32; 2]>),
    /// Nothing, for want of bytes.
    Nothing,
    /// Nothing, for want of a place; so many others without one are worth more.
    NoPlace(usize),
}
