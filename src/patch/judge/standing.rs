// How one section relates to the tree.
pub(super) enum Standing {
    Applied,
    // Its new side stands there already; where known, the content it would have started from.
    Already { origin: Option<Vec<u8>>, sure: bool },
    // It fits and changes nothing.
    Unchanged,
    Failed,
}
