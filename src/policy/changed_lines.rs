//! The lines that a change removes and adds.

use std::collections::HashMap;

/// A line of one side that the other has not, white space at both ends aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChangedLine<'t> {
    /// 1-based.
    pub(super) number: usize,
    pub(super) text: &'t [u8],
}

/// Returns the lines that are in one side only, as a multiset: a line that moves is in neither.
pub(super) fn changed_lines<'t>(
    before: &'t [u8],
    after: &'t [u8],
) -> (Vec<ChangedLine<'t>>, Vec<ChangedLine<'t>>) {
    let (old, new) = (split_lines(before), split_lines(after));
    let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - head;
    let ends = old.iter().rev().zip(new.iter().rev()).take(rest);
    let tail = ends.take_while(|(one, other)| one == other).count();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    (
        missing_lines(&old, head..old_end, &new[head..new_end]),
        missing_lines(&new, head..new_end, &old[head..old_end]),
    )
}

pub(super) fn split_lines(text: &[u8]) -> Vec<&[u8]> {
    text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect()
}

fn missing_lines<'t>(
    lines: &[&'t [u8]],
    range: std::ops::Range<usize>,
    other: &[&'t [u8]],
) -> Vec<ChangedLine<'t>> {
    let mut left: HashMap<&[u8], usize> = HashMap::new();
    for line in other {
        *left.entry(line).or_default() += 1;
    }
    let mut found = Vec::new();
    for at in range {
        let text = lines[at];
        match left.get_mut(text).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => found.push(ChangedLine {
                number: at + 1,
                text,
            }),
        }
    }
    found
}
