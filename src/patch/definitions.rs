use std::collections::{BTreeMap, HashSet};

use super::structure::FileChange;
use crate::languages::outline;
use crate::model::RepoPath;

/// Returns the functions and classes that a new text of all of a file leaves out and that no other file of the
/// patch takes, unless the file brings as many new ones: those may be the old ones under other names.
pub(super) fn lost_definitions(path: &str, slots: &BTreeMap<String, FileChange>) -> Vec<String> {
    let Some(slot) = slots.get(path) else {
        return Vec::new();
    };
    let old = names(path, slot, true);
    let new: HashSet<String> = names(path, slot, false).into_iter().collect();
    let others = slots.iter().filter(|(other, _)| *other != path);
    let taken: HashSet<String> = others
        .flat_map(|(other, slot)| {
            let before = names(other, slot, true);
            let mut after = names(other, slot, false);
            after.retain(|name| !before.contains(name));
            after
        })
        .collect();
    let gained = new.iter().filter(|name| !old.contains(name)).count();
    let mut lost = old;
    lost.retain(|name| !new.contains(name));
    if lost.len() <= gained {
        return Vec::new();
    }
    lost.retain(|name| !taken.contains(name));
    lost
}

/// Returns the names of the functions, classes and methods that a side of a change defines.
fn names(path: &str, slot: &FileChange, before: bool) -> Vec<String> {
    let side = if before { &slot.before } else { &slot.after };
    let (Some(state), Ok(path)) = (side, RepoPath::new(path)) else {
        return Vec::new();
    };
    let rows: Vec<&[u8]> = state.bytes.split(|byte| *byte == b'\n').collect();
    let has_body = |lines: [u32; 2]| {
        let head = rows.get(lines[0].saturating_sub(1) as usize);
        let head = head.map_or(&[][..], |row| row.trim_ascii_start());
        let heads: [&[u8]; 3] = [b"def ", b"class ", b"async def "];
        lines[1] > lines[0] || heads.iter().any(|start| head.starts_with(start))
    };
    let all = outline(&path, &state.bytes).definitions;
    let is_inner = |parent: usize| all.get(parent).is_none_or(|it| it.parent.is_some());
    // What a function defines inside is its own affair.
    let members = all
        .iter()
        .filter(|definition| !definition.parent.is_some_and(is_inner));
    let members = members.filter(|definition| !before || has_body(definition.lines));
    members.map(|definition| definition.name.clone()).collect()
}
