use std::collections::HashSet;

use crate::languages::{Outline, outline};
use crate::model::RepoPath;

/// Returns the functions, classes and methods that a new text of all of a file leaves out, unless it
/// brings as many new ones: those may be the old ones under other names.
pub(super) fn lost_definitions(path: &RepoPath, before: &[u8], after: &[u8]) -> Vec<String> {
    let (old, new) = (outline(path, before), outline(path, after));
    let defined: HashSet<&str> = new
        .definitions
        .iter()
        .map(|definition| &*definition.name)
        .collect();
    let (old, new) = (members(&old, before), members(&new, after));
    let is_lost = |name: &&String| !defined.contains(last_name(name));
    let lost: Vec<String> = old.iter().filter(is_lost).cloned().collect();
    let gained = new.iter().filter(|name| !old.contains(name)).count();
    if lost.len() > gained {
        lost
    } else {
        Vec::new()
    }
}

/// Returns the names that a text defines.
pub(super) fn names(path: &RepoPath, text: &[u8]) -> HashSet<String> {
    let definitions = outline(path, text).definitions.into_iter();
    definitions.map(|definition| definition.name).collect()
}

fn last_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The full names of what has a body: definitions of several lines and their members.
fn members(outline: &Outline, text: &[u8]) -> Vec<String> {
    let rows: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let has_body = |lines: [u32; 2]| {
        let row = rows.get(lines[0].saturating_sub(1) as usize);
        let head = row.map_or(&[][..], |row| row.trim_ascii_start());
        let heads: [&[u8]; 3] = [b"def ", b"class ", b"async def "];
        lines[1] > lines[0] || heads.iter().any(|start| head.starts_with(start))
    };
    let all = &outline.definitions;
    let members = all.iter().filter(|definition| has_body(definition.lines));
    let full_name = members.filter_map(|definition| match definition.parent {
        None => Some(definition.name.clone()),
        // What a function defines inside is its own affair.
        Some(parent) => {
            let parent = all.get(parent).filter(|it| it.parent.is_none())?;
            Some(format!("{}.{}", parent.name, definition.name))
        }
    });
    full_name.collect()
}
