use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rayon::prelude::*;

use crate::git::changed_lines;
use crate::model::RepoPath;
use crate::patch::FileState;
use crate::source::{EntryKind, Source};

/// Files that are compared line by line.
const MAX_BYTES: u64 = 2 << 20;
/// Files that came, beside which one that went is looked for.
const MAX_MOVES: usize = 300;

/// From which likeness on a line is another one that was changed.
const ALIKE: f64 = 0.6;
/// Pairs of lines of a hunk that are compared.
const MOST_PAIRS: usize = 2_500;

/// What differs between two states of a repository, cut into hunks that can be taken back one by one.
#[derive(Debug, Default)]
pub struct Difference {
    files: Vec<FileDifference>,
    hunks: Vec<Hunk>,
}

/// One place that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    // Of the files, in order.
    file: usize,
    /// The file after, or before where it went.
    pub path: RepoPath,
    /// What of it.
    pub what: What,
}

/// What of a file differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Lines before and after, counted from 0.
    Lines(Range<usize>, Range<usize>),
    /// The whole file: it came, it went, or it has no lines.
    File,
    /// Its path.
    Moved(RepoPath),
}

#[derive(Debug, Clone)]
struct FileDifference {
    before: Option<(RepoPath, FileState)>,
    after: Option<(RepoPath, FileState)>,
}

impl Difference {
    /// What differs between two states in files that `may` name; links and submodules stay as they are.
    #[must_use]
    pub fn between(
        before: &dyn Source,
        after: &dyn Source,
        may: &(dyn Fn(&RepoPath) -> bool + Sync),
    ) -> Self {
        let mut files = files(before, after, may);
        pair_moves(&mut files);
        let mut hunks = Vec::new();
        for (at, file) in files.iter().enumerate() {
            hunks.extend(file.hunks(at));
        }
        Self { files, hunks }
    }

    /// The hunks, by path and line.
    #[must_use]
    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// The same files with these hunks alone, cut to pairs of lines: where as many came as went in their order,
    /// else those that are alike, and what stands between them. `None` where that cuts nothing.
    #[must_use]
    pub fn finer(&self, set: &BTreeSet<usize>) -> Option<Self> {
        let mut hunks = Vec::new();
        for hunk in set.iter().filter_map(|index| self.hunks.get(*index)) {
            match &hunk.what {
                What::Lines(gone, come) if gone.len() == come.len() => {
                    let pairs = gone.clone().zip(come.clone());
                    hunks.extend(pairs.map(|(old, new)| Hunk {
                        what: What::Lines(old..old + 1, new..new + 1),
                        ..hunk.clone()
                    }));
                }
                What::Lines(gone, come) => {
                    let parts = self.alike(hunk, gone, come).into_iter();
                    hunks.extend(parts.map(|(old, new)| Hunk {
                        what: What::Lines(old, new),
                        ..hunk.clone()
                    }));
                }
                _ => hunks.push(hunk.clone()),
            }
        }
        (hunks.len() > set.len()).then_some(Self {
            files: self.files.clone(),
            hunks,
        })
    }

    // Parts of a hunk: lines that became others like them, and what went or came between.
    fn alike(
        &self,
        hunk: &Hunk,
        gone: &Range<usize>,
        come: &Range<usize>,
    ) -> Vec<(Range<usize>, Range<usize>)> {
        let lines = |state: Option<&(RepoPath, FileState)>, range: &Range<usize>| {
            let bytes = state.map_or(&[][..], |(_, state)| &state.bytes);
            let text = String::from_utf8_lossy(bytes);
            let lines = text.lines().skip(range.start).take(range.len());
            lines.map(|it| it.trim().to_owned()).collect::<Vec<_>>()
        };
        let file = self.files.get(hunk.file);
        let old = lines(file.and_then(|it| it.before.as_ref()), gone);
        let new = lines(file.and_then(|it| it.after.as_ref()), come);
        if old.len() * new.len() > MOST_PAIRS {
            return vec![(gone.clone(), come.clone())];
        }
        let (mut at, mut to) = (0, 0);
        let mut parts = Vec::new();
        for (index, line) in old.iter().enumerate() {
            let rest = new.iter().enumerate().skip(to);
            let near = rest.map(|(it, other)| (strsim::normalized_levenshtein(line, other), it));
            let near = near.filter(|it| it.0 >= ALIKE);
            let best = near.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            if let Some((_, other)) = best {
                parts.push((at..index, to..other));
                parts.push((index..index + 1, other..other + 1));
                (at, to) = (index + 1, other + 1);
            }
        }
        parts.push((at..old.len(), to..new.len()));
        parts.retain(|(old, new)| !(old.is_empty() && new.is_empty()));
        let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        let parts = parts.into_iter();
        parts
            .map(|(old, new)| (moved(old, gone.start), moved(new, come.start)))
            .collect()
    }

    /// The files as they are with some hunks taken back, those that have one of them alone; `None` for one
    /// that is gone.
    #[must_use]
    pub fn taken_back(&self, set: &BTreeSet<usize>) -> BTreeMap<RepoPath, Option<FileState>> {
        let mut states = BTreeMap::new();
        for (at, file) in self.files.iter().enumerate() {
            let of_file = set.iter().filter_map(|index| self.hunks.get(*index));
            let taken: Vec<&Hunk> = of_file.filter(|hunk| hunk.file == at).collect();
            if taken.is_empty() {
                continue;
            }
            let (path, state) = file.without(&taken);
            for (old, _) in file.before.iter().chain(&file.after) {
                states.entry(old.clone()).or_insert(None);
            }
            if let Some(path) = path {
                states.insert(path, state);
            }
        }
        states
    }

    /// All files that differ, as they were before.
    #[must_use]
    pub fn before(&self) -> BTreeMap<RepoPath, Option<FileState>> {
        self.taken_back(&(0..self.hunks.len()).collect())
    }

    /// The lines of a hunk as a diff, without a heading; at most `most` of them.
    #[must_use]
    pub fn diff(&self, hunk: &Hunk, most: usize) -> String {
        let Some(file) = self.files.get(hunk.file) else {
            return String::new();
        };
        let whole = 0..usize::MAX;
        let (gone, come) = match &hunk.what {
            What::Lines(gone, come) => (gone.clone(), come.clone()),
            What::File => (whole.clone(), whole),
            What::Moved(from) => return format!("renamed from {from}\n"),
        };
        if let (What::File, Some((_, before)), Some((_, after))) =
            (&hunk.what, &file.before, &file.after)
            && before.bytes == after.bytes
        {
            return format!("-mode {:o}\n+mode {:o}\n", before.mode, after.mode);
        }
        let side = |state: &Option<(RepoPath, FileState)>, range: Range<usize>, mark: char| {
            let bytes = state.as_ref().map_or(&[][..], |(_, state)| &state.bytes);
            let lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate();
            let lines = lines.filter(|(at, _)| range.contains(at)).take(most + 1);
            lines
                .map(|(_, line)| format!("{mark}{}\n", String::from_utf8_lossy(line).trim_end()))
                .collect::<Vec<_>>()
        };
        let mut lines = side(&file.before, gone, '-');
        lines.extend(side(&file.after, come, '+'));
        if lines.len() > most {
            lines.truncate(most);
            lines.push("…\n".to_owned());
        }
        lines.concat()
    }

    /// The lines of a hunk, those that went and those that came; 1 for a whole file or its path.
    #[must_use]
    pub fn size(&self, hunk: usize) -> usize {
        match self.hunks.get(hunk).map(|hunk| &hunk.what) {
            Some(What::Lines(gone, come)) => gone.len() + come.len(),
            _ => 1,
        }
    }

    /// The content after of a hunk's file.
    #[must_use]
    pub fn after(&self, hunk: &Hunk) -> Option<&FileState> {
        let file = self.files.get(hunk.file)?;
        file.after.as_ref().map(|(_, state)| state)
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
    fn hunks(&self, file: usize) -> Vec<Hunk> {
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
        if before.bytes != after.bytes {
            if is_lines(before) && is_lines(after) {
                let lines = changed_lines(&before.bytes, &after.bytes).into_iter();
                found.extend(lines.map(|(gone, come)| hunk(What::Lines(gone, come))));
            } else {
                found.push(hunk(What::File));
            }
        } else if from == path {
            found.push(hunk(What::File));
        }
        found
    }

    // Where the file stands and what is in it, with some of its hunks taken back.
    fn without(&self, taken: &[&Hunk]) -> (Option<RepoPath>, Option<FileState>) {
        let side = |file: &Option<(RepoPath, FileState)>| match file {
            Some((path, state)) => (Some(path.clone()), Some(state.clone())),
            None => (None, None),
        };
        let (Some((from, before)), Some((path, after))) = (&self.before, &self.after) else {
            return side(&self.before);
        };
        if taken.iter().any(|hunk| hunk.what == What::File) {
            return side(&self.before);
        }
        let moved = taken.iter().any(|hunk| matches!(hunk.what, What::Moved(_)));
        let old: Vec<&[u8]> = before.bytes.split_inclusive(|it| *it == b'\n').collect();
        let new: Vec<&[u8]> = after.bytes.split_inclusive(|it| *it == b'\n').collect();
        let mut bytes: Vec<u8> = Vec::new();
        let mut at = 0;
        for hunk in taken {
            if let What::Lines(gone, come) = &hunk.what {
                bytes.extend(new.get(at..come.start).unwrap_or_default().concat());
                bytes.extend(old.get(gone.clone()).unwrap_or_default().concat());
                at = come.end;
            }
        }
        bytes.extend(new.get(at..).unwrap_or_default().concat());
        let state = FileState {
            bytes: bytes.into(),
            ..after.clone()
        };
        let path = if moved { from } else { path };
        (Some(path.clone()), Some(state))
    }
}

fn is_lines(state: &FileState) -> bool {
    state.bytes.len() as u64 <= MAX_BYTES && !state.bytes.contains(&0)
}

fn files(
    before: &dyn Source,
    after: &dyn Source,
    may: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> Vec<FileDifference> {
    let is_file = |source: &dyn Source, path: &RepoPath| {
        let entry = source.listing().get(path.as_str());
        entry.is_some_and(|it| matches!(it.kind, EntryKind::File { .. }))
    };
    let mut paths: BTreeSet<&RepoPath> = BTreeSet::new();
    for source in [before, after] {
        paths.extend(source.listing().files().map(|entry| &entry.path));
    }
    let paths: Vec<&RepoPath> = paths.into_iter().filter(|path| may(path)).collect();
    let differs = |path: &&RepoPath| {
        let state =
            |source: &dyn Source| is_file(source, path).then(|| FileState::of(source, path));
        let ids = (before.blob_id(path), after.blob_id(path));
        let same_id = ids.0.is_some() && ids.0 == ids.1;
        let kinds = [before, after].map(|it| it.listing().get(path.as_str()).map(|it| &it.kind));
        if same_id && kinds[0] == kinds[1] {
            return None;
        }
        let (old, new) = (state(before), state(after));
        // What is there and cannot be read is left as it is.
        if old == Some(None) || new == Some(None) || old == new {
            return None;
        }
        let with_path = |state: Option<Option<FileState>>| {
            let state = state.flatten()?;
            Some(((*path).clone(), state))
        };
        Some(FileDifference {
            before: with_path(old),
            after: with_path(new),
        })
    };
    paths.par_iter().filter_map(differs).collect()
}

// A file that went and one that came with half of its lines are one that moved.
fn pair_moves(files: &mut Vec<FileDifference>) {
    let went: Vec<usize> = at(files, |file| file.after.is_none());
    let came: Vec<usize> = at(files, |file| file.before.is_none());
    if went.is_empty() || came.is_empty() || came.len() > MAX_MOVES || went.len() > MAX_MOVES {
        return;
    }
    let mut pairs = Vec::new();
    for old in &went {
        for new in &came {
            let alike = alike(&files[*old], &files[*new]);
            if alike >= 50 {
                pairs.push((std::cmp::Reverse(alike), *old, *new));
            }
        }
    }
    pairs.sort();
    let mut gone: BTreeSet<usize> = BTreeSet::new();
    for (_, old, new) in pairs {
        if gone.contains(&old) || files[new].before.is_some() {
            continue;
        }
        files[new].before = files[old].before.take();
        gone.insert(old);
    }
    files.retain(|file| file.before.is_some() || file.after.is_some());
}

fn at(files: &[FileDifference], of: impl Fn(&FileDifference) -> bool) -> Vec<usize> {
    let all = files.iter().enumerate();
    all.filter(|(_, file)| of(file)).map(|(at, _)| at).collect()
}

// Per cent of the lines that both have.
fn alike(went: &FileDifference, came: &FileDifference) -> usize {
    let (Some((_, old)), Some((_, new))) = (&went.before, &came.after) else {
        return 0;
    };
    if old.bytes == new.bytes {
        return if old.bytes.is_empty() { 0 } else { 101 };
    }
    let count = |state: &FileState| state.bytes.split_inclusive(|it| *it == b'\n').count();
    let (a, b) = (count(old), count(new));
    if !is_lines(old) || !is_lines(new) || a.min(b) * 2 < a.max(b) {
        return 0;
    }
    let changed = changed_lines(&old.bytes, &new.bytes);
    let kept = a - changed.iter().map(|(gone, _)| gone.len()).sum::<usize>();
    kept * 100 / a.max(b).max(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Difference, What};
    use crate::source::Memory;

    fn texts(difference: &Difference, set: &[usize]) -> Vec<(String, Option<String>)> {
        let states = difference.taken_back(&set.iter().copied().collect::<BTreeSet<_>>());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let rows = states.into_iter();
        rows.map(|(path, state)| (path.to_string(), state.map(|it| text(&it.bytes))))
            .collect()
    }

    fn row(path: &str, text: Option<&str>) -> (String, Option<String>) {
        (path.to_owned(), text.map(str::to_owned))
    }

    #[test]
    fn lines_that_are_alike_are_parts_of_their_own() {
        let before = Memory::named([(
            "a.py",
            "try:\n    f()\nexcept E:\n    if a not in b:\n        g()\n",
        )]);
        let after = Memory::named([(
            "a.py",
            "try:\n    f()\nexcept E as e:\n    # tested\n    if a in b:\n        g()\n",
        )]);
        let difference = Difference::between(&before, &after, &|_| true);
        assert_eq!(difference.hunks().len(), 1);
        let finer = difference.finer(&BTreeSet::from([0])).unwrap();
        let diffs = finer.hunks().iter().map(|it| finer.diff(it, 9));
        let expected = [
            "-except E:\n+except E as e:\n",
            "+    # tested\n",
            "-    if a not in b:\n+    if a in b:\n",
        ];
        assert_eq!(diffs.collect::<Vec<_>>(), expected);
        let states = finer.taken_back(&BTreeSet::from([2]));
        let (_, state) = states.into_iter().next().unwrap();
        let text = String::from_utf8(state.unwrap().bytes.to_vec()).unwrap();
        assert!(text.contains("# tested\n    if a not in b:"), "{text}");
    }

    #[test]
    fn hunks_are_taken_back_one_by_one() {
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
    fn a_hunk_is_cut_to_lines() {
        let before = Memory::named([("a.py", "1\n2\n3\n4\n")]);
        let after = Memory::named([("a.py", "1\nII\nIII\n4\n5\n")]);
        let difference = || Difference::between(&before, &after, &|_| true);
        assert_eq!(difference().hunks().len(), 2);
        let finer = difference().finer(&BTreeSet::from([0])).unwrap();
        assert_eq!(texts(&finer, &[1]), [row("a.py", Some("1\nII\n3\n4\n5\n"))]);
        assert!(difference().finer(&BTreeSet::from([1])).is_none());
    }

    #[test]
    fn a_move_and_what_changed_in_it_are_apart() {
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
    fn files_without_lines_are_taken_back_whole() {
        let before = Memory::named([("a.bin", "\0\n1")]);
        let after = Memory::named([("a.bin", "\0\n2")]);
        let difference = Difference::between(&before, &after, &|_| true);
        assert_eq!(difference.hunks()[0].what, What::File);
        assert_eq!(texts(&difference, &[0]), [row("a.bin", Some("\0\n1"))]);
    }
}
