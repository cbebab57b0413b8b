use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rayon::prelude::*;

use crate::git::changed_lines;
use crate::model::RepoPath;
use crate::patch::FileState;
use crate::source::{EntryKind, Source};

/// Files with the content they are to have; `None` for one that is to be gone.
pub type States = BTreeMap<RepoPath, Option<FileState>>;

/// Larger files are compared as a whole.
const MAX_LINE_BYTES: usize = 2 << 20;

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
    /// Its file.
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
}

#[derive(Debug, Clone)]
struct FileDifference {
    path: RepoPath,
    before: Option<FileState>,
    after: Option<FileState>,
}

impl Difference {
    /// Compares the files that `may` allows; links and submodules are left out.
    #[must_use]
    pub fn between(
        before: &dyn Source,
        after: &dyn Source,
        may: &(dyn Fn(&RepoPath) -> bool + Sync),
    ) -> Self {
        let files = changed_files(before, after, may);
        let hunks = files.iter().enumerate();
        let hunks = hunks.flat_map(|(at, file)| file.file_hunks(at)).collect();
        Self { files, hunks }
    }

    /// The hunks, by path and line.
    #[must_use]
    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// The files of these hunks as they are with the hunks reverted.
    #[must_use]
    pub fn reverted(&self, set: &BTreeSet<usize>) -> States {
        let mut states = States::new();
        for (at, file) in self.files.iter().enumerate() {
            let hunks = set.iter().filter_map(|index| self.hunks.get(*index));
            let hunks: Vec<&Hunk> = hunks.filter(|hunk| hunk.file == at).collect();
            if hunks.is_empty() {
                continue;
            }
            states.insert(file.path.clone(), file.without_hunks(&hunks));
        }
        states
    }

    /// All files that differ, as they were before.
    #[must_use]
    pub fn before(&self) -> States {
        self.reverted(&(0..self.hunks.len()).collect())
    }

    /// The lines of a hunk as a diff without a heading, at most `most` of them.
    #[must_use]
    pub fn diff(&self, hunk: &Hunk, most: usize) -> String {
        let Some(file) = self.files.get(hunk.file) else {
            return String::new();
        };
        let (old, new) = match &hunk.what {
            What::Lines(old, new) => (old.clone(), new.clone()),
            What::File => (0..usize::MAX, 0..usize::MAX),
        };
        if let (What::File, Some(before), Some(after)) = (&hunk.what, &file.before, &file.after)
            && before.bytes == after.bytes
        {
            return format!("-mode {:o}\n+mode {:o}\n", before.mode, after.mode);
        }
        let side = |side: &Option<FileState>, range: Range<usize>, mark: char| {
            let lines = side.iter().flat_map(lines_of);
            let lines = lines.skip(range.start).take(range.len().min(most + 1));
            lines
                .map(|line| format!("{mark}{}\n", String::from_utf8_lossy(line).trim_end()))
                .collect::<Vec<_>>()
        };
        let mut lines = side(&file.before, old, '-');
        lines.extend(side(&file.after, new, '+'));
        if lines.len() > most {
            lines.truncate(most);
            lines.push("…\n".to_owned());
        }
        lines.concat()
    }

    /// The content after of a hunk's file.
    #[must_use]
    pub fn after(&self, hunk: &Hunk) -> Option<&FileState> {
        self.files.get(hunk.file)?.after.as_ref()
    }
}

impl Hunk {
    /// The 1-based line after; `None` for a whole file.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        match &self.what {
            What::Lines(_, after) => u32::try_from(after.start + 1).ok(),
            _ => None,
        }
    }

    /// `path:line`, or the path.
    #[must_use]
    pub fn place(&self) -> String {
        match self.line() {
            Some(line) => format!("{}:{line}", self.path),
            None => self.path.to_string(),
        }
    }
}

impl FileDifference {
    fn file_hunks(&self, file: usize) -> Vec<Hunk> {
        let hunk = |what| Hunk {
            file,
            path: self.path.clone(),
            what,
        };
        match (&self.before, &self.after) {
            (Some(before), Some(after))
                if before.bytes != after.bytes && has_lines(before) && has_lines(after) =>
            {
                let lines = changed_lines(&before.bytes, &after.bytes).into_iter();
                lines
                    .map(|(old, new)| hunk(What::Lines(old, new)))
                    .collect()
            }
            _ => vec![hunk(What::File)],
        }
    }

    // The file with some of its hunks reverted; `None` where it is then gone.
    fn without_hunks(&self, hunks: &[&Hunk]) -> Option<FileState> {
        let (Some(before), Some(after)) = (&self.before, &self.after) else {
            return self.before.clone();
        };
        if hunks.iter().any(|hunk| hunk.what == What::File) {
            return self.before.clone();
        }
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
        Some(FileState {
            bytes: bytes.into(),
            ..after.clone()
        })
    }
}

fn lines_of(state: &FileState) -> impl Iterator<Item = &[u8]> {
    state.bytes.split_inclusive(|byte| *byte == b'\n')
}

fn has_lines(state: &FileState) -> bool {
    state.bytes.len() <= MAX_LINE_BYTES && !state.bytes.contains(&0)
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
    let compare = |path: &&RepoPath| {
        let [old_kind, new_kind] = sources.map(|source| {
            let entry = source.listing().get(path.as_str());
            entry.map(|entry| &entry.kind)
        });
        let [old_id, new_id] = sources.map(|source| source.blob_id(path));
        if old_kind == new_kind && old_id.is_some() && old_id == new_id {
            return None;
        }
        let read = |source: &dyn Source, kind: Option<&EntryKind>| {
            let is_file = matches!(kind, Some(EntryKind::File { .. }));
            is_file.then(|| FileState::read(source, path))
        };
        let (old, new) = (read(before, old_kind), read(after, new_kind));
        // A file that cannot be read is left as it is.
        if old == Some(None) || new == Some(None) || old == new {
            return None;
        }
        Some(FileDifference {
            path: (*path).clone(),
            before: old.flatten(),
            after: new.flatten(),
        })
    };
    paths.par_iter().filter_map(compare).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Difference, What};
    use crate::source::Memory;

    fn texts(difference: &Difference, set: &[usize]) -> Vec<(String, Option<String>)> {
        let states = difference.reverted(&set.iter().copied().collect::<BTreeSet<_>>());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let rows = states.into_iter();
        rows.map(|(path, state)| (path.to_string(), state.map(|state| text(&state.bytes))))
            .collect()
    }

    fn row(path: &str, text: Option<&str>) -> (String, Option<String>) {
        (path.to_owned(), text.map(str::to_owned))
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
    fn reverts_binary_file_whole() {
        let before = Memory::named([("a.bin", "\0\n1")]);
        let after = Memory::named([("a.bin", "\0\n2")]);
        let difference = Difference::between(&before, &after, &|_| true);
        assert_eq!(difference.hunks()[0].what, What::File);
        assert_eq!(texts(&difference, &[0]), [row("a.bin", Some("\0\n1"))]);
    }
}
