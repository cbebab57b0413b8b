use std::collections::HashSet;

use crate::languages::{Definition, Outline, outline};
use crate::model::RepoPath;

/// Names of functions, classes and their methods of a file that a new text of all of it neither has
/// nor puts another in the place of.
pub(super) fn left_out(path: &RepoPath, before: &[u8], after: &[u8]) -> Vec<String> {
    let (old, new) = (Parts::of(path, before), Parts::of(path, after));
    let (old_members, new_members) = (old.members(), new.members());
    let gone = |at: usize| {
        let name = old.name(at);
        let count = |parts: &Parts<'_>| {
            let all = parts.outline.definitions.iter();
            all.filter(|it| it.name == name).count()
        };
        count(&new) < count(&old)
    };
    let old_names: HashSet<String> = old_members.iter().map(|at| old.full_name(*at)).collect();
    let new_names: HashSet<String> = new_members.iter().map(|at| new.full_name(*at)).collect();
    let mut come: Vec<Neighbours> = (0..new_members.len())
        .filter_map(|at| new.neighbours(&new_members, at, &old_names))
        .collect();
    let mut lost = Vec::new();
    for (index, at) in old_members.iter().enumerate() {
        let Some(around) = old.neighbours(&old_members, index, &new_names) else {
            continue;
        };
        let with_parent = old.parent(*at).is_some_and(gone);
        if !gone(*at) || with_parent {
            continue;
        }
        // One that is renamed or written anew stands where the old one stood.
        match come.iter().position(|it| it.shares(&around)) {
            Some(other) => drop(come.remove(other)),
            None => lost.push(old.full_name(*at)),
        }
    }
    lost
}

/// The names that a text defines.
pub(super) fn names(path: &RepoPath, text: &[u8]) -> HashSet<String> {
    let definitions = outline(path, text).definitions.into_iter();
    definitions.map(|it| it.name).collect()
}

// A text by its rows and definitions.
struct Parts<'t> {
    outline: Outline,
    rows: Vec<&'t [u8]>,
}

// What stands beside a definition on either side that the other text has too, within the same class.
struct Neighbours {
    class: Option<String>,
    above: Option<String>,
    below: Option<String>,
}

impl Neighbours {
    fn shares(&self, other: &Self) -> bool {
        self.class == other.class && (self.above == other.above || self.below == other.below)
    }
}

impl<'t> Parts<'t> {
    fn of(path: &RepoPath, text: &'t [u8]) -> Self {
        Self {
            outline: outline(path, text),
            rows: text
                .strip_suffix(b"\n")
                .unwrap_or(text)
                .split(|byte| *byte == b'\n')
                .collect(),
        }
    }

    fn get(&self, at: usize) -> Option<&Definition> {
        self.outline.definitions.get(at)
    }

    fn name(&self, at: usize) -> &str {
        self.get(at).map_or("", |it| &it.name)
    }

    fn parent(&self, at: usize) -> Option<usize> {
        self.get(at)?.parent
    }

    fn full_name(&self, at: usize) -> String {
        match self.parent(at) {
            Some(parent) => format!("{}.{}", self.full_name(parent), self.name(at)),
            None => self.name(at).to_owned(),
        }
    }

    // The rows of a definition, counted from 0.
    fn rows_of(&self, at: usize) -> std::ops::Range<usize> {
        let [from, to] = self.get(at).map_or([1, 0], |it| it.lines);
        from.saturating_sub(1) as usize..(to as usize).min(self.rows.len())
    }

    // The first row that is no comment.
    fn head(&self, at: usize) -> usize {
        let mut rows = self.rows_of(at);
        let start = rows.start;
        rows.find(|it| !is_comment(self.row(*it))).unwrap_or(start)
    }

    fn head_row(&self, at: usize) -> &'t [u8] {
        self.row(self.head(at))
    }

    fn row(&self, at: usize) -> &'t [u8] {
        self.rows.get(at).copied().unwrap_or_default()
    }

    fn is_class(&self, at: usize) -> bool {
        let end = self.get(at).map_or(0, |it| it.signature_end as usize);
        let head = self.rows.get(self.head(at)..end).unwrap_or_default();
        let mut words = head.iter().flat_map(|it| it.split(|byte| *byte == b' '));
        words.any(|word| word == b"class")
    }

    // Functions and classes, and the methods of these: what has a body.
    fn members(&self) -> Vec<usize> {
        let has_body = |at: usize| {
            let head = self.head_row(at).trim_ascii_start();
            let heads: [&[u8]; 4] = [b"def ", b"async def ", b"class ", b"@"];
            self.rows_of(at).end > self.head(at) + 1 || heads.iter().any(|it| head.starts_with(it))
        };
        let outer = |at: usize| match self.parent(at) {
            None => true,
            Some(parent) => self.parent(parent).is_none() && self.is_class(parent),
        };
        let all = 0..self.outline.definitions.len();
        all.filter(|at| outer(*at) && has_body(*at)).collect()
    }

    // `None` for one that the other text has too.
    fn neighbours(
        &self,
        members: &[usize],
        index: usize,
        kept: &HashSet<String>,
    ) -> Option<Neighbours> {
        let at = *members.get(index)?;
        if kept.contains(&self.full_name(at)) {
            return None;
        }
        let parent = self.parent(at);
        let stays = |other: &&usize| {
            self.parent(**other) == parent && kept.contains(&self.full_name(**other))
        };
        let (above, below) = members.split_at_checked(index)?;
        Some(Neighbours {
            class: parent.map(|it| self.full_name(it)),
            above: above.iter().rev().find(stays).map(|it| self.full_name(*it)),
            below: below.iter().find(stays).map(|it| self.full_name(*it)),
        })
    }
}

fn is_comment(row: &[u8]) -> bool {
    let row = row.trim_ascii_start();
    let marks: [&[u8]; 4] = [b"#", b"//", b"/*", b"*"];
    marks.iter().any(|mark| row.starts_with(mark))
}
