use std::collections::HashSet;

use crate::model::{PacketFile, UnchangedFile};

/// Takes out the files that an earlier packet held in the same form, and names them instead.
pub(super) fn split_unchanged(
    files: Vec<PacketFile>,
    earlier: &[UnchangedFile],
) -> (Vec<PacketFile>, Vec<UnchangedFile>) {
    let earlier: HashSet<&UnchangedFile> = earlier.iter().collect();
    let mut new = Vec::new();
    let mut unchanged = Vec::new();
    for file in files {
        let known = UnchangedFile::of(&file);
        if earlier.contains(&known) {
            unchanged.push(known);
        } else {
            new.push(file);
        }
    }
    (new, unchanged)
}
