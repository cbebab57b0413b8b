use std::collections::HashSet;

use super::elision::is_left_out;
use super::place::indent;
use crate::languages::{Definition, Outline, outline};
use crate::model::{Code, Refusal, RepoPath, refuse};

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

/// A file with the definitions of a text in the place of its own ones of the same names, where the text
/// shows nothing else, or says by a placeholder what it leaves out. `None` for a text that is not so.
///
/// # Errors
/// [`Code::P312`] for what has no place, or several.
pub(super) fn by_name(
    path: &RepoPath,
    before: &[u8],
    text: &[u8],
) -> Option<Result<Vec<u8>, Refusal>> {
    let text = dedented(text);
    let (old, new) = (Parts::of(path, before), Parts::of(path, &text));
    if new.outline.definitions.is_empty() || old.outline.definitions.is_empty() {
        return None;
    }
    let elided = new.rows.iter().any(|row| is_left_out(row));
    if !elided {
        let alone = |row: &usize| new.rows.get(*row).is_some_and(|it| is_blank(it));
        let mut outside = new.outside();
        let few = new.members().len() * 2 <= old.members().len();
        if !few || !outside.all(|row| alone(&row)) || left_out(path, before, &text).is_empty() {
            return None;
        }
    }
    Some(Merge::of(&old, &new).map(|merge| merge.made(&old, &new)))
}

// A text by its rows and definitions.
struct Parts<'t> {
    outline: Outline,
    rows: Vec<&'t [u8]>,
    // The last row has a line feed.
    ended: bool,
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
            ended: text.ends_with(b"\n"),
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
        let rows = from.saturating_sub(1) as usize..(to as usize).min(self.rows.len());
        // A comment that says what is left out is none of what follows.
        let comments = rows.clone().take_while(|at| is_comment(self.row(*at)));
        let placeholder = comments.filter(|at| is_left_out(self.row(*at))).last();
        placeholder.map_or(rows.start, |at| at + 1)..rows.end
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

    fn children(&self, of: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        let all = 0..self.outline.definitions.len();
        all.filter(move |at| self.parent(*at) == of)
    }

    // The rows of a definition that are in none inside it.
    fn own_rows(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let inner: Vec<_> = self.children(Some(at)).map(|it| self.rows_of(it)).collect();
        self.rows_of(at)
            .filter(move |row| !inner.iter().any(|it| it.contains(row)))
    }

    fn outside(&self) -> impl Iterator<Item = usize> + '_ {
        let inner: Vec<_> = self.children(None).map(|it| self.rows_of(it)).collect();
        (0..self.rows.len()).filter(move |row| !inner.iter().any(|it| it.contains(row)))
    }
}

// Definitions of a new text, each with the one of the old that it stands for.
struct Merge {
    pairs: Vec<(usize, usize)>,
}

impl Merge {
    fn of(old: &Parts<'_>, new: &Parts<'_>) -> Result<Self, Refusal> {
        let mut merge = Self { pairs: Vec::new() };
        for row in new.outside() {
            accounted(old, new, row)?;
        }
        for at in new.children(None) {
            merge.take(old, new, at)?;
        }
        merge.pairs.sort_by_key(|(at, _)| old.rows_of(*at).start);
        let ranges: Vec<_> = merge.pairs.iter().map(|it| old.rows_of(it.0)).collect();
        if ranges
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.end > b.start))
        {
            return refuse(Code::P312, "two definitions are for one place");
        }
        Ok(merge)
    }

    fn take(&mut self, old: &Parts<'_>, new: &Parts<'_>, at: usize) -> Result<(), Refusal> {
        let is_open = new.own_rows(at).any(|it| is_left_out(new.row(it)));
        if is_open {
            if new.children(Some(at)).next().is_none() {
                let message = format!(
                    "`{}` leaves out lines of its own, and nothing says which",
                    new.name(at)
                );
                return refuse(Code::P312, message);
            }
            for own in new.own_rows(at) {
                accounted(old, new, own)?;
            }
            let inner: Vec<usize> = new.children(Some(at)).collect();
            return inner.into_iter().try_for_each(|it| self.take(old, new, it));
        }
        let site = site(old, new, at)?;
        let (head, new_head) = (old.head_row(site), new.head_row(at));
        let marks: [&[u8]; 2] = [b"@", b"export"];
        let starts = |row: &[u8], mark: &[u8]| row.trim_ascii_start().starts_with(mark);
        if (marks.iter()).any(|it| starts(head, it) && !starts(new_head, it)) {
            let message = format!(
                "`{}` would lose `{}`; send it, too",
                new.name(at),
                String::from_utf8_lossy(head.trim_ascii())
            );
            return refuse(Code::P312, message);
        }
        self.pairs.push((site, at));
        Ok(())
    }

    fn made(&self, old: &Parts<'_>, new: &Parts<'_>) -> Vec<u8> {
        let mut rows: Vec<Vec<u8>> = Vec::with_capacity(old.rows.len());
        let kept = |rows: std::ops::Range<usize>| {
            let rows = old.rows.get(rows).unwrap_or_default();
            rows.iter().map(|it| it.to_vec())
        };
        let mut from = 0;
        for (site, at) in &self.pairs {
            let (there, here) = (old.rows_of(*site), new.rows_of(*at));
            // Who leaves the comment above out means the definition.
            let whole = new.head(*at) > here.start;
            let to = if whole { there.start } else { old.head(*site) };
            rows.extend(kept(from..to));
            from = there.end;
            let (before, after) = (indent(old.head_row(*site)), indent(new.head_row(*at)));
            let shown = new.rows.get(here).unwrap_or_default();
            rows.extend(shown.iter().map(|row| match row.strip_prefix(after) {
                Some(rest) if !is_blank(row) => [before, rest].concat(),
                _ => row.to_vec(),
            }));
        }
        rows.extend(kept(from..old.rows.len()));
        if old.ended {
            rows.push(Vec::new());
        }
        rows.join(&b'\n')
    }
}

// The one definition of the old text that goes by this name.
fn site(old: &Parts<'_>, new: &Parts<'_>, at: usize) -> Result<usize, Refusal> {
    let (full, name) = (new.full_name(at), new.name(at));
    let all = || 0..old.outline.definitions.len();
    let mut found: Vec<usize> = all().filter(|it| old.full_name(*it) == full).collect();
    if found.is_empty() && new.parent(at).is_none() {
        found = all().filter(|it| old.name(*it) == name).collect();
    }
    match found.as_slice() {
        [one] => Ok(*one),
        [] => refuse(
            Code::P312,
            format!("the file has no `{full}`, and nothing says where a new one goes"),
        ),
        _ => refuse(
            Code::P312,
            format!("the file has several of the name `{full}`"),
        ),
    }
}

// What stands around the definitions is there as it is, or says that something is left out.
fn accounted(old: &Parts<'_>, new: &Parts<'_>, row: usize) -> Result<(), Refusal> {
    let row = new.rows.get(row).copied().unwrap_or_default().trim_ascii();
    let there = || old.rows.iter().any(|it| it.trim_ascii() == row);
    if row.is_empty() || is_left_out(row) || there() {
        return Ok(());
    }
    let row = String::from_utf8_lossy(row);
    let message = format!("beside what is left out, nothing says where `{row}` goes");
    refuse(Code::P312, message)
}

fn is_blank(row: &[u8]) -> bool {
    row.trim_ascii().is_empty()
}

fn is_comment(row: &[u8]) -> bool {
    let row = row.trim_ascii_start();
    let marks: [&[u8]; 4] = [b"#", b"//", b"/*", b"*"];
    marks.iter().any(|mark| row.starts_with(mark))
}

// Without the indent that all rows share.
fn dedented(text: &[u8]) -> Vec<u8> {
    let rows = || text.split(|byte| *byte == b'\n');
    let first = rows().find(|row| !is_blank(row)).map_or(&[][..], indent);
    let shared = !first.is_empty() && rows().all(|row| is_blank(row) || row.starts_with(first));
    if !shared {
        return text.to_vec();
    }
    let rows: Vec<&[u8]> = rows()
        .map(|row| row.strip_prefix(first).unwrap_or(row))
        .collect();
    rows.join(&b'\n')
}
