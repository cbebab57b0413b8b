use super::section::Section;

/// A section that has been judged.
#[derive(Debug, Default)]
pub(super) struct Done<'a> {
    pub(super) section: Section<'a>,
    /// The whole section was refused, and is not written.
    pub(super) refused: bool,
    /// The content after it, as the repository has it.
    pub(super) after: Vec<u8>,
    /// Which hunks were left out.
    pub(super) rejected: Vec<bool>,
    /// The sides of a merge that left conflicts.
    pub(super) conflict: Option<Sides>,
    /// Nothing else looks at the content, and nobody wants it written.
    pub(super) judged_only: bool,
    pub(super) straight_to_merge: bool,
}

/// Base, ours and theirs of a merge with conflicts; a created file has no base.
#[derive(Debug, Clone)]
pub(super) struct Sides {
    pub(super) base: Option<Vec<u8>>,
    pub(super) ours: Vec<u8>,
    pub(super) theirs: Vec<u8>,
}
