//! The difference between two states as hunks that can be reverted one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::git::changed_lines;
use crate::model::RepoPath;
use crate::parallel;
use crate::patch::{Change, FileState};
use crate::source::{EntryKind, Source};

/// Files with the content they are to have; `None` for one that is to be gone.
pub type States = BTreeMap<RepoPath, Option<FileState>>;

/// The changes that bring files of a source into these states.
pub fn changes_to(states: States, source: &dyn Source) -> Vec<Change> {
    let changes = states.into_iter().map(|(path, state)| {
        let now = FileState::read(source, &path);
        Change::between(path, now, state)
    });
    changes.collect()
}

/// The difference between two states of a repository, in hunks that can be reverted one by one.
#[derive(Debug, Default)]
pub struct Difference {
    files: Vec<FileDifference>,
    hunks: Vec<Hunk>,
}

/// One place that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    // Index of its file.
    file: usize,
    /// The file after; of a deleted one, before.
    pub path: RepoPath,
    /// What differs.
    pub what: What,
}

/// What of a file differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Lines before and after, counted from 0.
    Lines(Range<usize>, Range<usize>),
    /// The whole file: it is new, deleted, binary, or its mode changed.
    File,
    /// Its path.
    Moved(RepoPath),
}

type Side = Option<(RepoPath, FileState)>;

#[derive(Debug, Clone)]
struct FileDifference {
    before: Side,
    after: Side,
}

impl Difference {
    /// Compares the files that `may` allows; links and submodules are left out.
    pub fn between(
        before: &dyn Source,
        after: &dyn Source,
        may: &(dyn Fn(&RepoPath) -> bool + Sync),
    ) -> Self {
        let mut files = changed_files(before, after, may);
        pair_moves(&mut files);
        let hunks = files.iter().enumerate().flat_map(|(at, file)| file.file_hunks(at)).collect();
        Self { files, hunks }
    }

    /// The hunks, by path and line.
    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// The files of these hunks as they are with the hunks reverted.
    pub fn reverted(&self, set: &BTreeSet<usize>) -> States {
        let mut states = States::new();
        for (at, file) in self.files.iter().enumerate() {
            let hunks = set.iter().filter_map(|index| self.hunks.get(*index));
            let hunks: Vec<&Hunk> = hunks.filter(|hunk| hunk.file == at).collect();
            if hunks.is_empty() {
                continue;
            }
            let paths = file.before.iter().chain(&file.after);
            states.extend(paths.map(|(path, _)| (path.clone(), None)));
            let kept = file.without_hunks(&hunks);
            states.extend(kept.map(|(path, state)| (path, Some(state))));
        }
        states
    }

    /// All files that differ, as they were before.
    pub fn before(&self) -> States {
        self.reverted(&(0..self.hunks.len()).collect())
    }

    /// The lines of a hunk as a diff without a heading, at most `most` of them.
    pub fn diff(&self, hunk: &Hunk, most: usize) -> String {
        let Some(file) = self.files.get(hunk.file) else {
            return String::new();
        };
        let (old, new) = match &hunk.what {
            What::Lines(old, new) => (old.clone(), new.clone()),
            What::File => (0..usize::MAX, 0..usize::MAX),
            What::Moved(from) => return format!("renamed from {from}\n"),
        };
        if let (What::File, Some((_, before)), Some((_, after))) =
            (&hunk.what, &file.before, &file.after)
            && before.bytes == after.bytes
        {
            return format!("-mode {:o}\n+mode {:o}\n", before.mode, after.mode);
        }
        let mut lines = diff_side(&file.before, old, '-', most);
        lines.extend(diff_side(&file.after, new, '+', most));
        if lines.len() > most {
            lines.truncate(most);
            lines.push("…\n".to_owned());
        }
        lines.concat()
    }

    /// The lines that a hunk removes and those that it adds.
    pub fn sides(&self, hunk: &Hunk) -> (Vec<String>, Vec<String>) {
        // Larger hunks are not compared line by line, to avoid quadratic work.
        let text = self.diff(hunk, 80);
        (marked_lines('-', &text), marked_lines('+', &text))
    }

    /// The words of a hunk that took the place of others: pairs of the old and the new one.
    pub fn exchanged_words(&self, hunk: &Hunk) -> BTreeSet<(String, String)> {
        let (gone, come) = self.sides(hunk);
        let pairs = come.iter().flat_map(|new| gone.iter().map(move |old| (old, new)));
        let words = pairs.filter_map(|(old, new)| exchanged_word(old, new));
        words.map(|(old, new)| (old.to_owned(), new.to_owned())).collect()
    }

    /// The content after of a hunk's file.
    pub fn after(&self, hunk: &Hunk) -> Option<&FileState> {
        self.files.get(hunk.file)?.after.as_ref().map(|(_, state)| state)
    }
}

fn marked_lines(mark: char, text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(mark));
    lines.map(str::to_owned).collect()
}

fn diff_side(side: &Side, range: Range<usize>, mark: char, most: usize) -> Vec<String> {
    let lines = side.iter().flat_map(|(_, state)| lines_of(state));
    let lines = lines.skip(range.start).take(range.len().min(most + 1));
    lines
        .map(|line| format!("{mark}{}\n", String::from_utf8_lossy(line).trim_end()))
        .collect::<Vec<_>>()
}

impl Hunk {
    /// The 1-based line after; `None` for a whole file.
    pub fn line(&self) -> Option<u32> {
        match &self.what {
            What::Lines(_, after) => u32::try_from(after.start + 1).ok(),
            _ => None,
        }
    }

    /// `path:line`, or the path.
    pub fn place(&self) -> String {
        match self.line() {
            Some(line) => format!("{}:{line}", self.path),
            None => self.path.to_string(),
        }
    }
}

impl FileDifference {
    fn file_hunks(&self, file: usize) -> Vec<Hunk> {
        let Some((path, after)) = self.after.as_ref().or(self.before.as_ref()) else {
            return Vec::new();
        };
        let hunk = |what| Hunk {
            file,
            path: path.clone(),
            what,
        };
        let (Some((from, before)), true) = (&self.before, self.after.is_some()) else {
            return vec![hunk(What::File)];
        };
        let mut found = Vec::new();
        if from != path {
            found.push(hunk(What::Moved(from.clone())));
        }
        if before.bytes != after.bytes && has_lines(before) && has_lines(after) {
            let lines = changed_lines(&before.bytes, &after.bytes).into_iter();
            found.extend(lines.map(|(old, new)| hunk(What::Lines(old, new))));
        } else if before.bytes != after.bytes || from == path {
            found.push(hunk(What::File));
        }
        found
    }

    // The file with some of its hunks reverted; `None` where it is then gone.
    fn without_hunks(&self, hunks: &[&Hunk]) -> Side {
        let (Some((from, before)), Some((path, after))) = (&self.before, &self.after) else {
            return self.before.clone();
        };
        if hunks.iter().any(|hunk| hunk.what == What::File) {
            return self.before.clone();
        }
        let is_moved = hunks.iter().any(|hunk| matches!(hunk.what, What::Moved(_)));
        let (old_lines, new_lines): (Vec<&[u8]>, Vec<&[u8]>) =
            (lines_of(before).collect(), lines_of(after).collect());
        let mut bytes: Vec<u8> = Vec::new();
        let mut at = 0;
        for hunk in hunks {
            if let What::Lines(old, new) = &hunk.what {
                bytes.extend(new_lines.get(at..new.start).unwrap_or_default().concat());
                bytes.extend(old_lines.get(old.clone()).unwrap_or_default().concat());
                at = new.end;
            }
        }
        bytes.extend(new_lines.get(at..).unwrap_or_default().concat());
        let state = FileState {
            bytes: bytes.into(),
            ..after.clone()
        };
        Some((if is_moved { from } else { path }.clone(), state))
    }
}

fn lines_of(state: &FileState) -> impl Iterator<Item = &[u8]> {
    state.bytes.split_inclusive(|byte| *byte == b'\n')
}

fn has_lines(state: &FileState) -> bool {
    // Larger files are compared as a whole.
    state.bytes.len() <= 2 << 20 && !state.bytes.contains(&0)
}

// The first words in which two lines differ, when the same is before and behind them. A signature may have changed
// after its name.
fn exchanged_word<'l>(old: &'l str, new: &'l str) -> Option<(&'l str, &'l str)> {
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let head = old.as_bytes().get(..same)?;
    let start = same - head.iter().rev().take_while(|byte| is_word(**byte)).count();
    let [old, new] = [old, new].map(|line| {
        let tail = line.get(start..)?;
        let end = tail.bytes().position(|byte| !is_word(byte));
        Some(tail.split_at(end.unwrap_or(tail.len())))
    });
    let ((old, old_tail), (new, new_tail)) = (old?, new?);
    let is_exchange = !old.is_empty() && !new.is_empty() && old != new;
    (is_exchange && old_tail.bytes().next() == new_tail.bytes().next()).then_some((old, new))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn changed_files(
    before: &dyn Source,
    after: &dyn Source,
    may: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> Vec<FileDifference> {
    let sources = [before, after];
    let listed = sources.iter().flat_map(|source| source.listing().files());
    let paths: BTreeSet<&RepoPath> = listed.map(|entry| &entry.path).collect();
    let paths: Vec<&RepoPath> = paths.into_iter().filter(|path| may(path)).collect();
    let changed = parallel::map(paths, |path| {
        let [old_kind, new_kind] = sources.map(|source| {
            let entry = source.listing().get(path.as_str());
            entry.map(|entry| &entry.kind)
        });
        let [old_id, new_id] = sources.map(|source| source.blob_id(path));
        if old_kind == new_kind && old_id.is_some() && old_id == new_id {
            return None;
        }
        let [old, new] = [(before, old_kind), (after, new_kind)].map(|(source, kind)| {
            let is_file = matches!(kind, Some(EntryKind::File { .. }));
            is_file.then(|| FileState::read(source, path))
        });
        // A file that cannot be read is left as it is.
        if old == Some(None) || new == Some(None) || old == new {
            return None;
        }
        let [before, after] = [old, new].map(|state| Some((path.clone(), state.flatten()?)));
        Some(FileDifference { before, after })
    });
    changed.into_iter().flatten().collect()
}

// Joins a deleted file and a new one with half of its lines: the file moved.
fn pair_moves(files: &mut Vec<FileDifference>) {
    let deleted: Vec<usize> = file_indices(files, |file| file.after.is_none());
    let new: Vec<usize> = file_indices(files, |file| file.before.is_none());
    // More files are not searched for moves, because they are compared pair by pair.
    if deleted.len().max(new.len()) > 100 {
        return;
    }
    for new in new {
        let best = deleted
            .iter()
            .map(|old| (file_similarity(&files[*old], &files[new]), *old))
            .max();
        // Percent of shared lines from which a new file is a deleted one that moved, as in git.
        if let Some((_, old)) = best.filter(|(most, _)| *most >= 50) {
            files[new].before = files[old].before.take();
        }
    }
    files.retain(|file| file.before.is_some() || file.after.is_some());
}

fn file_indices(files: &[FileDifference], is_one: impl Fn(&FileDifference) -> bool) -> Vec<usize> {
    let found = files.iter().enumerate().filter(|(_, file)| is_one(file));
    found.map(|(at, _)| at).collect()
}

// Percent of the lines that both have.
fn file_similarity(deleted: &FileDifference, new: &FileDifference) -> usize {
    let (Some((_, old)), Some((_, new))) = (&deleted.before, &new.after) else {
        return 0;
    };
    if !has_lines(old) || !has_lines(new) {
        return usize::from(old.bytes == new.bytes) * 100;
    }
    let [old_count, new_count] = [old, new].map(|state| lines_of(state).count());
    let changed = changed_lines(&old.bytes, &new.bytes);
    let gone: usize = changed.iter().map(|(lines, _)| lines.len()).sum();
    (old_count - gone) * 100 / old_count.max(new_count).max(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Difference, What, exchanged_word};
    use crate::source::Memory;

    fn texts(difference: &Difference, set: &[usize]) -> Vec<(String, Option<String>)> {
        let states = difference.reverted(&set.iter().copied().collect::<BTreeSet<_>>());
        let rows = states.into_iter();
        rows.map(|(path, state)| {
            let text = state.map(|state| String::from_utf8_lossy(&state.bytes).into_owned());
            (path.to_string(), text)
        })
        .collect()
    }

    fn row(path: &str, text: Option<&str>) -> (String, Option<String>) {
        (path.to_owned(), text.map(str::to_owned))
    }

    #[test]
    fn exchanged_word_has_same_surroundings() {
        for (old, new, expected) in [
            (
                "def total(rows):",
                "def add_up(rows, tax):",
                Some(("total", "add_up")),
            ),
            (
                "go(job.attempts)",
                "go(job.attemps)",
                Some(("attempts", "attemps")),
            ),
            ("import { a, b } from 'x'", "import { a } from 'x'", None),
            ("same", "same", None),
        ] {
            assert_eq!(exchanged_word(old, new), expected, "{old}");
        }
    }

    #[test]
    fn reverts_hunks_one_by_one() {
        let before = Memory::named([
            ("a.py", "1\n2\n3\n4\n5\n"),
            ("gone.py", "x\n"),
            ("same.py", "s\n"),
        ]);
        let after = Memory::named([
            ("a.py", "1\nII\n3\n4\n5\nVI"),
            ("new.py", "y\n"),
            ("same.py", "s\n"),
        ]);
        let difference = Difference::between(&before, &after, &|_| true);
        let places: Vec<String> = difference.hunks().iter().map(super::Hunk::place).collect();
        assert_eq!(places, ["a.py:2", "a.py:6", "gone.py", "new.py"]);
        assert_eq!(
            texts(&difference, &[0]),
            [row("a.py", Some("1\n2\n3\n4\n5\nVI"))]
        );
        assert_eq!(
            texts(&difference, &[1]),
            [row("a.py", Some("1\nII\n3\n4\n5\n"))]
        );
        assert_eq!(
            texts(&difference, &[0, 1, 2, 3]),
            [
                row("a.py", Some("1\n2\n3\n4\n5\n")),
                row("gone.py", Some("x\n")),
                row("new.py", None)
            ]
        );
        assert_eq!(difference.diff(&difference.hunks()[0], 9), "-2\n+II\n");
    }

    #[test]
    fn separates_move_from_changes() {
        let text = "def a():\n    return 1\n\n\ndef b():\n    return 2\n";
        let other = text.replace("return 2", "return 3");
        let before = Memory::named([("old.py", text)]);
        let after = Memory::named([("pkg/new.py", other.as_str())]);
        let difference = Difference::between(&before, &after, &|_| true);
        assert!(matches!(difference.hunks()[0].what, What::Moved(_)));
        assert_eq!(difference.hunks().len(), 2);
        let gone = row("old.py", None);
        assert_eq!(
            texts(&difference, &[1]),
            [gone, row("pkg/new.py", Some(text))]
        );
        let back = [row("old.py", Some(&other)), row("pkg/new.py", None)];
        assert_eq!(texts(&difference, &[0]), back);
    }

    #[test]
    fn reverts_binary_file_whole() {
        let before = Memory::named([("a.bin", "\0\n1")]);
        let after = Memory::named([("a.bin", "\0\n2")]);
        let difference = Difference::between(&before, &after, &|_| true);
        assert_eq!(difference.hunks()[0].what, What::File);
        assert_eq!(texts(&difference, &[0]), [row("a.bin", Some("\0\n1"))]);
    }
}
