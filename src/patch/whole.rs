//! Refuses a whole file that lost its rest: a truncated reply would delete code otherwise.

use std::collections::{BTreeMap, HashSet};

use super::change::FileState;
use super::intent::solid_rows;
use super::structure::FileChange;
use crate::languages::outline;
use crate::model::{Code, Refusal, RepoPath};

/// Refuses a new text of all of a file that has lost its rest: most of its lines, its end, or functions and
/// classes that no other file of the patch takes.
pub(super) fn reject_lost_rest(
    path: &str,
    slots: &BTreeMap<String, FileChange>,
) -> Option<Refusal> {
    let slot = slots.get(path)?;
    let (before, after) = (slot.before.as_ref()?, slot.after.as_ref()?);
    if let Some((old, new)) = find_shrinkage(&before.bytes, &after.bytes) {
        let message = format!(
            "the whole file would shrink from {old} lines to {new}; the rest seems to be missing"
        );
        return Some(Refusal::new(Code::P313, message));
    }
    let lost = lost_definitions(path, before, after, slots);
    let named: Vec<String> = lost.iter().take(5).map(|name| format!("`{name}`")).collect();
    let named = named.join(", ");
    let message = format!("the whole file omits {named} without a replacement");
    (!lost.is_empty()).then(|| Refusal::new(Code::P313, message))
}

/// The lines of a text before and after, when what has gone is the end or most of it.
fn find_shrinkage(before: &[u8], after: &[u8]) -> Option<(usize, usize)> {
    let (before, after) = (solid_rows(before), solid_rows(after));
    let (old, new) = (before.len(), after.len());
    let lost = old.checked_sub(new).filter(|lost| *lost > 0)?;
    let mut pairs = before.iter().zip(&after);
    // Lines that a person deletes on purpose with an edit, not by sending the file without them.
    let long_tail = 8;
    let is_cut_off = lost >= long_tail && pairs.all(|(old, new)| old.1 == new.1);
    // Files of fewer lines are rewritten as a whole.
    let most = old >= 5 && lost * 2 >= old;
    let is_fragment = new == 0 || most || lost >= long_tail && lost * 10 >= old * 3;
    (is_cut_off || is_fragment).then_some((old, new))
}

/// Returns the functions and classes that are left out, unless the file brings as many new ones: those may be
/// the old ones under other names.
fn lost_definitions(
    path: &str,
    before: &FileState,
    after: &FileState,
    slots: &BTreeMap<String, FileChange>,
) -> Vec<String> {
    let (old, new) = (names_in(path, before, true), names_in(path, after, false));
    let gained = new.iter().filter(|name| !old.contains(name)).count();
    let mut lost = old;
    lost.retain(|name| !new.contains(name));
    if lost.len() <= gained {
        return Vec::new();
    }
    let others = slots.iter().filter(|(other, _)| *other != path);
    let gained_by_others = others.flat_map(|(other, slot)| {
        let [before, mut after] = [&slot.before, &slot.after].map(|state| {
            let names = state.as_ref().map(|state| names_in(other, state, false));
            names.unwrap_or_default()
        });
        after.retain(|name| !before.contains(name));
        after
    });
    let taken: HashSet<String> = gained_by_others.collect();
    lost.retain(|name| !taken.contains(name));
    lost
}

/// Returns the names of the functions, classes and methods of a file, or of those of several lines.
fn names_in(path: &str, state: &FileState, long: bool) -> Vec<String> {
    let Ok(path) = RepoPath::new(path) else {
        return Vec::new();
    };
    let all = outline(&path, &state.bytes).definitions;
    // What a function defines inside is its own affair.
    let members = all.iter().filter(|definition| {
        let is_long = definition.lines[1] > definition.lines[0];
        let outer = definition.parent.map(|parent| all.get(parent));
        (is_long || !long)
            && outer.is_none_or(|outer| outer.is_some_and(|outer| outer.parent.is_none()))
    });
    members.map(|definition| definition.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::find_shrinkage;

    #[test]
    fn whole_file_keeps_elided_rest() {
        let lines = |range: std::ops::Range<u32>| -> Vec<u8> {
            let lines: Vec<String> = range.map(|line| format!("line {line}\n")).collect();
            lines.concat().into_bytes()
        };
        let old = lines(0..40);
        for (new, refused) in [
            (lines(0..40), false),
            (lines(0..38), false),
            (lines(3..40), false),
            (lines(0..30), true),
            (lines(10..20), true),
            (Vec::new(), true),
            ([lines(0..39), lines(50..60)].concat(), false),
        ] {
            let text = String::from_utf8(new.clone()).unwrap();
            assert_eq!(find_shrinkage(&old, &new).is_some(), refused, "{text}");
        }
        assert!(
            find_shrinkage(b"a\nb\nc\n", b"a\nB\n").is_none(),
            "too small to tell"
        );
    }
}
